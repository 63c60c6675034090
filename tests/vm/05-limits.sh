#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=120
#
# mem_limit, a disksize that cannot be had, memory given back, and that blocks
# never written or discarded read as zeroes.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1

Z=/sys/block/zram0
D=/dev/zram0
limit=$((4 * 1048576))

# shellcheck disable=SC2317 # check calls it
zeroes() { cmp -n "$2" "$1" /dev/zero; }
dio() { dd status=none bs=64k oflag=direct "$@"; }

# --- never written, discarded ---
setup zram0 16M
check "a new device reads as zeroes" zeroes $D 16777216
check "reading stores nothing" test "$(orig_data zram0)" -eq 0
dio if=/dev/urandom of=$D count=64
refuse "after random data it does not" zeroes $D 4194304
check "what follows it does" cmp -n 12582912 -i 4194304:0 $D /dev/zero
check "discard the first half of the data" blkdiscard -l 2M $D
check "it reads as zeroes" zeroes $D 2097152
is "the other half is kept" "$(orig_data zram0)" 2097152
check "write zeroes to the rest" blkdiscard -z $D
check "all reads as zeroes" zeroes $D 16777216
is "nothing is stored" "$(compr_data zram0)" 0

# --- the limit ---
reset zram0
setup zram0 64M
puts "a small mem_limit" $Z/mem_limit 1M OK
check "pages of all kinds beyond it: a write fails, the rest is right" \
	"$TEST_BIN/stress" -t 2 -n 3000 -E -S "$TEST_SEED" $D 8192
at_most "mem_used_max of that" "$(stat_of zram0 mm_stat 5)" 1048576
check "discard them" blkdiscard $D
puts "mem_limit" $Z/mem_limit $limit OK
before=$(failed_writes zram0)
check "random data beyond the limit: a write fails, the rest is right" \
	"$TEST_BIN/stress" -t 2 -n 3000 -k 2 -E -S "$TEST_SEED" $D 8192
at_least "failed_writes grew" "$(failed_writes zram0)" $((before + 1))
at_most "mem_used_total" "$(mem_used zram0)" $limit
at_most "mem_used_max" "$(stat_of zram0 mm_stat 5)" $limit
at_least "the limit is used" "$(mem_used zram0)" $((limit * 95 / 100))
refuse "one more write fails" dio if=/dev/urandom of=$D seek=512 count=32
dio if=/dev/zero of=$D seek=512 count=1
check "zero pages need no memory" test $? -eq 0
check "discard makes room" blkdiscard $D
check "and writing works again" dio if=/dev/urandom of=$D count=32
head -c 1M < $D > "$TEST_TMP/kept"
puts "a limit below what is used is taken" $Z/mem_limit 64K OK
refuse "then a write fails" dio if=/dev/urandom of=$D seek=256 count=8
check "what was there stays" cmp -n 1048576 $D "$TEST_TMP/kept"
puts "no limit" $Z/mem_limit 0 OK
check "and writing works once more" dio if=/dev/urandom of=$D seek=256 count=64
check "what was there still stays" cmp -n 1048576 $D "$TEST_TMP/kept"
is "no invalid I/O was counted" "$(stat_of zram0 io_stat 3)" 0
is "no failed read was counted" "$(stat_of zram0 io_stat 1)" 0

# --- memory comes back ---
reset zram0
setup zram0 64M
remember_free
dio if=/dev/urandom of=$D count=512
at_least "32 MB of random data take memory (kB)" "$(taken_kb)" 30000
at_least "mem_used_total says so" "$(mem_used zram0)" 33554432
check "discard all" blkdiscard $D
# One empty zspage of each class may stay.
at_most "mem_used_total after discard" "$(mem_used zram0)" 1048576
given_back "memory still taken after discard (kB)" 8000
dio if=/dev/urandom of=$D count=512
reset zram0
# A reset frees in the background; a new disksize waits for that.
setup zram0 64M
given_back "memory still taken after reset (kB)" 8000
is "nothing is stored after reset" "$(mem_used zram0)" 0
check "and it reads as zeroes" zeroes $D 33554432

# --- a size that cannot be had ---
reset zram0
for size in $((1 << 62)) $((1 << 60)) 1P 17592186044416K; do
	puts "disksize $size is refused" $Z/disksize "$size" "E*"
	is "no size is set by $size" "$(attr zram0 disksize)" 0
	is "initstate stays 0 after $size" "$(attr zram0 initstate)" 0
	is "no capacity is set by $size" "$(blockdev --getsize64 $D)" 0
done
puts "a normal size still works" $Z/disksize 16M OK
head -c 4M /dev/urandom > "$TEST_TMP/data"
dio if="$TEST_TMP/data" of=$D count=64
check "and holds data" cmp -n 4194304 "$TEST_TMP/data" $D
rm -f "$TEST_TMP/data" "$TEST_TMP/kept"

finish
