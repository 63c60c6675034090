#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=240 smoke
#
# Load and unload, many times and at bad moments, and beside the in-tree driver.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1
corpus 2
rmmod zram

# One life of the module: store pages and leave as $1 says; "full" compares.
life() {
	insmod "$ZRAM_KO" num_devices=1 || return
	echo "$2" > /sys/block/zram0/comp_algorithm || return
	echo 2M > /sys/block/zram0/disksize || return
	dd if="$TEST_CORPUS" of=/dev/zram0 bs=256k oflag=direct status=none || return
	case $1 in
	full) cmp -n 2097152 "$TEST_CORPUS" /dev/zram0 || return ;;
	reset) echo 1 > /sys/block/zram0/reset || return ;;
	remove) echo 0 > "$CTL/hot_remove" || return ;;
	esac
	rmmod zram || return
	[ ! -e /dev/zram0 ] && [ ! -e "$CTL" ] && [ ! -e /sys/module/zram ] &&
		! grep -qw zram /proc/devices
}

lives=50
[ -z "${TEST_SMOKE:-}" ] || lives=12
good=0
life full lzo-rle && good=1	# warms up
remember_free
for i in $(seq 2 $lives); do
	set -- reset leave reset full reset remove
	shift $((i % 6))
	way=$1
	set -- lzo-rle zstd lzo lz4
	shift $((i % 4))
	life "$way" "$1" || break
	good=$i
done
is "$lives × load, fill, compare, unload; rmmod right after reset" "$good" "$lives"
given_back "memory lost by that (kB)" 6000

# rmmod while a reset with much data is still being worked off
corpus 32
remember_free
load num_devices=4
for i in 0 1 2 3; do
	setup zram$i 64M lzo-rle
	dd if="$TEST_CORPUS" of=/dev/zram$i bs=1M oflag=direct status=none
done
for i in 0 1 2; do
	echo 1 > /sys/block/zram$i/reset
done
check "rmmod right after three resets" rmmod zram
given_back "memory lost by that, too (kB)" 6000

# What "make load" and "make unload" do once the module is built
load_sh() { "$(dirname "$0")/../../scripts/load.sh" "$@"; }

# told NAME PATTERN COMMAND...: it must fail and say why
told() {
	local name=$1 pattern=$2

	shift 2
	refuse "$name" "$@"
	check "$name: the reason is told" grep -qi "$pattern" <("$@" 2>&1)
}

check "load.sh loads" load_sh load "$ZRAM_KO"
check "the device is there" test -b /dev/zram0
told "load.sh with a driver loaded" "is loaded.*rmmod zram" load_sh load "$ZRAM_KO"
setup zram0 4M lzo-rle
check "what load.sh loaded works" "$TEST_BIN/model" zram0 1024 200 "$TEST_SEED"
exec 5< /dev/zram0
told "load.sh unload with a device open" "in use" load_sh unload
exec 5<&-
check "load.sh unloads" load_sh unload
told "load.sh unload without a driver" "not loaded" load_sh unload

# insmod twice
load num_devices=1
setup zram0 4M lzo-rle
refuse "a second insmod is refused" insmod "$ZRAM_KO"
check "the first still works" "$TEST_BIN/model" zram0 1024 200 "$TEST_SEED"
rmmod zram

# The in-tree driver has the same name: the kernel refuses whichever is second.
intree=$(modinfo -n zram 2> /dev/null)
if [ -z "$intree" ] || [ "$intree" = "$ZRAM_KO" ] || [ ! -e "$intree" ]; then
	skip "beside the in-tree driver" "this kernel has none"
else
	modprobe zram || bail "the in-tree driver does not load"
	told "load.sh beside the in-tree driver" "is loaded.*rmmod zram" \
		load_sh load "$ZRAM_KO"
	check "insmod beside the in-tree driver: the reason is told" \
		grep -qi 'file exists' <(insmod "$ZRAM_KO" 2>&1)
	setup zram0 4M
	check "the in-tree driver still works" dd if="$TEST_CORPUS" of=/dev/zram0 \
		bs=4k count=64 oflag=direct status=none
	check "and unloads" rmmod zram
	load num_devices=1
	refuse "the in-tree driver beside ours is refused" insmod "$intree"
	setup zram0 4M lzo-rle
	check "ours still works" "$TEST_BIN/model" zram0 1024 200 "$TEST_SEED"
fi

finish
