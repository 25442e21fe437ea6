#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Examples in the documents compile and run, and links lead somewhere.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

export TRN_DEVICE=emu:trn1 LD_LIBRARY_PATH=$BUILD/lib
for example in Documentation/examples/*.c; do
	name=$(basename "$example" .c)
	run "$name compiles with one command" 0 '' gcc -Wall -Wextra -Werror -Iruntime/include -Iinclude -o "$WORK/$name" \
		"$example" -L"$BUILD/lib" -ltrn
	if [ -x "$WORK/$name" ]; then
		run "$name runs" 0 '.' "$WORK/$name"
	fi
done
run "vector_add prints the sum" 0 '^999 \+ 1998 = 2997$' "$WORK/vector_add"

# The example of time mode: the trace of vector_add, and the same again.
for pass in 1 2; do
	run "vector_add runs in time mode ($pass)" 0 '^999' \
		env TRN_DEVICE="emu:trn1,time=1,trace=$WORK/add$pass.json" "$WORK/vector_add"
done
python3 - "$WORK/add1.json" "$WORK/add2.json" <<'PY' && ok "its program takes the same each time" || not_ok "its program takes the same each time"
import json, sys
def slices(path):
    """What the core did from its beginning on; the host's copies before it come when the host sends them."""
    events = json.load(open(path))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    core = [e for e in events if e["ph"] == "X" and names[e["tid"]].startswith("core")]
    return [(e["name"], e["tid"], e["ts"] - core[0]["ts"], e["dur"]) for e in core]
one, two = (slices(path) for path in sys.argv[1:])
near = lambda a, b: a[:2] == b[:2] and all(abs(x - y) < 0.0015 for x, y in zip(a[2:], b[2:]))
sys.exit(0 if one and len(one) == len(two) and all(map(near, one, two)) else 1)
PY
run "its trace says who was busy" 0 '^core 0 vector +1 +0\.057 +0\.[0-9]$' Documentation/examples/trace_busy.py "$WORK/add1.json"

# The example in the README is the file that was compiled.
python3 - <<'PY' && ok "the README shows the compiled example" || not_ok "the README shows the compiled example"
import re, sys
readme = open("README.md").read()
code = open("Documentation/examples/vector_add.c").read()
body = code[code.index("int main"):]
blocks = re.findall(r"```c\n(.*?)```", readme, re.S)
sys.exit(0 if any(body.strip() in b for b in blocks) else 1)
PY

python3 - <<'PY' >"$WORK/links"
import os, re, subprocess
for page in subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True).stdout.split():
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", open(page).read()):
        if re.match(r"[a-z]+:", link):
            continue
        if not os.path.exists(os.path.join(os.path.dirname(page), link)):
            print(f"{page}: {link}")
PY
if [ -s "$WORK/links" ]; then
	not_ok "links in documents lead to files" "$(cat "$WORK/links")"
else
	ok "links in documents lead to files"
fi
run "the conformance table is that of the cases" 0 '' tests/conformance/table --check --binary "$BUILD/tests/conformance/conformance"
# What the check is for: a case nobody wrote into the table, a case of a section that does not exist, a row that lost its case.
listing() {
	printf '#!/bin/sh\n"%s/tests/conformance/conformance" --list%s\n' "$BUILD" "$1" >"$WORK/listing"
	chmod +x "$WORK/listing"
}
listing "; echo 'udma.md 2.3 a row of its own [trn1]'"
run "a stale conformance table is found" 1 'is stale' tests/conformance/table --check --binary "$WORK/listing"
listing "; echo 'udma.md 2.33 a row of its own [trn1]'"
run "a case of an unknown section is found" 1 'there is no section udma.md 2\.33' tests/conformance/table --check --binary "$WORK/listing"
listing " | grep -v '^udma.md 2.7'"
run "a section without a case is found" 1 'section udma.md 2\.7 .* has neither' tests/conformance/table --check --binary "$WORK/listing"
run "conformance refuses an unknown option" 2 'usage' "$BUILD/tests/conformance/conformance" --nosuch
run "conformance refuses an unknown product" 2 'trn9' "$BUILD/tests/conformance/conformance" --product trn9
run "conformance says that nothing is selected" 1 'nosuch' "$BUILD/tests/conformance/conformance" --only nosuch
run "man page is well formed" 0 '' sh -c 'out=$(man --warnings -E UTF-8 -l Documentation/man/trn.1 2>&1 >/dev/null); test -z "$out" || { echo "$out"; exit 1; }'
finish
