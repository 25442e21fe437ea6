#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Runs inside a guest with the debug kernel: the guest suite, then what the kernel's own checkers
# found. Prints one "ok - name" or "not ok - name" line for each case; what they wrote to the kernel
# log is judged outside.
kmemleak=/sys/kernel/debug/kmemleak
dma=/sys/kernel/debug/dma-api
failed=0

check() {
	name=$1
	shift
	if "$@"; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		failed=1
	fi
}

# An object counts when two scans found no pointer to it; young ones are passed over.
leaks_scan() {
	sleep 6
	echo scan >$kmemleak
	sleep 1
	echo scan >$kmemleak
}

no_leaks() {
	leaks_scan
	cat $kmemleak >/tmp/leaks
	[ -s /tmp/leaks ] || return 0
	sed 's/^/  /' /tmp/leaks | head -n 60
	echo clear >$kmemleak
	return 1
}

# The guest's start is not our subject.
leaks_scan
echo clear >$kmemleak
sh /suite.sh || failed=1
check "kmemleak finds nothing after the suite" no_leaks
check "the module unloads" rmmod trainium
check "kmemleak finds nothing after the module is gone" no_leaks
check "DMA-API debugging was on to the end" grep -q N $dma/disabled
check "DMA-API debugging counted no error" grep -qx 0 $dma/error_count
check "lockdep was on to the end" grep -qE 'debug_locks: *1' /proc/lockdep_stats
exit $failed
