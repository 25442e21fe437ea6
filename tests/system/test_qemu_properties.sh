#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# QEMU's device before any guest runs: properties that are out of range, contradictory or unknown, machines that do not
# fit, what cannot be saved; and what a person sees of the device from outside.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

qemu_need
MACHINE=("$QEMU" -L "${QEMU%/*}/share" -machine q35 -accel qtest -nodefaults -display none -S)
export CASE_TIMEOUT=20

# refused NAME PATTERN ARGUMENT... - QEMU does not start, and says why.
refused() {
	local name=$1 pattern=$2
	shift 2
	run "$name" 1 "$pattern" "${MACHINE[@]}" "$@"
}

# monitor NAME PATTERN COMMANDS ARGUMENT... - QEMU starts; the answers to the lines of COMMANDS must match.
monitor() {
	local name=$1 pattern=$2 commands=$3
	shift 3
	printf '%b\nquit\n' "$commands" >"$WORK/commands"
	run "$name" 0 "$pattern" sh -c 'cat "$0" | "$@"' "$WORK/commands" "${MACHINE[@]}" -monitor stdio "$@"
}

one=(-device "trainium,id=trn0,hbm-size=64M")

refused "an unknown product" 'arch=gpu is unknown; known are trn1 inf2 trn2' -device trainium,arch=gpu
refused "an unknown property" "trainium\.no-such' not found" -device trainium,no-such=1
refused "a routing id beyond the last" 'routing-id=64 is out of range; must be 0 to 63' -device trainium,routing-id=64
refused "a negative routing id" "'routing-id' expects uint32" -device trainium,routing-id=-1
refused "two devices with one routing id" "routing-id=5 belongs to device 'first'; give every device" \
	-device trainium,id=first,routing-id=5,hbm-size=64M -device trainium,routing-id=5,hbm-size=64M
refused "HBM of no power of two" 'hbm-size=100663296 is invalid; .* power of two' -device trainium,hbm-size=96M
refused "HBM too small" 'hbm-size=33554432 is invalid; .* 67108864' -device trainium,hbm-size=32M
refused "HBM larger than the real one" 'hbm-size=34359738368 is invalid; .* 17179869184' -device trainium,hbm-size=32G
refused "HBM beyond 64 bits" "'hbm-size' expects size" -device trainium,hbm-size=99999999T
refused "HBM larger than the 64-bit hole" 'hbm-size=0: with BAR4 of 256 GiB .* hole ends at 1024 GiB' \
	-device trainium,arch=trn2,routing-id=0 -device trainium,arch=trn2,routing-id=1 \
	-device trainium,arch=trn2,routing-id=2 -device trainium,arch=trn2,routing-id=3
if [[ $(ldd "$QEMU") == *libasan* ]]; then
	skip "HBM larger than the host gives" "AddressSanitizer itself takes more address space than the case allows"
else
	# shellcheck disable=SC2016 # for the inner shell
	run "HBM larger than the host gives" 1 'hbm-size=17179869184, 2 stacks.*Cannot allocate memory; take a smaller' \
		bash -c 'ulimit -v 12000000; exec "$@"' bash "${MACHINE[@]}" -device trainium
fi
refused "features nobody knows" 'disable-features=0x100 is invalid; known features are 0x' \
	-device trainium,disable-features=256
refused "a fault out of range" 'irq-lost=1000001 is refused; must be 0 to 1000000' -device trainium,irq-lost=1000001
refused "a fault that is no number" "'irq-lost' expects integer" -device trainium,irq-lost=often
refused "a DMA engine that is not there" 'engine-hang=35 is refused; must be 0, or 1 \+ a DMA engine of 0 to 33' \
	-device trainium,engine-hang=35
refused "a core engine that is not there" 'core-hang=5 is refused; must be .* engines 1, 2, 3, 5, 6, 7' \
	-device trainium,core-hang=5
refused "an ECC error outside HBM" 'ecc-correctable-at=.* is refused; must be 0, or 1 \+ a device address' \
	-device trainium,ecc-correctable-at=0x400000001,hbm-size=64M
refused "a fault of a feature left out" 'irq-lost=1 is refused; .*lacks feature 0x1' \
	-device trainium,irq-lost=1,disable-features=1
