#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=120 smoke
#
# Which attributes there are, their permissions, formats and first values.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2119 # no parameters on purpose
begin

Z=/sys/block/zram0

# NAME MODE
while read -r name mode; do
	is "$name has mode $mode" "$(stat -c %a "$Z/$name" 2>&1)" "$mode"
done << 'END'
disksize 644
initstate 444
reset 200
comp_algorithm 644
max_comp_streams 644
mem_limit 200
mem_used_max 200
compact 200
mm_stat 444
io_stat 444
debug_stat 444
stat 444
END
is "hot_add has mode 400" "$(stat -c %a "$CTL/hot_add")" 400
is "hot_remove has mode 200" "$(stat -c %a "$CTL/hot_remove")" 200
check "one device by default" test -b /dev/zram0 -a ! -e /dev/zram1

# numbers NAME FILE COLUMNS: one line of that many numbers and nothing else
numbers() {
	local re

	re=$(printf '[[:space:]]*[0-9]+%.0s' $(seq "$3"))
	is "$1: one line" "$(wc -l < "$2")" 1
	check "$1: $3 columns of numbers" grep -qE "^$re\$" "$2"
	is "$1: as many columns" "$(wc -w < "$2")" "$3"
}

shows() {
	is "$1: initstate" "$(attr zram0 initstate)" "$2"
	is "$1: disksize" "$(attr zram0 disksize)" "$3"
	numbers "$1: mm_stat" $Z/mm_stat 9
	numbers "$1: io_stat" $Z/io_stat 4
	at_least "$1: debug_stat has text" "$(wc -c < $Z/debug_stat)" 1
	check "$1: debug_stat has a version" grep -q '^version: [0-9]' $Z/debug_stat
}

shows "before set-up" 0 0
is "mm_stat is all zero" "$(tr -s ' ' < $Z/mm_stat | tr -d ' ')" 000000000
is "io_stat is all zero" "$(tr -d ' ' < $Z/io_stat)" 0000

check "one algorithm is in brackets" grep -qE '^[^][]*\[[a-z0-9-]+\][^][]*$' \
	$Z/comp_algorithm
check "the default is lzo-rle" grep -qF '[lzo-rle]' $Z/comp_algorithm
for a in lzo lzo-rle lz4 zstd; do
	check "$a is offered" grep -qwF "$a" <(algorithms zram0)
	puts "$a can be chosen" $Z/comp_algorithm "$a" OK
	check "$a is in brackets" grep -qF "[$a]" $Z/comp_algorithm
done
puts "without a newline, too" $Z/comp_algorithm lzo OK
check "lzo is in brackets" grep -qF '[lzo]' $Z/comp_algorithm
check "max_comp_streams is a number" grep -qE '^[1-9][0-9]*$' $Z/max_comp_streams
puts "max_comp_streams takes 4" $Z/max_comp_streams 4 OK

puts "disksize of 1000000 bytes" $Z/disksize 1000000 OK
is "is rounded up to pages" "$(attr zram0 disksize)" 1003520
shows "when set up" 1 1003520

for i in 0 1 2; do
	dd if=/dev/zero of=/dev/zram0 bs=4k count=1 seek=$i oflag=direct status=none
done
dd if=/dev/urandom of=/dev/zram0 bs=4k count=5 seek=3 oflag=direct status=none
is "orig_data_size counts what was written" "$(orig_data zram0)" $((8 * 4096))
is "same_pages counts the zero pages" "$(stat_of zram0 mm_stat 6)" 3
is "huge_pages counts the random ones" "$(stat_of zram0 mm_stat 8)" 5
is "huge_pages_since, too" "$(stat_of zram0 mm_stat 9)" 5
is "compr_data_size of random pages" "$(compr_data zram0)" $((5 * 4096))
at_least "mem_used_total" "$(mem_used zram0)" $((5 * 4096))
at_least "mem_used_max" "$(stat_of zram0 mm_stat 5)" "$(mem_used zram0)"
is "stat counts the writes" "$(stat_of zram0 stat 5)" 8
is "stat counts their sectors" "$(stat_of zram0 stat 7)" 64
dd if=/dev/zram0 of=/dev/null bs=4k count=2 iflag=direct status=none
is "stat counts the reads" "$(stat_of zram0 stat 1)" 2

max=$(stat_of zram0 mm_stat 5)
check "discard all" blkdiscard /dev/zram0
is "orig_data_size is 0" "$(orig_data zram0)" 0
is "compr_data_size is 0" "$(compr_data zram0)" 0
is "same_pages is 0" "$(stat_of zram0 mm_stat 6)" 0
is "huge_pages is 0" "$(stat_of zram0 mm_stat 8)" 0
is "huge_pages_since stays" "$(stat_of zram0 mm_stat 9)" 5
is "mem_used_max stays" "$(stat_of zram0 mm_stat 5)" "$max"
puts "mem_used_max takes 0" $Z/mem_used_max 0 OK
is "mem_used_max is what is used now" "$(stat_of zram0 mm_stat 5)" "$(mem_used zram0)"
puts "compact takes 1" $Z/compact 1 OK

puts "mem_limit" $Z/mem_limit 1M OK
puts "reset takes 1" $Z/reset 1 OK
shows "after reset" 0 0
is "mem_limit is gone" "$(stat_of zram0 mm_stat 4)" 0
is "huge_pages_since is 0" "$(stat_of zram0 mm_stat 9)" 0
check "the algorithm is the default again" grep -qF '[lzo-rle]' $Z/comp_algorithm

is "logical block size" "$(attr zram0 queue/logical_block_size)" 4096
is "physical block size" "$(attr zram0 queue/physical_block_size)" \
	"$(getconf PAGESIZE)"
is "not rotational" "$(attr zram0 queue/rotational)" 0
is "discard granularity" "$(attr zram0 queue/discard_granularity)" \
	"$(getconf PAGESIZE)"
at_least "discard is offered" "$(attr zram0 queue/discard_max_bytes)" 4096
is "stable writes" "$(attr zram0 queue/stable_writes)" 1

finish
