#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: file operations, git diff and bios, by many at once, with
# both drivers in turn: see scale.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
. "$(dirname "$0")/zbench-lib.sh"
# shellcheck disable=SC2153 # they come from scale.sh
: "$CORPUS_FILE" "$ROUNDS" "$ALG" "$DISK" "$PARALLEL" "$FILE_TIME" \
	"$TREES" "$TREE" "$DIFFS" "$THREADS" "$PAGES" "$FILEOPS"
MNT=/tmp/mnt

words() {
	echo $#
}

# --- Bios --------------------------------------------------------------------

# The bare codec on the same pages
codec() {
	step "codec"
	runs=0
	run_anew "op=codec alg=$ALG pages=$PAGES"
	measured codec codec "$ALG" compress_ns ns/page
}

bios() { # ours | theirs
	local threads op

	device "$ALG" $((PAGES * 4096))
	runs=0
	run_anew "op=write bio=16 pages=$PAGES"
	for threads in $THREADS; do
		for op in read write; do
			step "$1: $op by $threads threads"
			run_anew "op=$op threads=$threads pages=$PAGES"
			measured "bio-$op" "$1" "$ALG" pages_per_s pages/s
		done
	done
	reset_device
}

# --- Files -------------------------------------------------------------------

mount_device() {
	device "$ALG" "$DISK"
	mkfs.ext4 -q -E nodiscard /dev/zram0 || fail "cannot make a file system"
	mkdir -p $MNT
	mount -t ext4 /dev/zram0 $MNT || fail "cannot mount"
}

file_ops() { # ours | theirs
	local test where parallel value

	for test in open creat fsync; do
		for where in same different; do
			for parallel in $PARALLEL; do
				step "$1: $test, $where folder, $parallel processes"
				value=$("$FILEOPS" $test $where "$parallel" "$FILE_TIME" \
					$MNT "$CORPUS_FILE") || fail "fileops failed"
				result test="files-$test" config="$1" where=$where \
					parallel="$parallel" value="$value" unit=ops/s
			done
		done
	done
}

# Sets real, user, sys, seconds of git diff in the first N trees at once.
git_diff() { # N
	local TIMEFORMAT='%R %U %S'

	read -r real user sys < <({ time diff_all "$1"; } 2>&1 | tail -1)
}

diff_all() { # N
	local i pids=()

	for ((i = 1; i <= $1; i++)); do
		git -C "$MNT/$i" diff >"/tmp/diff.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || echo failed >/tmp/diff.failed
	done
}

trees() { # ours | theirs
	local n i most=0

	for n in $TREES; do
		((n > most)) && most=$n
	done
	for ((i = 1; i <= most; i++)); do
		mkdir $MNT/$i
		tar -C $MNT/$i -xf "$TREE" || fail "no room for tree $i: DISK=$DISK"
		git -C $MNT/$i status >/dev/null || fail "git status"
	done
	for n in $TREES; do
		step "$1: git diff on $n trees"
		git_diff "$n"
		for i in $(seq "$DIFFS"); do
			git_diff "$n"
			result test=git-cached config="$1" trees="$n" value="$real" \
				unit=s user="$user" sys="$sys"
		done
		# Empties the caches of this file system, not those of git itself.
		umount $MNT || fail "cannot unmount"
		mount -t ext4 /dev/zram0 $MNT || fail "cannot mount again"
		git_diff "$n"
		result test=git-cold config="$1" trees="$n" value="$real" unit=s \
			user="$user" sys="$sys"
	done
	[ ! -e /tmp/diff.failed ] || fail "git diff failed"
	for ((i = 1; i <= most; i++)); do
		grep -q '^+/\* changed' "/tmp/diff.$i" ||
			fail "git diff found nothing in tree $i"
	done
}

one_driver() { # ours | theirs
	load "$1"
	bios "$1"
	mount_device
	file_ops "$1"
	trees "$1"
	umount $MNT || fail "cannot unmount"
	reset_device
	unload
}

generator "$CORPUS_FILE"
git config --global safe.directory '*'
# shellcheck disable=SC2086 # lists
steps $((ROUNDS * (3 + 2 * (2 * $(words $THREADS) + 6 * $(words $PARALLEL) +
	$(words $TREES)))))
for round in $(seq "$ROUNDS"); do
	codec
	for who in $(alternate "$round" ours theirs); do
		one_driver "$who"
		codec
	done
done
