#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The CI example for other projects: each command of the workflow, from a project that has the stack in a folder.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

workflow=Documentation/examples/ci/workflow.yml
mkdir -p "$WORK/project" && ln -s "$ROOT" "$WORK/project/trainium"
mapfile -t commands < <(sed -nE 's/^ +run: //p' "$workflow")
[ ${#commands[@]} -eq 5 ] && ok "the workflow has its five steps" || not_ok "the workflow has its five steps" "${commands[@]}"

# step NAME STATUS PATTERN STEP - runs the command of the workflow that ends with STEP, with its environment.
step() {
	local name=$1 status=$2 pattern=$3 step=$4 command found=
	for command in "${commands[@]}"; do
		[ "${command##* }" = "$step" ] && found=$command
	done
	if [ -z "$found" ]; then
		not_ok "$name" "the workflow has no step $step"
		return
	fi
	run "$name" "$status" "$pattern" env -C "$WORK/project" -u LD_LIBRARY_PATH -u MAKEFLAGS -u MFLAGS -u MAKELEVEL STACK=trainium WORK=trainium-ci \
		"${@:5}" sh -c "$found"
}

step "packages are there" 0 '' deps
step "the stack builds and installs" 0 '' build
step "the program runs on each product" 0 '42 came back' program
[ "$(grep -c '42 came back' "$WORK/out")" = 3 ] && ok "three products" || not_ok "three products" "$(cat "$WORK/out")"
step "the driver survives the fault" 0 'ready after 2 doorbells' driver
step "the guest's command line is right" 0 'device trainium.*irq-lost=1' guest VM_OPTIONS=--dry-run
run "a step nobody knows" 2 'no step named tests; there are deps build program driver guest' \
	env STACK="$ROOT" WORK="$WORK/x" Documentation/examples/ci/ci.sh tests
# The page shows the files that were run.
for file in ci.sh workflow.yml driver_test.c; do
	grep -q "examples/ci/$file" Documentation/ci.md && ok "the page names $file" || not_ok "the page names $file"
done
finish
