#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernels that the module is built for and tested on. They live in a cache
# outside the checkout, keyed by version (and configuration), so that they are
# fetched and built once per machine and nothing is installed on the host.
#
#   6.1, 6.12   Debian's stock kernels: image, modules and headers, unpacked
#   src         the newest linux-source-7 there is, unpacked
#   uml         User Mode Linux from src: KUnit, KASAN, lockdep, kmemleak
#   uml-perf    User Mode Linux from src without any debug option
#   uml-stat    the same with lock statistics
#   sparse      no kernel, but what checks it: the newest kernels want a newer
#               one than Debian 12 has
#
# "7" is another name for "uml".
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/common.sh"

# Resolve versions again after that many days
MAX_AGE=7

usage() {
	cat <<-EOF
	Usage: kernel.sh COMMAND [KERNEL...]

	  fetch KERNEL...     make sure the kernels are there: download or build
	  path KERNEL         print the directory for "make -C DIR M=..."
	  image KERNEL        print the file to boot
	  root KERNEL         print the unpacked packages (6.1, 6.12)
	  release KERNEL      print the kernel's release string
	  sparse              print the program: sparse, built from source
	  update              look for newer versions now

	Kernels: 6.1 6.12 src uml uml-perf uml-stat (default: 6.1 6.12 uml)
	Cache:   $CACHE
	EOF
}

# --- A private apt: more suites than the host has, the host untouched --------

apt_options() {
	echo Dir::Etc::sourcelist="$CACHE/apt/sources.list"
	echo Dir::Etc::sourceparts=/dev/null
	echo Dir::Etc::preferences=/dev/null
	echo Dir::Etc::preferencesparts=/dev/null
	echo Dir::State="$CACHE/apt"
	echo Dir::State::lists="$CACHE/apt/lists"
	echo Dir::State::status=/dev/null
	echo Dir::Cache="$CACHE/apt"
	echo Dir::Cache::archives="$CACHE/apt/archives"
	echo Acquire::Languages=none
	echo Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
	echo APT::Sandbox::User=
}

private_apt() {
	local tool=$1 opts=() o
	shift

	while read -r o; do
		opts+=(-o "$o")
	done < <(apt_options)
	"$tool" "${opts[@]}" "$@"
}

# The mirrors are those that the host's own apt is set up with.
write_sources() {
	local uris main security suite options=arch=amd64
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg

	# shellcheck disable=SC2016 # apt's own placeholders
	uris=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE)' \
		'Created-By: Packages' | sort -u)
	main=$(awk '$1 ~ /debian\/?$/ { print $1; exit }' <<<"$uris")
	security=$(awk '$2 ~ /-security$/ { print $1; exit }' <<<"$uris")
	[ -n "$main" ] || die "apt is set up with no Debian mirror"
	[ ! -e $keys ] || options+=" signed-by=$keys"
	for suite in bookworm bookworm-backports trixie-backports sid; do
		echo "deb [$options] $main $suite main"
	done
	echo "deb-src [$options] $main sid main"
	[ -z "$security" ] ||
		echo "deb [$options] $security bookworm-security main"
}

# The newest of the packages whose name matches: its name and version.
newest_package() {
	local name

	name=$(private_apt apt-cache search --names-only "$1" |
		awk '{ print $1 }' | sort -V | tail -1)
	[ -n "$name" ] || return 1
	echo "$name $(private_apt apt-cache show "$name" |
		awk '/^Version:/ { print $2 }' | sort -V | tail -1)"
}

# The newest source package of that name: its name and version.
newest_source() {
	local version

	version=$(private_apt apt-cache showsrc --only-source "$1" |
		awk '/^Version:/ { print $2 }' | sort -V | tail -1)
	[ -n "$version" ] || return 1
	echo "$1 $version"
}

# Writes one line per kernel to $CACHE/versions: KERNEL PACKAGE VERSION
resolve() {
	local line tmp=$CACHE/versions.new

	say "looking for the newest kernel packages"
	mkdir -p "$CACHE/apt/lists/partial" "$CACHE/apt/archives/partial"
	write_sources >"$CACHE/apt/sources.list"
	private_apt apt-get -qq update >"$CACHE/apt/update.log" 2>&1 ||
		say "apt-get update had trouble, see $CACHE/apt/update.log"
	{
		line=$(newest_package '^linux-headers-6\.1\.0-[0-9]+-amd64$')
		echo "6.1 $line"
		line=$(newest_package '^linux-headers-6\.12\.[0-9]+\+deb12[.0-9]*-amd64$')
		echo "6.12 $line"
		line=$(newest_package '^linux-source-7\.[0-9]+$')
		echo "src $line"
		line=$(newest_source sparse)
		echo "sparse $line"
	} >"$tmp" || {
		[ -s "$CACHE/versions" ] || die "no kernel packages found"
		say "keeping the versions known so far"
		touch "$CACHE/versions"
		return 0
	}
	mv "$tmp" "$CACHE/versions"
	sed 's/^/    /' "$CACHE/versions" >&2
}

