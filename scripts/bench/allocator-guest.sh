#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: fs_mark, and building a kernel, on file systems on the device,
# with both drivers in turn: see allocator.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
# shellcheck disable=SC2153 # they come from allocator.sh
: "$CORPUS_FILE" "$ALG" "$ROUNDS" "$FILESYSTEMS" "$DISK" "$USAGE" "$THREADS" \
	"$FILE_BYTES" "$BUILD_ROUNDS" "$BUILD_FS" "$BUILD" "$BUILD_DISK" "$SHIM" \
	"$SOURCE" "$CPUS"
MNT=/tmp/mnt

words() {
	echo $#
}

mount_device() { # FILESYSTEM SIZE
	device "$ALG" "$2"
	case $1 in
	btrfs) mkfs.btrfs -q -f -K /dev/zram0 ;;
	*) mkfs.ext4 -q -E nodiscard /dev/zram0 ;;
	esac >/tmp/log 2>&1 || { cat /tmp/log; fail "cannot make $1"; }
	mkdir -p $MNT
	mount -t "$1" /dev/zram0 $MNT || fail "cannot mount $1"
}

unmount() {
	umount $MNT || fail "cannot unmount"
	reset_device
	unload
}

# Of the space there is, so much in whole files, the same from each thread.
files_each() {
	local blocks

	blocks=$(df -B 4096 --output=avail $MNT | tail -1)
	echo $((blocks * USAGE / 100 / ((FILE_BYTES + 4095) / 4096) / THREADS))
}

fs_mark_once() { # ours | theirs, FILESYSTEM, [warm-up]
	local n rate used

	[ -n "${3:-}" ] || step "$1: fs_mark on $2"
	load "$1"
	mount_device "$2" "$DISK"
	n=$(files_each)
	# It would write zeroes, which every driver keeps as one word.
	REALPAGES=$CORPUS_FILE LD_PRELOAD=$SHIM fs_mark -d $MNT -s "$FILE_BYTES" \
		-n "$n" -t "$THREADS" -k -l /tmp/fs_log >/tmp/log 2>&1 ||
		{ cat /tmp/log; fail "fs_mark failed"; }
	read -r used _ _ rate _ < <(tail -1 /tmp/log)
	sync -f $MNT
	[ -n "${3:-}" ] || result test=fsmark config="$1" fs="$2" value="$rate" unit=files/s \
		files=$((n * THREADS)) used_percent="$used" \
		stored="$(mm_stat 1)" compressed="$(mm_stat 2)" \
		memory="$(mm_stat 3)" same="$(mm_stat 6)"
	unmount
}

build() {
	# shellcheck disable=SC2086 # a list of targets
	make -s -j"$CPUS" ARCH=um $BUILD && sync -f .
}

build_once() { # ours | theirs, FILESYSTEM, [warm-up]
	local TIMEFORMAT='%R %U %S' real user sys

	[ -n "${3:-}" ] || step "$1: build on $2"
	load "$1"
	mount_device "$2" "$BUILD_DISK"
	tar -C $MNT -xf "$SOURCE" || fail "no room for the source: BUILD_DISK"
	# What is compiled comes from the device, not from memory.
	umount $MNT || fail "cannot unmount"
	mount -t "$2" /dev/zram0 $MNT || fail "cannot mount $2 again"
	cd $MNT || fail "no $MNT"
	{ time build >/tmp/log 2>&1 || touch /tmp/failed; } 2>/tmp/times
	cd /
	[ ! -e /tmp/failed ] || { tail -20 /tmp/log; fail "the build failed"; }
	read -r real user sys < <(tail -1 /tmp/times)
	[ -n "${3:-}" ] || result test=build config="$1" fs="$2" value="$real" unit=s \
		user="$user" sys="$sys" objects="$(find $MNT -name '*.o' | wc -l)" \
		stored="$(mm_stat 1)" memory="$(mm_stat 3)"
	unmount
}

# shellcheck disable=SC2086 # lists
steps $((2 * (ROUNDS * $(words $FILESYSTEMS) + BUILD_ROUNDS * $(words $BUILD_FS))))
# A program's first run reads it from the host: it does not count.
[ -z "$FILESYSTEMS" ] || fs_mark_once ours "${FILESYSTEMS%% *}" warm-up
for round in $(seq "$ROUNDS"); do
	for fs in $FILESYSTEMS; do
		for who in $(alternate "$round" ours theirs); do
			fs_mark_once "$who" "$fs"
		done
	done
done
[ -z "$BUILD_FS" ] || build_once theirs "${BUILD_FS%% *}" warm-up
for round in $(seq "$BUILD_ROUNDS"); do
	for fs in $BUILD_FS; do
		for who in $(alternate "$round" ours theirs); do
			build_once "$who" "$fs"
		done
	done
done
