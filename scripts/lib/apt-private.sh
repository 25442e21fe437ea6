# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# Package lists of our own, made from the machine's apt sources with deb-src
# added, under the cache: source packages and kernels are fetched without root,
# and nothing below /etc/apt or /var/lib/apt changes.
#
# Locking: the caller holds the lock "apt" from apt_private_update() on.

APT_PRIVATE=$TRN_CACHE/apt

# Prints "options|uri|suite" for every source of the machine that carries the
# component main of this Debian release, from both formats apt reads.
apt_sources_list() {
	local code file

	# shellcheck source=/dev/null
	code=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-stable}")
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		if [[ -r $file ]]; then cat "$file"; fi
	done | awk -v code="$code" '
		/^[[:space:]]*deb(-src)?[[:space:]]/ {
			sub(/#.*/, ""); opts = ""
			if (match($0, /\[[^]]*\]/)) {
				opts = substr($0, RSTART + 1, RLENGTH - 2)
				$0 = substr($0, 1, RSTART - 1) " " substr($0, RSTART + RLENGTH)
			}
			for (i = 4; i <= NF; i++)
				if ($i == "main" && index($3, code) == 1)
					print opts "|" $2 "|" $3
		}'
	for file in /etc/apt/sources.list.d/*.sources; do
		if [[ -r $file ]]; then grep -v '^#' "$file" || true; echo; fi
	done | awk -v code="$code" '
		function flush(   n, m, i, j, u, s, opts) {
			if (f["enabled"] != "no" && (" " f["components"] " ") ~ / main /) {
				if (f["signed-by"] ~ /^\//) opts = "signed-by=" f["signed-by"]
				if (f["trusted"] == "yes") opts = opts " trusted=yes"
				n = split(f["uris"], u, " "); m = split(f["suites"], s, " ")
				for (i = 1; i <= n; i++)
					for (j = 1; j <= m; j++)
						if (index(s[j], code) == 1)
							print opts "|" u[i] "|" s[j]
			}
			delete f; key = ""
		}
		/^[[:space:]]*$/ { flush(); next }
		/^[^[:space:]:]+:/ {
			key = tolower(substr($0, 1, index($0, ":") - 1))
			f[key] = substr($0, index($0, ":") + 1); gsub(/^ +| +$/, "", f[key]); next
		}
		/^[[:space:]]/ && key != "" && $1 != "." { f[key] = f[key] " " $1 }
		END { flush() }'
}

apt_private_sources_write() {
	local opts uri suite

	apt_sources_list | sort -u | while IFS='|' read -r opts uri suite; do
		opts=${opts:+[$opts] }
		printf 'deb %s%s %s main\ndeb-src %s%s %s main\n' \
			"$opts" "$uri" "$suite" "$opts" "$uri" "$suite"
	done
}

# apt_private TOOL ARG…: apt-get or apt-cache on the private lists.
apt_private() {
	local tool=$1

	shift
	"$tool" -qq -o Dir::Etc::sourcelist="$APT_PRIVATE/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State="$APT_PRIVATE/state" -o Dir::State::status="$APT_PRIVATE/status" \
		-o Dir::Cache="$APT_PRIVATE/cache" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Retries=3 -o Acquire::Languages=none "$@"
}

# Lists older than a day are fetched again; a network that is away is no error
# while there are older ones.
apt_private_update() {
	local stamp=$APT_PRIVATE/updated new=$APT_PRIVATE/sources.list.new

	need_command apt-get build
	mkdir -p "$APT_PRIVATE"/{state/lists/partial,cache/archives/partial}
	: >"$APT_PRIVATE/status"
	apt_private_sources_write >"$new"
	[[ -s $new ]] || die "no Debian source with the component main is set up in /etc/apt"
	if cmp -s "$new" "$APT_PRIVATE/sources.list" && [[ -n $(find "$stamp" -mtime -1 2>/dev/null) ]]; then
		rm -f "$new"
		return 0
	fi
	mv "$new" "$APT_PRIVATE/sources.list"
	note "fetching package lists"
	if apt_private apt-get update >"$APT_PRIVATE/update.log" 2>&1; then
		touch "$stamp"
	elif [[ -e $stamp ]]; then
		note "the package lists could not be refreshed ($APT_PRIVATE/update.log); using the older ones"
	else
		note "not every package list could be fetched; see $APT_PRIVATE/update.log"
	fi
}

# Runs apt-get in FOLDER; the lists are fetched anew once when the archive no
# longer has what they name.
apt_private_fetch() {
	local dir=$1 log=$2

	shift 2
	(cd "$dir" && apt_private apt-get "$@") >>"$log" 2>&1 && return 0
	rm -f "$APT_PRIVATE/updated"
	apt_private_update
	(cd "$dir" && apt_private apt-get "$@") >>"$log" 2>&1 ||
		die "the download failed (apt-get $*); see $log, check the network and run it again"
}
