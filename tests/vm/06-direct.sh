#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=120 smoke
#
# Direct I/O with buffers that split a block over two pages, vectors, bios of
# many pages, and requests that must be refused.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1
corpus 4

for algorithm in lzo-rle zstd; do
	for case in split vector odd edge; do
		setup zram0 256K $algorithm
		check "$algorithm: $case" "$TEST_BIN/direct" $case /dev/zram0 "$TEST_SEED"
		is "$algorithm: $case: no failed write" "$(failed_writes zram0)" 0
		is "$algorithm: $case: no failed read" "$(stat_of zram0 io_stat 1)" 0
		reset zram0
	done
done

# One bio of as many pages as the block layer allows, both ways.
setup zram0 32M
cat "$TEST_CORPUS" "$TEST_CORPUS" > "$TEST_TMP/data"
for bs in 4k 12k 8M; do
	check "write in pieces of $bs" dd if="$TEST_TMP/data" of=/dev/zram0 bs=$bs \
		oflag=direct iflag=fullblock status=none
	check "$bs: compare" cmp -n "$(stat -c %s "$TEST_TMP/data")" \
		"$TEST_TMP/data" /dev/zram0
	check "$bs: compare, read in one piece" cmp "$TEST_TMP/data" <(
		dd if=/dev/zram0 bs=8M count=1 iflag=direct status=none)
	check "$bs: discard" blkdiscard /dev/zram0
done
check "through the page cache" dd if="$TEST_TMP/data" of=/dev/zram0 bs=1000 \
	conv=fsync status=none
check "page cache: compare" cmp "$TEST_TMP/data" <(
	dd if=/dev/zram0 bs=8M count=1 iflag=direct status=none)
rm -f "$TEST_TMP/data"

finish
