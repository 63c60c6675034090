#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=240 smoke
#
# Parallel writers, readers and discards with a check of every block, for every
# algorithm, and with compaction by the driver and by the kernel meanwhile.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1
corpus 8

# shellcheck disable=SC2317 # check calls it
stress() { "$TEST_BIN/stress" -S "$TEST_SEED" "$@"; }

for algorithm in $(algorithms zram0); do
	setup zram0 16M "$algorithm"
	check "parallel: $algorithm" stress -t 4 -n $((1000 * TEST_SCALE)) \
		/dev/zram0 2048
	is "$algorithm: no failed write" "$(failed_writes zram0)" 0
	is "$algorithm: no failed read" "$(stat_of zram0 io_stat 1)" 0
	reset zram0
done

setup zram0 64K lzo-rle
check "16 threads on 16 blocks" stress -t 16 -n $((600 * TEST_SCALE)) /dev/zram0 16
reset zram0

# --- under compaction ---
# With two CPUs, User Mode Linux loses what programs write to pages of theirs that
# the kernel is moving, and they die of it, with any driver or none.
kernel_too=y
! grep -q 'User Mode Linux' /proc/cpuinfo || [ "$(nproc)" = 1 ] || kernel_too=

compacting() {
	while [ ! -e "$TEST_TMP/stop" ]; do
		echo 1 > /sys/block/zram0/compact
		[ -z "$kernel_too" ] || echo 1 > /proc/sys/vm/compact_memory
	done 2>> "$TEST_TMP/compact-errors"
}

for algorithm in lzo-rle zstd; do
	rm -f "$TEST_TMP/stop" "$TEST_TMP/compact-errors"
	setup zram0 32M "$algorithm"
	compacting &
	compacting &
	check "$algorithm: content under compaction" stress -t 4 \
		-n $((8000 * TEST_SCALE)) /dev/zram0 6144
	: > "$TEST_TMP/stop"
	wait
	check "$algorithm: compaction did not fail" test ! -s "$TEST_TMP/compact-errors"
	at_least "$algorithm: pages were freed by it" "$(stat_of zram0 mm_stat 7)" 1
	reset zram0
done

# --- streams in a list ---
unload
load force_stream_list=1 num_devices=1
for algorithm in lzo-rle zstd; do
	puts "$algorithm: a list of one stream" /sys/block/zram0/max_comp_streams 1 OK
	setup zram0 16M "$algorithm"
	is "$algorithm: it has one" "$(attr zram0 max_comp_streams)" 1
	puts "$algorithm: it stays so while in use" \
		/sys/block/zram0/max_comp_streams 2 EBUSY
	check "$algorithm: four threads, one stream" stress -t 4 \
		-n $((1000 * TEST_SCALE)) /dev/zram0 2048
	reset zram0
	is "$algorithm: a reset forgets it" "$(attr zram0 max_comp_streams)" "$(nproc)"
done

finish
