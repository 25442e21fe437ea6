# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Asks QEMU, when the guest is done and before QEMU ends, what the devices have
# to complain about. QEMU pauses at shutdown instead of ending; the watcher
# talks QMP over a pair of FIFOs and then lets it quit.

# shellcheck disable=SC2034 # used by scripts/vm
VM_WATCH_ARGS=()

# Makes the FIFOs qmp.in and qmp.out in $1 and sets the words for QEMU.
watch_prepare() {
	mkfifo "$1/qmp.in" "$1/qmp.out"
	# shellcheck disable=SC2034
	VM_WATCH_ARGS=(-action "shutdown=pause" -chardev "pipe,id=watch,path=$1/qmp"
		-mon "chardev=watch,mode=control")
}

# Prints the value of property $2 of object $1; nothing if QEMU does not answer.
watch_get() {
	local line

	printf '{"execute":"qom-get","arguments":{"path":"%s","property":"%s"}}\n' "$1" "$2" >&"$WATCH_IN"
	while IFS= read -r -t 10 -u "$WATCH_OUT" line; do
		case $line in
		*'"return": '*)
			line=${line#*'"return": '}
			printf '%s' "${line%\}*}"
			return 0
			;;
		*'"error"'*) return 0 ;;
		esac
	done
}

# watch_run DIR DEVICES: waits for the guest's end, then writes one line for
# each device that complains to DIR/complaints. The script ends it after QEMU.
watch_run() {
	local dir=$1 devices=$2 line='' i count

	exec {WATCH_IN}<>"$dir/qmp.in" {WATCH_OUT}<>"$dir/qmp.out"
	printf '{"execute":"qmp_capabilities"}\n' >&"$WATCH_IN"
	# A FIFO open both ways has no end; so look whether the script is alive.
	until [[ $line == *'"event": "SHUTDOWN"'* ]]; do
		IFS= read -r -t 5 -u "$WATCH_OUT" line || kill -0 $$ 2>/dev/null || return 0
	done
	for ((i = 0; i < devices; i++)); do
		count=$(watch_get "/machine/peripheral/trainium$i" complaints)
		[[ ${count//[!0-9]/} -eq 0 ]] || printf 'device %d: %s guest mistakes, the last: %s\n' "$i" \
			"${count//[!0-9]/}" "$(watch_get "/machine/peripheral/trainium$i" complaint-text)"
	done >"$dir/complaints"
	printf '{"execute":"quit"}\n' >&"$WATCH_IN"
}
