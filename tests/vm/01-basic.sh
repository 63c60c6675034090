#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=120 smoke
#
# The example of the kernel's documentation, step by step, and zramctl.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=4

for i in 0 1 2 3; do
	check "num_devices=4 creates /dev/zram$i" test -b "/dev/zram$i"
done
check "and no more" test ! -e /dev/zram4

algorithm=$(algorithms zram0 | tr ' ' '\n' | grep -v '^$' | tail -n 1)
puts "choose $algorithm" /sys/block/zram0/comp_algorithm "$algorithm" OK
check "it is selected" grep -qF "[$algorithm]" /sys/block/zram0/comp_algorithm

puts "disksize in bytes" /sys/block/zram0/disksize $((50 * 1024 * 1024)) OK
puts "disksize with K" /sys/block/zram1/disksize 25600K OK
puts "disksize with M" /sys/block/zram2/disksize 256M OK
puts "disksize with G" /sys/block/zram3/disksize 1G OK
is "50 MB" "$(blockdev --getsize64 /dev/zram0)" 52428800
is "25600K" "$(attr zram1 disksize)" 26214400
is "256M" "$(attr zram2 disksize)" 268435456
is "1G" "$(attr zram3 disksize)" 1073741824

puts "mem_limit in bytes" /sys/block/zram0/mem_limit $((50 * 1024 * 1024)) OK
puts "mem_limit with K" /sys/block/zram0/mem_limit 256K OK
is "mm_stat shows 256K" "$(stat_of zram0 mm_stat 4)" 262144
puts "mem_limit with M" /sys/block/zram0/mem_limit 256M OK
puts "mem_limit with G" /sys/block/zram0/mem_limit 1G OK
is "mm_stat shows 1G" "$(stat_of zram0 mm_stat 4)" 1073741824
puts "mem_limit 0 takes the limit away" /sys/block/zram0/mem_limit 0 OK
is "mm_stat shows none" "$(stat_of zram0 mm_stat 4)" 0

check "mkswap" mkswap /dev/zram0
check "swapon" swapon /dev/zram0
check "it is in use" grep -q /dev/zram0 /proc/swaps
check "mkfs.ext4" mkfs.ext4 -q /dev/zram1
mkdir -p "$TEST_TMP/mnt"
check "mount" mount /dev/zram1 "$TEST_TMP/mnt"
cp -r /etc/init.d "$TEST_TMP/mnt/copy"
check "files are there" diff -r /etc/init.d "$TEST_TMP/mnt/copy"
at_least "bytes stored" "$(orig_data zram1)" 4096
at_least "memory used" "$(mem_used zram1)" 4096

check "swapoff" swapoff /dev/zram0
check "umount" umount "$TEST_TMP/mnt"
check "mount once more" mount /dev/zram1 "$TEST_TMP/mnt"
check "files are still there" diff -r /etc/init.d "$TEST_TMP/mnt/copy"
check "umount at last" umount "$TEST_TMP/mnt"

id=$(cat "$CTL/hot_add")
is "hot_add tells the new number" "$id" 4
check "the node appears" test -b /dev/zram4
puts "hot_remove" "$CTL/hot_remove" "$id" OK
check "the node disappears" test ! -e /dev/zram4

for i in 0 1; do
	puts "reset zram$i" "/sys/block/zram$i/reset" 1 OK
	is "zram$i has no size" "$(attr zram$i disksize)" 0
	is "zram$i has no capacity" "$(blockdev --getsize64 /dev/zram$i)" 0
	is "zram$i has no pages" "$(orig_data zram$i)" 0
done
puts "another disksize after reset" /sys/block/zram0/disksize 8M OK

for i in 0 1 2 3; do
	reset zram$i
done
dev=$(zramctl --find --size 16M --algorithm lzo)
is "zramctl --find" "$dev" /dev/zram0
is "zramctl set the algorithm" "$(zramctl -n --raw -o ALGORITHM "$dev")" lzo
is "zramctl set the size" "$(zramctl -bn --raw -o DISKSIZE "$dev")" 16777216
check "write to it" dd if=/dev/urandom of="$dev" bs=4k count=16 oflag=direct status=none
is "zramctl shows the data" "$(zramctl -bn --raw -o DATA "$dev")" 65536
# It resets the device, then removes it.
check "zramctl --reset" zramctl --reset "$dev"
check "the device is gone" test ! -e /sys/block/zram0

finish
