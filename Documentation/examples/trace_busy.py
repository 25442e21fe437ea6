#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Who was busy for how long in a trace of time mode: trace_busy.py FILE"""
import collections
import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
name, busy, count = {}, collections.Counter(), collections.Counter()
first, last = float("inf"), 0.0
for event in trace["traceEvents"]:
    track = (event["pid"], event.get("tid"))
    if event["name"] == "thread_name":
        name[track] = event["args"]["name"]
    if event["ph"] != "X":
        continue
    busy[track] += event["dur"]
    count[track] += 1
    first = min(first, event["ts"])
    last = max(last, event["ts"] + event["dur"])
if not count:
    sys.exit("the trace is empty")
print(f"{last - first:.3f} us from the first event to the last")
print(f"{'track':<24} {'events':>8} {'busy us':>12} {'busy %':>7}")
for track, us in sorted(busy.items()):
    print(f"{name[track]:<24} {count[track]:>8} {us:>12.3f} {100 * us / (last - first):>7.1f}")
if trace["otherData"]["dropped"] != "0":
    print(f"{trace['otherData']['dropped']} events did not fit: give a larger trace-events")
