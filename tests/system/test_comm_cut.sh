#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two hosts as network name spaces: a communicator works between them, and when the cable is cut
# both ranks get an error that names the other within 10 s.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

A=trn-a-$$
B=trn-b-$$

cut_cleanup() {
	ip netns del $A 2>/dev/null
	ip netns del $B 2>/dev/null
	rm -rf "$WORK"
}
trap cut_cleanup EXIT

net_make() {
	ip netns add $A && ip netns add $B &&
		ip link add ta$$ netns $A type veth peer name tb$$ netns $B &&
		ip -n $A addr add 10.97.0.1/24 dev ta$$ && ip -n $B addr add 10.97.0.2/24 dev tb$$ &&
		ip -n $A link set lo up && ip -n $B link set lo up &&
		ip -n $A link set ta$$ up && ip -n $B link set tb$$ up
}

cat >"$WORK/rank.py" <<'PY'
import ctypes, sys, time

class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("root", ctypes.c_char_p),
                ("provider", ctypes.c_char_p), ("timeout_ns", ctypes.c_uint64)]

lib = ctypes.CDLL(sys.argv[1])
lib.trn_error_text.restype = ctypes.c_char_p
rank = int(sys.argv[2])
options = Options(ctypes.sizeof(Options), b"10.97.0.1:5612", None, 60 * 10**9)
comm = ctypes.c_void_p()
value = ctypes.c_double(rank + 1)

def check(status):
    if status:
        print(f"{time.monotonic():.2f} {lib.trn_error_text().decode()}", flush=True)
        sys.exit(1)

check(lib.trn_comm_create(None, rank, 2, ctypes.byref(options), ctypes.byref(comm)))
check(lib.trn_comm_allreduce_host(comm, ctypes.byref(value), 1))
print(f"sum {value.value}", flush=True)
while True:
    check(lib.trn_comm_barrier(comm))
    time.sleep(0.05)
PY

# errors NAME FILE OTHER - the rank's last line must blame rank OTHER, at most 10 s after the cut.
errors() {
	local name=$1 file=$2 other=$3 line at
	line=$(tail -n 1 "$file")
	at=${line%% *}
	if ! grep -qE "rank $other \(host [^ ]+, pid [0-9]+\)" <<<"$line"; then
		not_ok "$name" "$line"
	elif ! awk -v at="$at" -v cut="$cut" 'BEGIN { exit !(at - cut < 10.5) }'; then
		not_ok "$name" "cut at $cut: $line"
	else
		ok "$name"
	fi
}

if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null || ! net_make 2>"$WORK/err"; then
	skip "a host that is cut off" "needs root, iproute2 and network name spaces"
	finish
fi
unset TRN_COMM_PROVIDER TRN_COMM_JOB
for rank in 0 1; do
	space=$A
	[ $rank -eq 0 ] || space=$B
	ip netns exec $space timeout 90 python3 "$WORK/rank.py" "$BUILD/lib/libtrn.so.0" $rank \
		>"$WORK/rank$rank" 2>&1 &
done
for _ in $(seq 300); do
	if grep -q sum "$WORK/rank0" && grep -q sum "$WORK/rank1"; then
		break
	fi
	sleep 0.1
done
if grep -q 'sum 3.0' "$WORK/rank0" && grep -q 'sum 3.0' "$WORK/rank1"; then
	ok "two hosts sum"
else
	not_ok "two hosts sum" "$(cat "$WORK/rank0" "$WORK/rank1")"
fi
sleep 0.5
ip -n $A link set ta$$ down
cut=$(awk '{ print $1 }' /proc/uptime)
wait
errors "rank 0 names the host that was cut off" "$WORK/rank0" 1
errors "rank 1 names the host that was cut off" "$WORK/rank1" 0
finish
