#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs inside the guest of tests/vm/machines: sixteen Trn2.
# Prints one "ok - name" or "not ok - name" line for each case; the rest is for the log.

failed=0

# expect NAME PATTERN COMMAND...
expect() {
	name=$1 pattern=$2
	shift 2
	timeout 120 "$@" >/tmp/out 2>&1 </dev/null
	status=$?
	if [ $status -eq 0 ] && grep -qE -- "$pattern" /tmp/out; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		echo "  status $status, wanted: $pattern"
		tail -n 5 /tmp/out
		failed=1
	fi
}

uapi() {
	for test in "$@"; do
		timeout 120 "/trainium/build/tests/vm/$test" >/tmp/out 2>&1 </dev/null
		status=$?
		sed -n -E 's/^(ok|not ok|skip)( [0-9]+)? - /\1 - /p' /tmp/out
		[ $status -eq 0 ] || failed=1
		if [ $status -ne 0 ] && ! grep -q '^not ok' /tmp/out; then
			echo "not ok - $test"
			echo "  status $status"
		fi
	done
}

# The time of /proc/uptime in hundredths of a second.
now() {
	tr -d . </proc/uptime | cut -d ' ' -f 1
}

expect "trn ls lists sixteen devices" '^16$' sh -c 'trn ls | grep -c "^trn[0-9]"'
expect "trn ls draws the torus" '^Torus of devices 0 to 15' trn ls
expect "each has four links" '^16$' sh -c 'trn ls --json | grep -c "\"from\""'
expect "trn info names the product and its memory" 'Trainium2.*generation 3' trn info
expect "trn doctor is content" 'doctor: ok' trn doctor
expect "copies, and programs on all eight cores" 'test: ok' trn --device trn3 test
expect "all eight cores were used" '^8$' sh -c 'trn --device trn3 info | grep -c "^  core [0-7] .* [1-9][0-9]* runs"'
uapi test_query test_ctx test_submit test_ring test_run
rmmod trainium
start=$(now)
expect "loads again" '^$' sh -c 'modprobe trainium; echo'
echo "  sixteen devices came up in $((($(now) - start) * 10)) ms"
expect "and finds all devices" '^16$' sh -c 'trn ls | grep -c "^trn[0-9]"'
expect "which work" 'demo: ok' env TRN_DEVICE=trn15 trn-demo --steps 5 --verify-steps 1 \
	--text /usr/share/common-licenses/GPL-3
exit $failed
