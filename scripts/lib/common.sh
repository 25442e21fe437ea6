# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# What every script here shares: messages, folders, locks, logged commands.
# Sourced, never run. Sets TRN_ROOT (the tree) and TRN_CACHE (outside of it).
#
# Locking: one flock(1) per cached thing, held by the script that fills it and
# by nobody while a guest runs. A script that needs two takes the outer one
# first; no script takes a second one of the same kind.

shopt -s inherit_errexit

# Where Debian keeps depmod, which users other than root do not look.
PATH=$PATH:/usr/sbin:/sbin
TRN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# ~ and not $HOME: a build daemon may lack the variable.
TRN_CACHE=${XDG_CACHE_HOME:-~/.cache}/trainium

# Progress goes to stderr: stdout is for the one answer a script gives.
note() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
	printf '%s: error: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# The comment block after the SPDX line is the help of a script.
usage_print() {
	awk 'NR <= 2 { next } /^#/ { sub(/^# ?/, ""); print; next } { exit }' "$0"
}

usage_die() {
	printf '%s: %s\n\n' "${0##*/}" "$*" >&2
	usage_print >&2
	exit 2
}

need_command() {
	command -v "$1" >/dev/null || die "$1 is missing; run: ${TRN_ROOT}/scripts/deps $2"
}

# lock_take NAME: waits until this process alone owns NAME; the kernel drops
# the lock when the process ends, however it ends.
lock_take() {
	local file=$TRN_CACHE/lock/$1 fd

	mkdir -p "$TRN_CACHE/lock"
	exec {fd}>"$file"
	if ! flock -n "$fd"; then
		note "waiting for another run that holds $file"
		flock "$fd"
	fi
	declare -g "LOCK_FD_${1//[^a-zA-Z0-9]/_}=$fd"
}

lock_drop() {
	local var=LOCK_FD_${1//[^a-zA-Z0-9]/_} fd

	fd=${!var}
	exec {fd}>&-
}

# run_logged LOG WHAT CMD…: runs CMD with its output appended to LOG. On
# failure says what failed, where the log is and how it ended.
run_logged() {
	local log=$1 what=$2 rc=0

	shift 2
	mkdir -p "${log%/*}"
	printf '+ %s\n' "$*" >>"$log"
	"$@" >>"$log" 2>&1 || rc=$?
	[[ $rc -eq 0 ]] && return 0
	note "$what failed (status $rc); the last lines of $log:"
	tail -n 15 "$log" | sed 's/^/    /' >&2
	exit 1
}

# The hash of stdin, short enough for a folder's name.
hash_short() {
	sha256sum | cut -c1-16
}

# hash_files FOLDER FILE…: one hash over names and contents, names relative to
# FOLDER so that two checkouts share what they built.
hash_files() {
	local dir=$1

	shift
	(cd "$dir" && printf '%s\0' "$@" | LC_ALL=C sort -z | xargs -0r sha256sum) | hash_short
}

# dir_prune KEEP FOLDER…: removes the least recently used folders.
dir_prune() {
	local keep=$1 dir n=0

	shift
	while IFS= read -r dir; do
		n=$((n + 1))
		[[ $n -le $keep ]] || rm -rf -- "$dir"
	done < <(ls -1dt -- "$@" 2>/dev/null)
}
