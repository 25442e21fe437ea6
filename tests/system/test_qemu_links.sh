#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Links between devices of two QEMU processes, driven by registers alone: two nodes of an UltraServer read each other's serial
# number and write each other's memory; a node that ends and starts again.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

qemu_need
BAR0=$((0x1000000000)) BAR2=$((0x2000000000)) BAR4=$((0x3000000000))
RAM=$((0x1000000))                # a page of the guest
HOST=$((0x400000000000 + RAM))    # as the device sees it
RING=$((0x1000000))               # in HBM: M2S, then S2M
UDMA=$((0x94400000))              # engine 36, whose link is 1
WINDOW=$((0x0014000000000000))
declare -A IN OUT PID

# start NODE - a machine with device 0 of the node; its qtest socket is its stdin and stdout.
start() {
	local node=$1 in out

	rm -f "$WORK/in$node" "$WORK/out$node"
	mkfifo "$WORK/in$node" "$WORK/out$node"
	"$QEMU" -L "${QEMU%/*}/share" -machine q35 -accel qtest -m 64 -nodefaults -display none -qtest stdio \
		-qtest-log none -device "trainium,addr=4,arch=trn2,hbm-size=64M,nodes=2,node=$node,link-dir=$WORK/pod" \
		<"$WORK/in$node" >"$WORK/out$node" 2>"$WORK/err$node" &
	PID[$node]=$!
	exec {in}>"$WORK/in$node" {out}<"$WORK/out$node"
	IN[$node]=$in OUT[$node]=$out
	bars "$node"
}

# stop NODE [SIGNAL]
stop() {
	local in=${IN[$1]} out=${OUT[$1]}

	kill "-${2:-TERM}" "${PID[$1]}"
	wait "${PID[$1]}" 2>/dev/null
	exec {in}>&- {out}<&-
}

# ask NODE LINE - the answer is in ANSWER.
ask() {
	ANSWER=
	printf '%s\n' "$2" >&"${IN[$1]}"
	IFS= read -r -t 20 ANSWER <&"${OUT[$1]}" || {
		not_ok "QEMU answers" "node $1: $2" "$(tail -n 3 "$WORK/err$1")"
		exit 1
	}
	[[ $ANSWER == OK* ]] || not_ok "QEMU understands" "$2: $ANSWER"
	ANSWER=${ANSWER#OK}
	ANSWER=$((ANSWER))
}

# get|put NODE ADDRESS [VALUE] - 32 bits; put8: 64 bits.
get() { ask "$1" "$(printf 'readl 0x%x' "$2")"; }
put() { ask "$1" "$(printf 'writel 0x%x 0x%x' "$2" "$3")"; }
put8() { ask "$1" "$(printf 'writeq 0x%x 0x%x' "$2" "$3")"; }

config() {
	ask "$1" "$(printf 'outl 0xcf8 0x%x' $((0x80002000 + $2)))"
	ask "$1" "$(printf 'outl 0xcfc 0x%x' "$3")"
}

bars() {
	config "$1" $((0x10)) 0
	config "$1" $((0x14)) $((BAR0 >> 32))
	config "$1" $((0x18)) 0
	config "$1" $((0x1c)) $((BAR2 >> 32))
	config "$1" $((0x20)) 0
	config "$1" $((0x24)) $((BAR4 >> 32))
	config "$1" 4 6
}

# state NODE LINK VALUE - the link comes to have that state.
state() {
	local i

	for ((i = 0; i < 200; i++)); do
		get "$1" $((BAR2 + 0x1040 + 0x40 * $2))
		[[ $ANSWER -ne $3 ]] || return 0
		sleep 0.05
	done
	return 1
}

queue_open() {
	local dir half base

	for dir in 0 1; do
		half=$((BAR0 + UDMA + dir * 0x20000 + 0x1000)) base=$((RING + dir * 0x400))
		put "$1" $((half + 0x20)) $((0x03000000))
		put "$1" $((half + (dir ? 0x64 : 0xb0))) $((0x100))
		put "$1" $((half + 0x28)) $base
		put "$1" $((half + 0x2c)) 0
		put "$1" $((half + 0x30)) 64
		put "$1" $((half + 0x20)) $((0x03030000))
	done
	NEXT=0
}

# copy NODE DESTINATION SOURCE BYTES - a descriptor pair with a write barrier.
copy() {
	local at=$((BAR4 + RING + NEXT * 16))

	put "$1" $at $((0x0d000000 | $4))
	put "$1" $((at + 4)) $((0x05080003))
	put8 "$1" $((at + 8)) "$3"
	put "$1" $((at + 0x400)) $((0x01000000 | $4))
	put "$1" $((at + 0x404)) 0
	put8 "$1" $((at + 0x408)) "$2"
	put "$1" $((BAR0 + UDMA + 0x21038)) 1
	put "$1" $((BAR0 + UDMA + 0x1038)) 1
	NEXT=$((NEXT + 1))
}

# wait_for NODE ADDRESS VALUE
wait_for() {
	local i

	for ((i = 0; i < 200; i++)); do
		get "$1" "$2"
		[[ $ANSWER -ne $3 ]] || return 0
		sleep 0.05
	done
	return 1
}

check() {
	local name=$1
	shift
	if "$@"; then
		ok "$name"
	else
		not_ok "$name" "$*: reads $(printf '0x%x' "$ANSWER")"
	fi
}

trap 'kill ${PID[*]} 2>/dev/null; rm -rf "$WORK"' EXIT
mkdir "$WORK/pod"
start 0
check "alone, a link is unconnected" state 0 1 0
start 1
for link in 0 1 2 3; do
	check "link $link comes up" state 0 $link 2
done
get 0 $((BAR2 + 0x1044))
check "its neighbour is device 0 of node 1" test "$ANSWER" -eq $((0x80000100))

queue_open 0
put 0 $RAM 1
copy 0 $((HOST + 8)) $((WINDOW + 0x8006c84038)) 8
copy 0 $((HOST + 4)) $HOST 4
check "the neighbour's MISC RAM is read" wait_for 0 $((RAM + 4)) 1
get 0 $((RAM + 8))
check "it holds the serial number of node 1" test "$ANSWER" -eq $((0x10000040))

put 0 $((RAM + 16)) $((0x5a5a1234))
copy 0 $((WINDOW + 0x2000000)) $((HOST + 16)) 4
check "the neighbour's HBM is written" wait_for 1 $((BAR4 + 0x2000000)) $((0x5a5a1234))

stop 1 KILL
check "a process that is killed: down" state 0 1 1
copy 0 $((WINDOW + 0x2000004)) $((HOST + 16)) 4
start 1
check "its successor: up" state 0 1 2
check "it gets what waited" wait_for 1 $((BAR4 + 0x2000004)) $((0x5a5a1234))

run "the place of a running device is taken" 1 'node 1 in link-dir' "$QEMU" -L "${QEMU%/*}/share" -machine q35 -accel qtest \
	-nodefaults -display none -device "trainium,arch=trn2,hbm-size=64M,nodes=2,node=1,link-dir=$WORK/pod"
stop 0
stop 1
finish
