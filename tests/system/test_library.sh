#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# libtrn as a library: what it exports, how it installs, what it does not do.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$ROOT" || exit 2

# An exported name is one a header promises, and the other way round.
nm -D --defined-only "$BUILD/lib/libtrn.so.0" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort >"$WORK/exported"
gcc -E -P -Iruntime/include -Iinclude -include trn/trn.h -include trn/builder.h -include trn/kernels.h -x c /dev/null |
	tr '\n' ' ' | tr ';' '\n' | grep 'visibility("default")' |
	grep -oE '\btrn_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u >"$WORK/promised"
if difference=$(diff "$WORK/promised" "$WORK/exported"); then
	ok "libtrn exports what its headers promise, $(wc -l <"$WORK/exported") functions"
else
	not_ok "libtrn exports what its headers promise" "$difference"
fi
run "libtrn has its SONAME" 0 'SONAME.*libtrn\.so\.0' readelf -d "$BUILD/lib/libtrn.so.0"
run "every symbol of libtrn has a version" 0 '^0$' sh -c \
	"nm -D --defined-only '$BUILD/lib/libtrn.so.0' | grep -c ' T [^@]*\$' || true"

run "make install" 0 '' make --no-print-directory install DESTDIR="$WORK/root" PREFIX=/opt/trn
export PKG_CONFIG_PATH=$WORK/root/opt/trn/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$WORK/root
# shellcheck disable=SC2046
run "a program compiles against what was installed" 0 '' gcc -Wall -Wextra -Werror -o "$WORK/round_trip" \
	Documentation/examples/round_trip.c $(pkg-config --cflags --libs trn)
export LD_LIBRARY_PATH=$WORK/root/opt/trn/lib
run "it runs" 0 '^42 came back$' env TRN_DEVICE=emu:trn1 "$WORK/round_trip"
run "with a device that is not there it says so" 1 'there is no device trn63' env TRN_DEVICE=trn63 "$WORK/round_trip"
run "with a device nobody knows it says what there is" 1 'there are emu:trn1, emu:inf2, emu:trn2' env TRN_DEVICE=emu:gpu "$WORK/round_trip"

# The same cases as in the guest, on an emulated device.
run "the guest's test builds" 0 '' env -u PKG_CONFIG_PATH -u PKG_CONFIG_SYSROOT_DIR \
	make --no-print-directory build/tests/vm/test_runtime
TRN_DEVICE=emu:trn1 timeout 300 "$BUILD/tests/vm/test_runtime" >"$WORK/runtime"
grep -E '^(ok|not ok|skip) - ' "$WORK/runtime"
if ! grep -qE '^[0-9]+ passed, 0 failed' "$WORK/runtime"; then
	not_ok "the runtime's cases on an emulated device" "$(tail -n 5 "$WORK/runtime")"
fi

python3 - <<'PY' && ok "the runtime's manual shows the compiled example" || not_ok "the runtime's manual shows the compiled example"
import re, sys
page = open("Documentation/runtime.md").read()
code = open("Documentation/examples/round_trip.c").read()
body = code[code.index("int main"):]
sys.exit(0 if any(body.strip() in b for b in re.findall(r"```c\n(.*?)```", page, re.S)) else 1)
PY
finish
