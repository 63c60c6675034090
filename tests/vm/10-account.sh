#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=240
#
# How much memory the driver needs for what it stores: at most 4 % more than
# the compressed bytes after a fill with real pages, at most 10 % more when a
# random half of them was discarded and the rest compacted.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1

mb=$((128 * TEST_SCALE))

# Memory used in thousandths of the bytes stored
overhead() { echo $(($(mem_used zram0) * 1000 / $(compr_data zram0))); }

setup zram0 ${mb}M lzo-rle
corpus $mb
pages=$(($(stat -c %s "$TEST_CORPUS") / 4096))
dd if="$TEST_CORPUS" of=/dev/zram0 bs=1M count=$((pages * 4096)) \
	iflag=fullblock,count_bytes oflag=direct status=none
diag "mm_stat: $(attr zram0 mm_stat)"
is "all pages are stored" "$(orig_data zram0)" $((pages * 4096))
at_most "memory per byte stored, 1/1000, after the fill" "$(overhead)" 1040

check "discard a random half" "$TEST_BIN/holes" /dev/zram0 "$pages" "$TEST_SEED"
diag "mm_stat: $(attr zram0 mm_stat)"
half=$(orig_data zram0)
at_most "half of the data is left" "$half" $((pages * 4096 * 53 / 100))
before=$(mem_used zram0)
puts "compact" /sys/block/zram0/compact 1 OK
diag "mm_stat: $(attr zram0 mm_stat)"
at_most "memory per byte stored, 1/1000, compacted" "$(overhead)" 1100
at_most "compaction freed memory" "$(mem_used zram0)" $((before - 1))
is "pages_compacted counts it" "$(stat_of zram0 mm_stat 7)" \
	$(((before - $(mem_used zram0)) / 4096))
is "no data was lost in numbers" "$(orig_data zram0)" "$half"
check "nor in content" "$TEST_BIN/holes" -v /dev/zram0 "$pages" "$TEST_SEED"

finish
