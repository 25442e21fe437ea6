# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# A QEMU whose device is checked by AddressSanitizer and UBSan. Only the device is compiled with
# them, by the commands that its tree has for it; the rest of QEMU is linked as it was built.
# Memory that QEMU allocates or frees is watched all the same, and leaks are looked for at its end.

QEMU_SANITIZE_CFLAGS=(-fsanitize=address,undefined,bounds-strict -fno-sanitize-recover=all -fno-omit-frame-pointer)

# Makes $1/build/sanitized/qemu-system-x86_64 out of a compiled tree.
qemu_sanitize() (
	set -o pipefail
	PATH=/usr/bin:/bin
	cd "$1/build" && rm -rf sanitized && mkdir sanitized &&
		ninja -t commands qemu-system-x86_64 >sanitized/commands &&
		qemu_sanitize_compile && qemu_sanitize_link
)

qemu_sanitize_compile() {
	sed -nE "/ -c [^ ]*hw\/misc\/trainium\//{
		s| -o [^ ]*/([^/ ]+\.o) | -o sanitized/\1 |
		s| -M[FQ] [^ ]+||g
		s| -MD | |
		s| -c | -O1 ${QEMU_SANITIZE_CFLAGS[*]}&|
		p
	}" sanitized/commands | tr '\n' '\0' | nice -n 5 xargs -0 -r -P "$(nproc)" -n 1 sh -c
}

qemu_sanitize_link() {
	local link

	link=$(sed -nE "\${
		s| libcommon\.fa\.p/(hw_misc_trainium_[^ ]+)| sanitized/\1|g
		s| hw/misc/trainium/libtrainium-model\.a| sanitized/tests_emulator_*.o|
		s| -o qemu-system-x86_64 | ${QEMU_SANITIZE_CFLAGS[*]} -o sanitized/qemu-system-x86_64 |
		p
	}" sanitized/commands) && sh -c "$link"
}
