#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# SIGKILL at random moments: whatever a killed process held is free for the next one, and nothing is left behind.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export TRN_DEVICE=emu:trn1
RESTARTS=${RESTARTS:-200}
SEED=${SEED:-$$}
RANDOM=$SEED
echo "seed $SEED, $RESTARTS restarts"

free_of() {
	"$TRN" ls --json | python3 -c '
import json, sys
d = json.load(sys.stdin)["devices"][0]
print(d["hbm_free_bytes"], d["cores_free"])'
}

before=$(free_of)
shm_before=$(ls /dev/shm | wc -l)
for ((i = 0; i < RESTARTS; i++)); do
	"$DEMO" --steps 100000 --no-plot >/dev/null 2>&1 &
	pid=$!
	sleep "0.$(printf '%03d' $((RANDOM % 250)))"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
done
after=$(free_of)
if [ "$before" = "$after" ]; then
	ok "$RESTARTS kills: free memory and cores are what they were"
else
	not_ok "$RESTARTS kills: free memory and cores are what they were" "before: $before" "after: $after"
fi
if [ "$(ls /dev/shm | wc -l)" -eq "$shm_before" ]; then
	ok "$RESTARTS kills leave nothing in shared memory"
else
	not_ok "$RESTARTS kills leave nothing in shared memory" "$(ls /dev/shm)"
fi
run "the next process works" 0 'test: ok' "$TRN" test

# A killed rank must end the others, with its name, and leave no process.
"$DEMO" --ranks 2 --steps 100000 --no-plot >"$WORK/ranks" 2>&1 &
parent=$!
sleep 3
child=$(pgrep -P "$parent" | tail -n 1)
if [ -z "$child" ]; then
	not_ok "two ranks are running" "$(tail -n 3 "$WORK/ranks")"
	kill -9 "$parent" 2>/dev/null
else
	if [ "$(cat "/proc/$child/comm")" = trn-demo ]; then
		ok "a rank has a name that tells what it is"
	else
		not_ok "a rank has a name that tells what it is" "$(cat "/proc/$child/comm")"
	fi
	kill -9 "$child"
	status=0
	timeout 20 tail --pid="$parent" -f /dev/null || status=124
	wait "$parent"
	exit_status=$?
	if [ $status -eq 0 ] && [ $exit_status -eq 1 ] && grep -qi 'rank' "$WORK/ranks"; then
		ok "a killed rank ends the run with a sentence and status 1"
	else
		not_ok "a killed rank ends the run with a sentence and status 1" "wait $status, exit $exit_status" \
			"$(tail -n 3 "$WORK/ranks")"
		kill -9 "$parent" 2>/dev/null
	fi
	if [ -z "$(pgrep -f -- '--steps 100000')" ]; then
		ok "no rank is left behind"
	else
		not_ok "no rank is left behind" "$(pgrep -af -- '--steps 100000')"
	fi
fi
finish
