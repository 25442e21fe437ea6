#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# QEMU's device in each of its states under what a machine, an administrator and a hostile guest do to it.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

qemu_need
timeout --kill-after=5 550 python3 tests/system/qemu_lifecycle.py "$QEMU"
