# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Line suites in bash: each case prints "ok - name" or "not ok - name" with what was seen.
set -uo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=${BUILD:-$ROOT/build}
export TRN=$BUILD/bin/trn
export DEMO=$BUILD/bin/trn-demo
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
failures=0

ok() {
	echo "ok - $1"
}

not_ok() {
	echo "not ok - $1"
	shift
	printf '  %s\n' "$@"
	failures=$((failures + 1))
}

skip() {
	echo "skip - $1: $2"
}

# run NAME STATUS PATTERN COMMAND... - the exit status must be STATUS and the joined output must match PATTERN (extended;
# empty: any output will do).
run() {
	local name=$1 want=$2 pattern=$3 status=0
	shift 3
	timeout --kill-after=5 "${CASE_TIMEOUT:-120}" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null || status=$?
	if [ "$status" -ne "$want" ]; then
		not_ok "$name" "exit status $status, expected $want" "$(tail -n 5 "$WORK/out" "$WORK/err")"
	elif [ -n "$pattern" ] && ! grep -qE -- "$pattern" "$WORK/out" "$WORK/err"; then
		not_ok "$name" "output does not match: $pattern" "$(tail -n 5 "$WORK/out" "$WORK/err")"
	else
		ok "$name"
	fi
}

# qemu_need OPTION... - QEMU: path of a QEMU with the device, made by scripts/qemu-build with these options; TRN_QEMU names
# another.
qemu_need() {
	QEMU=${TRN_QEMU:-$("$ROOT/scripts/qemu-build" "$@" 2>"$WORK/build")} && return
	not_ok "QEMU is built" "$(tail -n 5 "$WORK/build")"
	finish
}

finish() {
	[ $failures -eq 0 ]
	exit $?
}
