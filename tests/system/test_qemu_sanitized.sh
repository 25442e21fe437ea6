#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The suites of QEMU's device once more with the device under AddressSanitizer and UBSan: no wrong access, nothing undefined,
# no leak when QEMU ends.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

unset TRN_QEMU
qemu_need --sanitize
export TRN_QEMU=$QEMU
# Not 1, which is how QEMU ends when it refuses a device.
export ASAN_OPTIONS=exitcode=99
for suite in lifecycle links properties; do
	tests/system/test_qemu_$suite.sh || failures=$((failures + 1))
done
finish
