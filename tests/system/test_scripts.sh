#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The scripts around the stack: help, wrong options, a user who is not root.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

run "make help names the targets" 0 'demo-vm' make help
run "scripts/vm --help" 0 '--devices' scripts/vm --help
run "scripts/vm refuses an unknown option" 2 'nosuch' scripts/vm --nosuch
run "scripts/vm refuses an unknown kernel" 2 '6\.13' scripts/vm --kernel 6.13 -- true
run "scripts/vm refuses zero devices" 2 'devices' scripts/vm --devices 0x -- true
# Which deaths of a guest are the emulator's, before any of ours runs: judged by the kernel's log.
# tripped NAME STATUS LINE...
tripped() {
	local name=$1 want=$2 status=0

	shift 2
	printf '%s\n' "$@" >"$WORK/log"
	bash -c ". <(sed -n '/^boot_tripped()/,/^}/p' scripts/vm); boot_tripped '$WORK/log'" || status=$?
	[ $status -eq "$want" ] && ok "$name" || not_ok "$name" "status $status, expected $want"
}
trip='[    1.661698] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI' init='[    2.409202] Run /init as init process'
tripped "a kernel that trips before init is booted again" 0 "$trip"
tripped "one that trips later is a fault" 1 "$init" "$trip"
tripped "one that dies of something else is a fault" 1 '[    1.6] Oops: general protection fault: 0000 [#1]'
run "scripts/deps --help" 0 'deps' scripts/deps --help
run "scripts/deps refuses an unknown group" 2 'nosuch' scripts/deps nosuch
run "scripts/deps does nothing when all is there" 0 '^$' sh -c 'scripts/deps build demo check vm; echo'
cases=$(scripts/lint spdx length functions columns words layers shell opcodes 2>&1)
grep -E '^(ok|not ok|skip) - ' <<<"$cases"
grep -E '^    ' <<<"$cases"
if grep -q '^not ok' <<<"$cases"; then
	exit 1
fi
finish
