#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=1 mem=1G uml=yes qemu=yes timeout=120
#
# Every attribute, every kind of bad value: an error, and nothing changed.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=2

Z=/sys/block/zram0
long=$(printf '%4094s' '' | tr ' ' 7)	# 4095 bytes with the newline
letters=$(printf '%4094s' '' | tr ' ' x)

# All that sysfs shows of a device and of the module, in $all.
everything() {
	local f
	local -a lines

	all=$(echo /sys/block/zram*)
	for f in disksize initstate comp_algorithm max_comp_streams mm_stat io_stat; do
		mapfile -t lines < "/sys/block/$1/$f"
		all+=" $f: ${lines[*]}"
	done
}

# bad DEVICE FILE VALUE EXPECTED LABEL
bad() {
	local before after got

	everything "$1"
	before=$all
	got=$(put "$2" "$3")
	everything "$1"
	after=$all
	# shellcheck disable=SC2254 # a pattern on purpose
	case $got in
	$4) ;;
	*)
		diag "$got, expected $4"
		fail "$2: $5"
		return
		;;
	esac
	if [ "$before" = "$after" ]; then
		pass "$2: $5 is $got"
	else
		diag "before: $before"
		diag "after: $after"
		fail "$2: $5 is $got, but something changed"
	fi
}

# What is wrong for every attribute that takes a value.
bad_values() {
	local dev=$1 file=$2

	bad "$dev" "$file" "" EINVAL "an empty line"
	bad "$dev" "$file" " " EINVAL "a blank"
	bad "$dev" "$file" -1 EINVAL "a negative value"
	bad "$dev" "$file" -9223372036854775808 "E*" "the most negative value"
	bad "$dev" "$file" rubbish EINVAL "a word"
	bad "$dev" "$file" 1x EINVAL "a number with rubbish"
	bad "$dev" "$file" "1 1" EINVAL "two numbers"
	bad "$dev" "$file" 0x EINVAL "a prefix without a number"
	bad "$dev" "$file" key=value EINVAL "an unknown key"
	bad "$dev" "$file" "$letters" EINVAL "4095 bytes of letters"
}

overflowing() {
	bad "$1" "$2" 18446744073709551616 "E*" "2^64"
	bad "$1" "$2" 99999999999999999999999999 "E*" "26 digits"
	bad "$1" "$2" "$long" "E*" "4095 bytes of digits"
}

sizes() {
	bad "$1" "$2" 1.5M EINVAL "a fraction"
	bad "$1" "$2" M EINVAL "a suffix alone"
	bad "$1" "$2" 1MM EINVAL "two suffixes"
	bad "$1" "$2" 1Mx EINVAL "a suffix with rubbish"
	bad "$1" "$2" 18446744073709551615K "E*" "2^64 - 1 K"
	bad "$1" "$2" 16777216T "E*" "2^64 by suffix"
}

# A device that is not set up
for f in disksize mem_limit; do
	bad_values zram0 $Z/$f
	overflowing zram0 $Z/$f
	sizes zram0 $Z/$f
done
bad zram0 $Z/disksize 0 EINVAL "zero"
bad_values zram0 $Z/comp_algorithm
overflowing zram0 $Z/comp_algorithm
bad zram0 $Z/comp_algorithm "lzo lz4" EINVAL "two algorithms"
bad zram0 $Z/comp_algorithm lzoo EINVAL "a longer name"
bad zram0 $Z/comp_algorithm lz EINVAL "a shorter name"
bad zram0 $Z/comp_algorithm "[lzo]" EINVAL "a name in brackets"
bad zram0 $Z/comp_algorithm LZO EINVAL "a name in capitals"
bad_values zram0 $Z/max_comp_streams
overflowing zram0 $Z/max_comp_streams
bad zram0 $Z/max_comp_streams 0 EINVAL "zero"
bad_values zram0 $Z/reset
overflowing zram0 $Z/reset
bad zram0 $Z/reset 0 EINVAL "zero"
bad zram0 $Z/compact 1 EINVAL "compaction of nothing"

# One that is, with data in it
setup zram0 8M
"$TEST_BIN/stress" -n 500 -S "$TEST_SEED" /dev/zram0 512 > /dev/null
sum=$(md5sum < /dev/zram0)
bad_values zram0 $Z/reset
bad zram0 $Z/reset 0 EINVAL "zero"
bad_values zram0 $Z/mem_limit
overflowing zram0 $Z/mem_limit
sizes zram0 $Z/mem_limit
bad_values zram0 $Z/mem_used_max
overflowing zram0 $Z/mem_used_max
bad zram0 $Z/mem_used_max 1 EINVAL "one"
bad_values zram0 $Z/compact
overflowing zram0 $Z/compact
bad zram0 $Z/disksize 16M EBUSY "another size"
bad zram0 $Z/disksize 8M EBUSY "the same size"
bad zram0 $Z/comp_algorithm lzo EBUSY "another algorithm"
bad zram0 $Z/comp_algorithm lzo-rle EBUSY "the same algorithm"
bad zram0 $Z/comp_algorithm rubbish "E[BI]*" "an unknown algorithm"
for f in mm_stat io_stat debug_stat initstate stat; do
	bad zram0 $Z/$f 1 "E*" "writing what can only be read"
done
# An attribute that cannot be read refuses even root.
for f in reset compact mem_limit mem_used_max; do
	refuse "$f cannot be read" cat $Z/$f
done
bad_values zram0 "$CTL/hot_remove"
overflowing zram0 "$CTL/hot_remove"
bad zram0 "$CTL/hot_remove" 77 ENODEV "no such device"
bad zram0 "$CTL/hot_remove" 2147483647 ENODEV "the largest number"
bad zram0 "$CTL/hot_remove" 2147483648 "E*" "one more"
bad zram0 "$CTL/hot_remove" 4294967296 "E*" "2^32, which is not 0"
bad zram0 "$CTL/hot_add" 1 "E*" "writing what can only be read"
refuse "hot_remove cannot be read" cat "$CTL/hot_remove"
is "the data is as it was" "$(md5sum < /dev/zram0)" "$sum"
unload

# Module parameters
for p in -1 rubbish 99999999999 4294967296 1x; do
	load_libraries
	refuse "num_devices=$p is refused" insmod "$ZRAM_KO" "num_devices=$p"
	check "nothing is left of it" test ! -d /sys/module/zram -a ! -d "$CTL"
done
refuse "too many devices are refused" insmod "$ZRAM_KO" num_devices=4294967295
check "nothing is left of them" test ! -d /sys/module/zram -a ! -e /dev/zram0
load num_devices=0
check "num_devices=0 creates none" test ! -e /dev/zram0
is "the first hot_add is 0" "$(cat "$CTL/hot_add")" 0

finish
