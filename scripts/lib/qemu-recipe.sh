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

# The guest has a serial console and virtio channels, nothing else; see vm.md. VTD is the IOMMU that
# tests put in front of the device.
qemu_devices_config() {
	printf 'CONFIG_%s=y\n' Q35 SERIAL_ISA VIRTIO_PCI VIRTIO_SERIAL VIRTIO_RNG PCIE_PORT \
		PVPANIC_ISA VTD TRAINIUM
}

# The command is declared here and defined by the device, which registers it by this name; without
# the device the monitor says that it is not available.
qemu_monitor_commands() {
	cat <<-'HX'

	    {
	        .name       = "trainium",
	        .args_type  = "device:s?",
	        .params     = "[device]",
	        .help       = "show state, statistics and faults of trainium devices",
	    },

	SRST
	  ``info trainium`` [*device*]
	    Show state, statistics and active faults of all trainium devices, or of the one with this id.
	ERST
	HX
}

# Adds a hw/misc/trainium of no sources to the tree at $1; they come later.
qemu_tree_prepare() {
	local tree=$1 dev=$1/hw/misc/trainium

	qemu_devices_config >"$tree/configs/devices/x86_64-softmmu/trainium.mak"
	mkdir -p "$dev"
	printf 'config TRAINIUM\n    bool\n    depends on PCI && MSI_NONBROKEN\n' >"$dev/Kconfig"
	printf '# no device sources yet\n' >"$dev/meson.build"
	printf '# no device sources yet\n' >"$dev/trace-events"
	grep -q "^    'hw/misc',\$" "$tree/meson.build" ||
		die "meson.build of QEMU has no line for the trace events of hw/misc"
	sed -i "s|^    'hw/misc',\$|&\n    'hw/misc/trainium',|" "$tree/meson.build"
	qemu_monitor_commands >>"$tree/hmp-commands-info.hx"
	printf '\nsource trainium/Kconfig\n' >>"$tree/hw/misc/Kconfig"
	printf "\nsubdir('trainium')\n" >>"$tree/hw/misc/meson.build"
}
