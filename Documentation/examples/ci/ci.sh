#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tests a project on emulated Trainium devices; made to be copied into that project.
#
# Usage: ci.sh STEP…      in this order: deps build program driver guest
#
#   deps      install what the stack needs from Debian's packages (root)
#   build     build and install the stack under $WORK
#   program   build $PROGRAM against libtrn, run it on each product in process
#   driver    build $DRIVER_TEST against the device model, run it
#   guest     run $PROGRAM in a virtual machine, through the kernel module, with
#             a device that loses its first interrupt
#
# STACK is a checkout of the stack, WORK a folder for what is made (kept between
# runs it saves minutes), PROGRAM and DRIVER_TEST are the project's C files.
set -euo pipefail

: "${STACK:?set it to a checkout of the stack}"
WORK=${WORK:-$PWD/trainium-ci}
PROGRAM=${PROGRAM:-$STACK/Documentation/examples/round_trip.c}
DRIVER_TEST=${DRIVER_TEST:-$STACK/Documentation/examples/ci/driver_test.c}
PRODUCTS=${PRODUCTS:-trn1 inf2 trn2}
STACK=$(cd "$STACK" && pwd)
mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)

step_deps() {
	"$STACK/scripts/deps" build check vm
}

step_build() {
	make -C "$STACK" -j"$(nproc)" --no-print-directory all
	make -C "$STACK" --no-print-directory install DESTDIR="$WORK/root" PREFIX=/usr
}

program_build() {
	local -a flags

	read -r -a flags < <(PKG_CONFIG_PATH=$WORK/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$WORK/root \
		pkg-config --cflags --libs trn)
	gcc -Wall -Wextra -O2 -o "$WORK/program" "$PROGRAM" "${flags[@]}"
}

step_program() {
	local product

	program_build
	for product in $PRODUCTS; do
		echo "program on $product"
		LD_LIBRARY_PATH=$WORK/root/usr/lib TRN_DEVICE=emu:$product "$WORK/program"
	done
}

step_driver() {
	gcc -Wall -Wextra -O2 -I"$STACK" -I"$STACK/include" -o "$WORK/driver_test" "$DRIVER_TEST" \
		"$STACK/build/lib/libtrn-emulator.a" -lpthread -lm
	echo "driver test"
	"$WORK/driver_test"
}

# The guest has the stack's library; the status is the program's, or 119 when the device counted
# mistakes of the kernel module. VM_OPTIONS=--dry-run shows the machine without starting it.
step_guest() {
	program_build
	# shellcheck disable=SC2086 # options are words
	"$STACK/scripts/vm" ${VM_OPTIONS:-} --device-prop irq-lost=1 --timeout 300 \
		--file "$WORK/program:/trainium/program" -- /trainium/program
}

[[ $# -gt 0 ]] || set -- program driver
for step in "$@"; do
	if ! declare -F "step_$step" >/dev/null; then
		echo "ci.sh: no step named $step; there are deps build program driver guest" >&2
		exit 2
	fi
	"step_$step"
done