refused "a number of nodes there is not" 'nodes=3 is invalid; an UltraServer has 2 or 4 nodes' \
	-device trainium,arch=trn2,hbm-size=64M,nodes=3
refused "a node beyond the last" 'node=2 is out of range; must be 0 to 1 \(nodes=2\)' \
	-device trainium,arch=trn2,hbm-size=64M,nodes=2,node=2
refused "nodes of a product without pod links" 'nodes=2 is invalid; trn1 devices have no links to other nodes' \
	-device trainium,hbm-size=64M,nodes=2
refused "a folder that is not there" 'link-dir=.*: No such file or directory; the folder must exist' \
	-device trainium,arch=trn2,hbm-size=64M,nodes=2,link-dir="$WORK/nowhere"
refused "a trace without time mode" 'trace needs time mode: switch time-mode on' \
	-device trainium,hbm-size=64M,trace="$WORK/trace"
refused "the length of no trace" 'trace-events is the length of a trace: give trace=FILE' \
	-device trainium,hbm-size=64M,time-mode=on,trace-events=5
refused "a trace that is too long" 'trace-events=67108865 is too many; at most 67108864' \
	-device trainium,hbm-size=64M,time-mode=on,trace="$WORK/trace",trace-events=67108865
refused "a trace nobody can write" 'trace=.*/nowhere/trace cannot be created: No such file' \
	-device trainium,hbm-size=64M,time-mode=on,trace="$WORK/nowhere/trace"
refused "a switch that is neither on nor off" "'time-mode' expects 'on' or 'off'" -device trainium,time-mode=perhaps
refused "a counter cannot be set" "'trainium\.complaints' is not writable" -device trainium,complaints=1
refused "a machine without MSI-X" 'no MSI-X messages \(no APIC\).* disable-features=0x1' -cpu qemu64,-apic "${one[@]}"
refused "a bus of conventional PCI" "bus 'old' is conventional PCI.* q35" \
	-device pcie-pci-bridge,id=old -device trainium,bus=old,addr=1,hbm-size=64M
refused "a machine that must be migratable" "state of device 'trn0'.* cannot be migrated" -only-migratable "${one[@]}"

monitor "without MSI-X and without interrupts it starts" '0 interrupt vectors' 'info trainium' \
	-cpu qemu64,-apic -device trainium,hbm-size=64M,disable-features=1
monitor "a snapshot is refused" "state of device 'trn0'.*remove it first" 'savevm now' "${one[@]}"
monitor "a migration is refused" "state of device 'trn0'.*remove it first" 'migrate exec:cat>/dev/null' "${one[@]}"
monitor "faults at run time: refused out of range" 'irq-lost=2000000 is refused' \
	'qom-set /machine/peripheral/trn0 irq-lost 2000000' "${one[@]}"
monitor "faults at run time: set, read, shown" 'fault irq-lost: 3' \
	'qom-set /machine/peripheral/trn0 irq-lost 3\nqom-get /machine/peripheral/trn0 irq-lost\ninfo trainium trn0' "${one[@]}"
monitor "faults at the start are there" '^7' 'qom-get /machine/peripheral/trn0 fw-silent' \
	-device trainium,id=trn0,hbm-size=64M,fw-silent=7
monitor "info trainium shows products" 'other: trn2, routing id 9' 'info trainium' "${one[@]}" \
	-device trainium,id=other,arch=trn2,routing-id=9,hbm-size=64M
monitor "info trainium shows links" 'link 1: down, to routing id 0 of node 0, 0 errors' 'info trainium other' \
	-device trainium,id=trn0,hbm-size=64M,link-down=8 -device trainium,id=other,routing-id=2,hbm-size=64M
refused "a link that is not there" 'link-down=16 is refused; must be 0 to 15, a mask of the links 0 to 3' \
	-device trainium,hbm-size=64M,link-down=16
refused "more nodes than Trn1 has" 'nodes=2 is invalid; trn1 devices have no links to other nodes' \
	-device trainium,hbm-size=64M,nodes=2
refused "a node beyond the last" 'node=4 is out of range; must be 0 to 3' -device trainium,arch=trn2,hbm-size=64M,nodes=4,node=4
refused "a folder for links that is not there" 'link-dir=/nonexistent: No such file or directory; the folder must exist' \
	-device trainium,hbm-size=64M,link-dir=/nonexistent
