#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Finds out what a kernel has by compiling a snippet per feature against its headers, because
# distributions carry features back and version numbers say little.
#
# Usage: kernel/configure.sh KDIR FOLDER [make arguments]
#
# Writes FOLDER/trainium_features.h. Nothing is done when it was made for the same kernel, compiler
# arguments and script. Two snippets test the test: one must compile, one must not.
set -euo pipefail

[[ $# -ge 2 ]] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2; exit 2; }
kdir=$(readlink -f "$1")
out=$(mkdir -p "$2" && readlink -f "$2")
shift 2

[[ -f $kdir/Makefile ]] || { echo "configure.sh: no kernel headers in $kdir; install linux-headers-$(uname -r) or set KDIR" >&2; exit 1; }

key=$(cat "$0" "$kdir/include/config/auto.conf" "$kdir/include/generated/utsrelease.h" <(printf '%s\n' "$kdir" "$@") | sha256sum | cut -d' ' -f1)
if [[ -f $out/trainium_features.h ]] && grep -qs "$key" "$out/trainium_features.h"; then
	exit 0
fi

work=$(mktemp -d "$out/conftest.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
names=()

# snippet NAME: body on standard input
snippet() {
	names+=("$1")
	{ echo '#include <linux/module.h>'; cat; } >"$work/$1.c"
}

snippet SANE <<'C'
#include <drm/drm_drv.h>
int test(void); int test(void) { return 0; }
C
snippet INSANE <<'C'
#include <drm/drm_no_such_header.h>
int test(void); int test(void) { return no_such_function(); }
C
snippet DRM_ACCEL <<'C'
#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#ifndef CONFIG_DRM_ACCEL
#error accel class switched off
#endif
int test(void); int test(void) { return DRIVER_COMPUTE_ACCEL; }
C
snippet VM_FLAGS_SET <<'C'
#include <linux/mm.h>
void test(struct vm_area_struct *vma); void test(struct vm_area_struct *vma) { vm_flags_set(vma, VM_DONTEXPAND); }
C
snippet SHOW_FDINFO <<'C'
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
extern struct drm_driver d; extern const void *p; struct drm_driver d = { .show_fdinfo = NULL }; const void *p = drm_show_fdinfo;
C
snippet DRIVER_DATE <<'C'
#include <drm/drm_drv.h>
extern struct drm_driver d; struct drm_driver d = { .date = "0" };
C

printf 'obj-m := %s\n' "$(printf '%s.o ' "${names[@]}")" >"$work/Kbuild"
# Objects only: linking a module of each would need far more of the kernel. Snippets may fail.
make -k -C "$kdir" M="$work" "$@" "${names[@]/%/.o}" >"$work/log" 2>&1 || true

if [[ ! -f $work/SANE.o ]]; then
	echo "configure.sh: cannot compile for $kdir:" >&2
	tail -n 20 "$work/log" >&2
	exit 1
fi
if [[ -f $work/INSANE.o ]]; then
	echo "configure.sh: a snippet that must not compile did" >&2
	exit 1
fi
{
	echo '/* SPDX-License-Identifier: GPL-2.0-only */'
	echo "/* Made by kernel/configure.sh; $key */"
	for name in "${names[@]}"; do
		[[ $name == *SANE || ! -f $work/$name.o ]] || echo "#define TRAINIUM_HAVE_$name 1"
	done
} >"$work/features.h"
mv "$work/features.h" "$out/trainium_features.h"
