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
