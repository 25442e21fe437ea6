#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The demo as a user runs it: good texts, two ranks, and every text that cannot work.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

export TRN_DEVICE=emu:trn1
run "trains on the default text" 0 '^demo: ok$' "$DEMO"
cp "$WORK/out" "$WORK/default"
if [ "$(tail -n 1 "$WORK/default")" = "demo: ok" ]; then
	ok "demo: ok is the last line"
else
	not_ok "demo: ok is the last line" "$(tail -n 1 "$WORK/default")"
fi
for word in 'seed' 'samples/s' 'deviation' 'loss'; do
	if grep -q "$word" "$WORK/default"; then
		ok "the output speaks of $word"
	else
		not_ok "the output speaks of $word"
	fi
done
run "JSON output" 0 '.' "$DEMO" --json --no-plot
cp "$WORK/out" "$WORK/one.json"
if python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert 5.0 < d["loss_first"] < 6.0, d["loss_first"]
assert d["loss_final"] < 3.0, d["loss_final"]
assert 0 <= d["loss_deviation"] < 0.02, d["loss_deviation"]
' "$WORK/one.json" 2>"$WORK/why"; then
	ok "loss falls from about 5.5 below 3.0, deviation below 2 %"
else
	not_ok "loss falls from about 5.5 below 3.0, deviation below 2 %" "$(tail -n 1 "$WORK/why")"
fi
run "JSON output of two ranks" 0 '.' "$DEMO" --json --no-plot --ranks 2
cp "$WORK/out" "$WORK/two.json"
if python3 -c '
import json, sys
a, b = (json.load(open(f))["losses"] for f in sys.argv[1:3])
assert len(a) == len(b) and len(a) > 10, (len(a), len(b))
worst = max(abs(x - y) / x for x, y in zip(a, b))
assert worst < 1e-3, worst
' "$WORK/one.json" "$WORK/two.json" 2>"$WORK/why"; then
	ok "two ranks give the loss curve of one rank on the joined batch"
else
	not_ok "two ranks give the loss curve of one rank on the joined batch" "$(tail -n 1 "$WORK/why")"
fi
run "two ranks end with demo: ok" 0 '^demo: ok$' "$DEMO" --ranks 2
run "trains on the README" 0 '^demo: ok$' "$DEMO" --text "$ROOT/README.md"
head -c 20000 /bin/ls >"$WORK/binary"
run "a binary file is a text like any other" 0 '^demo: ok$|did not fall' "$DEMO" --text "$WORK/binary"

: >"$WORK/empty"
run "empty text" 1 'empty|0 bytes' "$DEMO" --text "$WORK/empty"
printf x >"$WORK/one"
run "text of 1 byte" 1 '1 byte' "$DEMO" --text "$WORK/one"
run "missing text" 1 'No such file' "$DEMO" --text "$WORK/missing"
run "a folder as text" 1 'directory' "$DEMO" --text "$WORK"
mkfifo "$WORK/pipe"
run "a pipe that nobody writes to" 1 'empty|0 bytes' "$DEMO" --text "$WORK/pipe"
run "a text from a pipe" 0 '^demo: ok$' bash -c '"$DEMO" --steps 2 --no-plot --text <(cat "$1")' - "$ROOT/README.md"
run "output to a full disk" 1 'No space left' bash -c '"$DEMO" --steps 5 >/dev/full'
run "output that is closed" 1 'Bad file descriptor' bash -c '"$DEMO" --steps 5 >&-'
run "output to a pipe that nobody reads ends the run" 1 'Broken pipe' \
	bash -c 'set -o pipefail; "$DEMO" --steps 1000000 | true'
run "two ranks with output to a full disk" 1 'No space left' \
	bash -c '"$DEMO" --ranks 2 --steps 5 >/dev/full'
run "two ranks with too few open files" 1 'ulimit -n' \
	bash -c 'ulimit -n 8; "$DEMO" --ranks 2 --steps 5 --no-plot'
run "no steps" 1 'step' "$DEMO" --steps 0
run "steps that are no number" 1 'step' "$DEMO" --steps many
run "no ranks" 1 'rank' "$DEMO" --ranks 0
run "unknown option" 1 'nosuch' "$DEMO" --nosuch
run "no device" 1 'TRN_DEVICE' env TRN_DEVICE=trn77 "$DEMO"
run "unknown product" 1 'trn9' env TRN_DEVICE=emu:trn9 "$DEMO"
finish
