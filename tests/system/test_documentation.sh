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
run "man page is well formed" 0 '' sh -c 'out=$(man --warnings -E UTF-8 -l Documentation/man/trn.1 2>&1 >/dev/null); test -z "$out" || { echo "$out"; exit 1; }'
finish
