#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs inside the guest: the whole stack through the module, as a user would meet it.
# Prints one "ok - name" or "not ok - name" line for each case.
# Environment: KERNEL_SERIES (6.1, 6.12 or debug), DEVICES (how many), RESTARTS, RELOADS, SLACK_KIB (how
# much the kernel's memory may grow over the reloads; KASAN keeps freed memory for a while).

: "${DEVICES:=2}" "${RESTARTS:=200}" "${RELOADS:=50}" "${DEMO_STEPS:=12}" "${SLACK_KIB:=2048}"
MODULE=$(find /lib/modules -name trainium.ko)
failed=0
out=/tmp/out
err=/tmp/err

ok() {
	echo "ok - $1"
}

not_ok() {
	echo "not ok - $1"
	shift
	for line in "$@"; do
		echo "  $line"
	done
	failed=1
}

# expect NAME STATUS PATTERN COMMAND...
expect() {
	name=$1 want=$2 pattern=$3
	shift 3
	timeout 300 "$@" >$out 2>$err </dev/null
	status=$?
	if [ $status -ne "$want" ]; then
		not_ok "$name" "exit status $status, expected $want" "$(tail -n 5 $out $err)"
	elif ! grep -qE -- "$pattern" $out $err; then
		not_ok "$name" "output does not match: $pattern" "$(tail -n 5 $out $err)"
	else
		ok "$name"
	fi
}

equal() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "expected: $2" "got: $3"
	fi
}

# sum KEY - over all devices.
sum() {
	trn ls --json | awk -F'[:,]' -v key="\"$1\"" 'index($1, key) { s += $2 } END { printf "%.0f\n", s }'
}

free_hbm() {
	sum hbm_free_bytes
}

# A closed file's cores are reset behind its back; whoever asks for one waits, a listing does not.
settled_cores() {
	n=0
	while [ $n -lt 40 ] && [ "$(free_cores)" != "$total_cores" ]; do
		sleep 0.5
		n=$((n + 1))
	done
	free_cores
}

free_cores() {
	sum cores_free
}

log_is_clean() {
	dmesg | grep -E 'WARNING:|BUG:|Oops|Call Trace|refcount_t:|blocked for more than|DMA-API: [^ ]+ [0-9a-f]+:|scheduling while' >/tmp/bad_log
	if [ -s /tmp/bad_log ]; then
		not_ok "$1" "$(head -n 5 /tmp/bad_log)"
	else
		ok "$1"
	fi
}

basics() {
	expect "module is loaded" 0 '^trainium ' cat /proc/modules
	if [ "$KERNEL_SERIES" = 6.1 ]; then
		node=/dev/dri/renderD128
	else
		node=/dev/accel/accel0
	fi
	expect "the device node is a character device" 0 "$node" sh -c "test -c $node && echo $node"
	expect "trn ls names the node" 0 "$node" trn ls
	expect "trn ls names the PCI address" 0 '0000:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9]' trn ls
	expect "trn ls shows free memory" 0 'GiB' trn ls
	expect "trn ls --json lists every device" 0 "$DEVICES" sh -c 'trn ls --json | grep -c \"node\"'
	expect "trn info" 0 'Trainium1' trn info
	expect "trn doctor is content" 0 'ok' trn doctor
	expect "trn test passes" 0 'test: ok' trn test
	expect "trn test passes on the second device" 0 'test: ok' trn --device trn1 test
	expect "an unknown device is an error" 1 'trn9' trn --device trn9 info
}

uapi() {
	for test in /trainium/build/tests/vm/test_*; do
		[ -x "$test" ] || continue
		timeout 600 "$test" >$out 2>&1 </dev/null
		status=$?
		sed -n -E 's/^(ok|not ok|skip)( [0-9]+)? - /\1 - /p' $out
		grep -qE '^not ok' $out && failed=1
		if [ $status -ne 0 ] && ! grep -qE '^not ok' $out; then
			not_ok "${test##*/}" "exit status $status" "$(tail -n 8 $out)"
		fi
	done
}

demo() {
	expect "demo trains through the module" 0 'demo: ok' \
		trn-demo --steps "$DEMO_STEPS" --verify-steps 2 --text /usr/share/common-licenses/GPL-3
	expect "demo on two devices" 0 'demo: ok' \
		trn-demo --steps "$DEMO_STEPS" --verify-steps 1 --ranks 2 --text /usr/share/common-licenses/GPL-3
	trn-demo --steps 100000 --verify-steps 1 --text /usr/share/common-licenses/GPL-3 >/dev/null 2>&1 &
	first=$!
	sleep 2
	expect "another process works beside a running one" 0 'demo: ok' \
		trn-demo --steps 5 --verify-steps 1 --text /usr/share/common-licenses/GPL-3
	expect "the busy core's holder is named" 0 'trn-demo' trn info
	kill -9 $first
	wait $first 2>/dev/null
	expect "the next process can use the device at once" 0 'test: ok' trn test
	equal "a killed process gives its core back" "$total_cores" "$(settled_cores)"
}

restarts() {
	before=$(free_hbm)
	n=0
	while [ $n -lt "$RESTARTS" ]; do
		trn-demo --steps 100000 --verify-steps 1 --text /usr/share/common-licenses/GPL-3 >/dev/null 2>&1 &
		pid=$!
		# A spread of moments from start-up to steady training, in 10 ms steps; the shell has no finer clock.
		usleep $(((n * 37 % 60) * 10000))
		kill -9 $pid
		wait $pid 2>/dev/null
		n=$((n + 1))
	done
	expect "$RESTARTS kills: the device works" 0 'test: ok' trn test
	equal "$RESTARTS kills: cores are free" "$total_cores" "$(settled_cores)"
	equal "$RESTARTS kills: free memory is what it was" "$before" "$(free_hbm)"
}

reloads() {
	slab_before=$(awk '/^(SUnreclaim|VmallocUsed):/ { s += $2 } END { print s }' /proc/meminfo)
	n=0
	while [ $n -lt "$RELOADS" ]; do
		rmmod trainium || break
		insmod "$MODULE" || break
		n=$((n + 1))
		# The first rounds fill caches that stay; compare from there.
		[ $n -ne 10 ] || slab_before=$(awk '/^(SUnreclaim|VmallocUsed):/ { s += $2 } END { print s }' /proc/meminfo)
	done
	slab_after=$(awk '/^(SUnreclaim|VmallocUsed):/ { s += $2 } END { print s }' /proc/meminfo)
	equal "$RELOADS times unloaded and loaded" "$RELOADS" "$n"
	if [ $((slab_after - slab_before)) -lt "$SLACK_KIB" ]; then
		ok "$RELOADS reloads leak no kernel memory"
	else
		not_ok "$RELOADS reloads leak no kernel memory" "$slab_before KiB before, $slab_after KiB after"
	fi
	expect "the device works after the last load" 0 'test: ok' trn test
}

total_cores=$(sum cores_total)
basics
uapi
demo
restarts
reloads
log_is_clean "the kernel log holds no warning"
exit $failed