monitor "info trainium names what it does not find" 'no trainium device with the id nobody' 'info trainium nobody' "${one[@]}"
monitor "info trainium without a device" 'there is no trainium device' 'info trainium'
monitor "a hot-plugged device with a routing id that is taken" "routing-id=0 belongs to device 'trn0'" \
	'device_add trainium,id=new,bus=rp0,hbm-size=64M' "${one[@]}" -device pcie-root-port,id=rp0
monitor "a hot-plugged device" 'new: trn1, routing id 3' \
	'device_add trainium,id=new,bus=rp0,routing-id=3,hbm-size=64M\ninfo trainium' "${one[@]}" \
	-device pcie-root-port,id=rp0
monitor "a removed device reads as gone" 'state: removed' \
	'qom-set /machine/peripheral/trn0 removal 1\ninfo trainium' "${one[@]}"
monitor "a device plugged in again is there" 'state: present' \
	'qom-set /machine/peripheral/trn0 removal 1\nqom-set /machine/peripheral/trn0 removal 0\ninfo trainium' "${one[@]}"

monitor "time mode starts" 'one: trn1' 'info trainium' \
	-device "trainium,id=one,hbm-size=64M,time-mode=on,trace=$WORK/trace"
run "the trace is written when QEMU ends" 0 '' python3 -m json.tool "$WORK/trace"

monitor "a trace is written at run time" '^\(qemu\)' 'qom-set /machine/peripheral/one trace-write true' \
	-device "trainium,id=one,hbm-size=64M,time-mode=on,trace=$WORK/early"
monitor "a trace there is none of is not written" 'trace-write needs a device with a trace' \
	'qom-set /machine/peripheral/trn0 trace-write true' "${one[@]}"

# What the model has, what QEMU offers and what the manual says are the same.
"${MACHINE[@]}" -device trainium,help >"$WORK/help"
python3 - "$WORK/help" >"$WORK/differences" <<'PY'
import re, sys
offered = dict(re.findall(r"^  ([a-z-]+)=<[^>]*> +- *(.*)$", open(sys.argv[1]).read(), re.M))
bare = re.findall(r"^  ([a-z-]+)=<[^>]*>$", open(sys.argv[1]).read(), re.M)
page = open("Documentation/device-model.md").read()

def manual(heading):
    part = re.search(rf"^## {heading}\n(.*?)^## ", page, re.M | re.S).group(1)
    rows = re.findall(r"^\| ((?:`[a-z-]+`(?:, )?)+) \|", part, re.M)
    return {name for row in rows for name in re.findall("`([a-z-]+)`", row)}

def model(file, pattern):
    return set(re.findall(pattern, open("tests/emulator/" + file).read()))

faults = model("fault.c", r'\] = \{\s*"([a-z-]+)"')
stats = model("stat.c", r'\] = \{\s*"([a-z-]+)"')
kinds = model("complaint.c", r'\] = "([a-z-]+)"') - {"none"}
for what, names, pages in (("fault", faults, manual("Faults on demand")), ("statistic", stats, manual("Watching it")),
                           ("mistake", kinds, manual("Mistakes of the guest"))):
    for name in sorted(names ^ pages):
        print(f"{what} {name} is only in the {'model' if name in names else 'manual'}")
for name in sorted(faults | {"stat-" + s for s in stats} | {"complaints-" + k for k in kinds}):
    if not offered.get(name):
        print(f"-device trainium,help does not describe {name}")
    elif name not in faults and not offered[name].startswith("read-only: "):
        print(f"-device trainium,help offers the counter {name} like an option")
known = manual("Properties")
for name in sorted(re.findall(r'DEFINE_PROP_[A-Z0-9]+\("([a-z-]+)"', open("tests/emulator/qemu/trainium.c").read())):
    if name not in known:
        print(f"property {name} is not in the manual")
    if not offered.get(name):
        print(f"-device trainium,help does not describe {name}")
PY
if [ -s "$WORK/differences" ] || [ ! -s "$WORK/help" ]; then
	not_ok "the model, -device trainium,help and the manual agree" "$(cat "$WORK/differences")"
else
	ok "the model, -device trainium,help and the manual agree"
fi
finish