resolve_if_old() {
	if ! grep -qs '^sparse ' "$CACHE/versions" ||
	   [ -n "$(find "$CACHE/versions" -mtime +"$MAX_AGE")" ]; then
		resolve
	fi
}

field() { # KERNEL N
	awk -v k="$1" -v n="$2" '$1 == k { print $n }' "$CACHE/versions"
}

# Downloads packages and unpacks them to a folder, which appears when complete.
unpack() { # FOLDER PACKAGE...
	local dir=$1 deb
	shift

	rm -rf "$dir.new" "$dir.debs"
	mkdir -p "$dir.new" "$dir.debs"
	(cd "$dir.debs" && private_apt apt-get -qq download "$@" >&2)
	for deb in "$dir.debs"/*.deb; do
		dpkg -x "$deb" "$dir.new"
	done
	rm -rf "$dir.debs"
}

# --- Debian's kernels ---------------------------------------------------------

deb_release() { # KERNEL
	local headers

	headers=$(field "$1" 2)
	echo "${headers#linux-headers-}"
}

deb_dir() { # KERNEL
	echo "$CACHE/deb-$(deb_release "$1")-$(safe "$(field "$1" 3)")"
}

# Versions hold characters ('~', '+') that make and paths dislike.
safe() {
	local v=${1%%\~*}

	echo "${v//[^A-Za-z0-9.-]/_}"
}

# Headers refer to /usr/src: let them refer to the cache.
relocate() { # FOLDER FINAL-FOLDER
	local link target

	find "$1" -type l -lname '/usr/*' | while read -r link; do
		target=$(readlink "$link")
		ln -sfn "$2$target" "$link"
	done
	grep -rlI --include=Makefile '/usr/src/linux-headers' "$1/usr/src" |
		xargs -r sed -i "s:/usr/src/linux-headers:$2/usr/src/linux-headers:g"
}

fetch_deb() { # KERNEL
	local dir release version kbuild

	dir=$(deb_dir "$1")
	release=$(deb_release "$1")
	version=$(field "$1" 3)
	[ ! -e "$dir" ] || return 0
	say "fetching Debian's kernel $release"
	case $1 in
	6.1) kbuild=linux-kbuild-6.1 ;;
	*) kbuild=linux-kbuild-${release%-amd64} ;;
	esac
	unpack "$dir" "linux-image-$release" "$(field "$1" 2)=$version" \
		"linux-headers-${release%-amd64}-common=$version" \
		"$kbuild=$version"
	relocate "$dir.new" "$dir"
	depmod -b "$dir.new" "$release"
	mv "$dir.new" "$dir"
}

# --- linux-source and User Mode Linux -----------------------------------------

src_dir() {
	echo "$CACHE/source-$(safe "$(field src 3)")"
}

fetch_src() {
	local dir package

	dir=$(src_dir)
	package=$(field src 2)
	[ ! -e "$dir" ] || return 0
	say "fetching $package $(field src 3)"
	unpack "$dir" "$package=$(field src 3)"
	say "unpacking $package"
	tar -C "$dir.new" -xf "$dir.new/usr/src/$package.tar.xz"
	mv "$dir.new/$package" "$dir"
	rm -rf "$dir.new"
}

uml_fragments() { # uml | uml-perf | uml-stat
	case $1 in
	uml) echo "$HERE/kconfig/uml.config $HERE/kconfig/uml-debug.config" ;;
	*) echo "$HERE/kconfig/uml.config $HERE/kconfig/$1.config" ;;
	esac
}

# For all of them, and for one.
uml_patches() { # uml | uml-perf | uml-stat
	local p

	for p in "$HERE"/kconfig/*.patch "$HERE/kconfig/$1"/*.patch; do
		[ ! -e "$p" ] || echo "$p"
	done
}

uml_dir() { # uml | uml-perf | uml-stat
	local hash

	# shellcheck disable=SC2046 # a list of files
	hash=$(cat $(uml_fragments "$1") $(uml_patches "$1") | sha256sum | cut -c1-8)
	echo "$CACHE/$1-$(safe "$(field src 3)")-$hash"
}

# A symbol that the fragments ask for and the kernel has not got is an error:
# a test kernel without, say, lockdep would pass in silence.
check_config() { # FOLDER
	local sym want bad=0

	while IFS='=' read -r sym want; do
		case $want in
		n) ! grep -q "^$sym=" "$1/.config" || { say "$sym is set"; bad=1; } ;;
		*) grep -qxF "$sym=$want" "$1/.config" || { say "$sym is not $want"; bad=1; } ;;
		esac
	done < <(grep '^CONFIG_' "$1/wanted.config")
	[ "$bad" = 0 ] || die "the kernel's configuration is not what was asked for"
}

# A patch that a newer kernel does not take any more is left out. All kernels
# are built from one source: a patch for one of them changes nothing for the
# others.
apply_patches() { # SOURCE, uml | uml-perf | uml-stat
	local p

	for p in $(uml_patches "$2"); do
		! patch -d "$1" -p1 -R --dry-run -sf <"$p" >/dev/null || continue
		patch -d "$1" -p1 -Ns -r - <"$p" >&2 || say "left out: $p"
	done
}

fetch_uml() { # uml | uml-perf | uml-stat
	local dir src start=$SECONDS

	dir=$(uml_dir "$1")
	src=$(src_dir)
	[ ! -e "$dir/complete" ] || return 0
	mkdir -p "$dir"
	# shellcheck disable=SC2046 # a list of files
	cat $(uml_fragments "$1") >"$dir/wanted.config"
	apply_patches "$src" "$1"
	make -s -C "$src" ARCH=um O="$dir" \
		KCONFIG_ALLCONFIG="$dir/wanted.config" allnoconfig
	check_config "$dir"
	say "building $(basename "$dir"): some minutes, see $dir/build.log"
	nice make -C "$src" ARCH=um O="$dir" -j"$(nproc)" all \
		</dev/null >"$dir/build.log" 2>&1 &
	progress $! "$dir/build.log" ||
		{ tail -30 "$dir/build.log" >&2; die "the build failed"; }
	touch "$dir/complete"
	say "built in $((SECONDS - start)) s"
}

# A line every half minute while a build is running.
progress() { # PID LOG
	local n=0

	while kill -0 "$1" 2>/dev/null; do
		sleep 1
		[ $((++n % 30)) -ne 0 ] || say "  $n s, $(wc -l <"$2") steps done"
	done
	wait "$1"
}

# --- sparse -------------------------------------------------------------------

sparse_dir() {
	echo "$CACHE/sparse-$(safe "$(field sparse 3)")"
}

# Only the checker itself: it needs a C compiler, the other programs libraries.
fetch_sparse() {
	local dir log

	dir=$(sparse_dir)
	log=$dir.log
	[ ! -e "$dir" ] || return 0
	say "building sparse $(field sparse 3)"
	rm -rf "$dir.new"
	mkdir -p "$dir.new"
	(cd "$dir.new" && private_apt apt-get -qq --download-only source \
		"sparse=$(field sparse 3)") >"$log" 2>&1
	tar -C "$dir.new" --strip-components=1 -xf "$dir.new"/*.orig.tar.*
	make -C "$dir.new" -j"$(nproc)" HAVE_LLVM=no HAVE_SQLITE=no HAVE_LIBXML=no \
		HAVE_GTK=no sparse >>"$log" 2>&1 ||
		{ tail -30 "$log" >&2; die "sparse does not build"; }
	mv "$dir.new" "$dir"
}

# --- Commands -----------------------------------------------------------------

# Two callers never do the same work, and wait for each other only over that.
locked() { # NAME COMMAND...
	local name=$1
	shift

	(
		flock 9
		"$@"
	) 9>"$CACHE/$name.lock"
}

fetch() {
	local k

	mkdir -p "$CACHE"
	locked versions resolve_if_old
	for k in "$@"; do
		case $k in
		6.1 | 6.12) locked "$k" fetch_deb "$k" ;;
		src) locked src fetch_src ;;
		sparse) locked sparse fetch_sparse ;;
		7 | uml)
			locked src fetch_src
			locked "$(basename "$(uml_dir uml)")" fetch_uml uml
			;;
		uml-perf | uml-stat)
			locked src fetch_src
			locked "$(basename "$(uml_dir "$k")")" fetch_uml "$k"
			;;
		*) die "no such kernel: $k" ;;
		esac
	done
}

path() {
	case $1 in
	6.1 | 6.12) echo "$(deb_dir "$1")/usr/src/$(field "$1" 2)" ;;
	src) src_dir ;;
	7 | uml) uml_dir uml ;;
	uml-perf | uml-stat) uml_dir "$1" ;;
	esac
}

image() {
	case $1 in
	6.1 | 6.12) echo "$(deb_dir "$1")/boot/vmlinuz-$(deb_release "$1")" ;;
	*) echo "$(path "$1")/linux" ;;
	esac
}

release() {
	sed -n 's/^#define UTS_RELEASE "\(.*\)"/\1/p' \
		"$(path "$1")/include/generated/utsrelease.h"
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
fetch)
	[ $# -gt 0 ] || set -- 6.1 6.12 uml
	fetch "$@"
	;;
path | image | release)
	fetch "$1"
	"$command" "$1"
	;;
root)
	fetch "$1"
	deb_dir "$1"
	;;
sparse)
	fetch sparse
	echo "$(sparse_dir)/sparse"
	;;
update)
	rm -f "$CACHE/versions"
	fetch
	;;
help | -h | --help) usage ;;
*) usage >&2; exit 2 ;;
esac
