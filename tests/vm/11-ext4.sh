#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=180
#
# ext4 with -o discard: a tree copied in, checksums after remounting, files
# deleted, fstrim, and a file system check.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1

D=/dev/zram0
M=$TEST_TMP/mnt
mkdir -p "$M"

# shellcheck disable=SC2317 # check calls it
fsck_quiet() { e2fsck -fn "$D" > "$TEST_TMP/fsck" 2>&1 || ! cat "$TEST_TMP/fsck"; }

sums() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

# shellcheck disable=SC2317 # check calls it
sums_right() { (cd "$M" && sha256sum --quiet -c "$TEST_TMP/$1"); }

tree=$TEST_TMP/tree
mkdir -p "$tree/sub"
cp /usr/include/linux/[a-m]*.h "$tree"
cp /usr/include/linux/[n-z]*.h "$tree/sub"

for algorithm in lzo-rle zstd; do
	setup zram0 128M "$algorithm"
	check "$algorithm: mkfs.ext4" mkfs.ext4 -q $D
	check "$algorithm: mount" mount -o discard $D "$M"
	mkdir "$M/a" "$M/b"
	check "$algorithm: copy a tree" cp -r "$tree" "$M/a/tree"
	check "$algorithm: copy it inside" cp -r "$M/a/tree" "$M/b/tree"
	corpus 8
	cp "$TEST_CORPUS" "$M/a/large"
	cp "$TEST_CORPUS" "$M/b/large"
	check "$algorithm: the copy is right" diff -r "$tree" "$M/a/tree"
	sums "$M" > "$TEST_TMP/sums"
	at_least "$algorithm: files" "$(wc -l < "$TEST_TMP/sums")" 100
	check "$algorithm: umount" umount "$M"
	check "$algorithm: fsck" fsck_quiet
	check "$algorithm: mount again" mount -o discard $D "$M"
	check "$algorithm: checksums after remount" sums_right sums

	full=$(orig_data zram0)
	rm -r "$M/b"
	sync
	# The journal has to commit before blocks are discarded.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sync
		[ "$(orig_data zram0)" -gt $((full * 3 / 4)) ] || break
		sleep 1
	done
	at_most "$algorithm: deleting files gives memory back" \
		"$(orig_data zram0)" $((full * 3 / 4))
	check "$algorithm: fstrim" fstrim "$M"
	grep -F ' ./a/' "$TEST_TMP/sums" > "$TEST_TMP/left"
	echo 3 > /proc/sys/vm/drop_caches
	check "$algorithm: checksums of what is left" sums_right left
	check "$algorithm: write after fstrim" cp -r "$M/a/tree" "$M/c"
	echo 3 > /proc/sys/vm/drop_caches
	check "$algorithm: which is right, too" diff -r "$tree" "$M/c"
	check "$algorithm: umount at last" umount "$M"
	check "$algorithm: fsck at last" fsck_quiet
	is "$algorithm: no failed write" "$(failed_writes zram0)" 0
	is "$algorithm: no failed read" "$(stat_of zram0 io_stat 1)" 0
	reset zram0
done

finish
