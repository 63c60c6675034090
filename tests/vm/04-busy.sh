#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=1 mem=1G uml=yes qemu=yes timeout=120 smoke
#
# A device in use cannot be reset, resized or removed, nor the module.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1

Z=/sys/block/zram0
mkdir -p "$TEST_TMP/mnt"

refused() {
	puts "$1: reset is refused" $Z/reset 1 EBUSY
	puts "$1: disksize is refused" $Z/disksize 32M EBUSY
	puts "$1: comp_algorithm is refused" $Z/comp_algorithm lzo EBUSY
	puts "$1: hot_remove is refused" "$CTL/hot_remove" 0 EBUSY
	refuse "$1: rmmod is refused" rmmod zram
	is "$1: it is still set up" "$(attr zram0 disksize)" 16777216
}

setup zram0 16M
exec 7< /dev/zram0
refused "open for reading"
exec 7<&-
exec 7<> /dev/zram0
refused "open for writing"
exec 7<&-

head -c 1M /dev/urandom > "$TEST_TMP/data"
mkfs.ext4 -q /dev/zram0
mount /dev/zram0 "$TEST_TMP/mnt"
cp "$TEST_TMP/data" "$TEST_TMP/mnt/data"
refused "mounted"
check "mounted: files can be written" cp "$TEST_TMP/data" "$TEST_TMP/mnt/data2"
umount "$TEST_TMP/mnt"
mount /dev/zram0 "$TEST_TMP/mnt"
check "mounted: the first file is right" cmp "$TEST_TMP/data" "$TEST_TMP/mnt/data"
check "mounted: the second file is right" cmp "$TEST_TMP/data" "$TEST_TMP/mnt/data2"
umount "$TEST_TMP/mnt"

mkswap /dev/zram0 > /dev/null
swapon /dev/zram0
refused "swapped on"
check "swapped on: swapoff" swapoff /dev/zram0

puts "not in use: reset" $Z/reset 1 OK
puts "not in use: reset once more" $Z/reset 1 OK
setup zram0 16M
puts "not in use: hot_remove" "$CTL/hot_remove" 0 OK
check "the device is gone" test ! -e $Z

# A removed number is used again.
is "hot_add gives the free number" "$(cat "$CTL/hot_add")" 0
is "the new device is not set up" "$(attr zram0 initstate)" 0
rm -f "$TEST_TMP/data"

finish
