# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# How QEMU is configured and where the device goes into its tree. The base
# build is keyed by this file's hash: any change here builds QEMU anew, so keep
# everything else out of it.

# shellcheck disable=SC2034 # used by scripts/qemu-build
QEMU_SERIES=7.2

# shellcheck disable=SC2034
QEMU_CONFIGURE=(
	--target-list=x86_64-softmmu --without-default-features --without-default-devices
	--with-devices-x86_64=trainium --enable-system --enable-tcg --disable-kvm --disable-user
	--enable-fdt=system --disable-docs --disable-tools --disable-werror --disable-debug-info
)

# The guest has a serial console and virtio channels, nothing else; see vm.md.
qemu_devices_config() {
	printf 'CONFIG_%s=y\n' Q35 SERIAL_ISA VIRTIO_PCI VIRTIO_SERIAL VIRTIO_RNG PCIE_PORT \
		PVPANIC_ISA TRAINIUM
}

# Adds a hw/misc/trainium of no sources to the tree at $1; they come later.
qemu_tree_prepare() {
	local tree=$1 dev=$1/hw/misc/trainium

	qemu_devices_config >"$tree/configs/devices/x86_64-softmmu/trainium.mak"
	mkdir -p "$dev"
	printf 'config TRAINIUM\n    bool\n    depends on PCI && MSI_NONBROKEN\n' >"$dev/Kconfig"
	printf '# no device sources yet\n' >"$dev/meson.build"
	printf '\nsource trainium/Kconfig\n' >>"$tree/hw/misc/Kconfig"
	printf "\nsubdir('trainium')\n" >>"$tree/hw/misc/meson.build"
}
