# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# How the device's sources are compiled into QEMU. A change here configures the
# tree again, which takes seconds, and does not build QEMU anew.

# The numeric contract of the model holds bit for bit: no contraction to FMA.
QEMU_MODEL_CFLAGS=(-O3 -g -Wextra -Wno-undef -Wno-nested-externs -fno-strict-aliasing -ffp-contract=off)

# Prints the meson.build of the device: the model as a library of its own with
# the flags it has in the rest of the project, the shell as part of QEMU.
# Arguments: sources relative to hw/misc/trainium.
qemu_device_meson() {
	local file flags
	local -a model=() shell=()

	for file in "$@"; do
		case $file in
		tests/emulator/qemu/*.c) shell+=("'$file'") ;;
		*.c) model+=("'$file'") ;;
		esac
	done
	flags=$(printf "'%s'," "${QEMU_MODEL_CFLAGS[@]}")
	local IFS=,
	cat <<-MESON
	trainium_inc = include_directories('include', 'tests/emulator')
	trainium_model = static_library('trainium-model', files(${model[*]}),
	  include_directories: trainium_inc, c_args: [$flags],
	  dependencies: [threads, cc.find_library('m')], build_by_default: false)
	softmmu_ss.add(when: 'CONFIG_TRAINIUM', if_true: [files(${shell[*]}),
	  declare_dependency(link_with: trainium_model, include_directories: trainium_inc,
	                     dependencies: [threads, cc.find_library('m')])])
	MESON
}
