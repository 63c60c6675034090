#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=180
#
# hot_add, disksize, open, I/O, compact, reset and hot_remove, all at once.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=2

check "churn" "$TEST_BIN/churn" $((8 * TEST_SCALE)) "$TEST_SEED"
check "nothing is left" test "$(echo /sys/block/zram*)" = '/sys/block/zram*'
is "hot_add starts at 0" "$(cat "$CTL/hot_add")" 0
setup zram0 4M lzo-rle
check "and the device works" "$TEST_BIN/model" zram0 1024 300 "$TEST_SEED"

# The module goes while the last reset is being worked off.
reset zram0
check "rmmod" rmmod zram

# Readers of sysfs while devices come and go
load num_devices=0
reading() {
	local f

	while [ ! -e "$TEST_TMP/stop" ]; do
		for f in /sys/block/zram*/{mm_stat,io_stat,comp_algorithm,disksize}; do
			mapfile -t _ < "$f"
		done
	done 2> /dev/null
}

come_and_go() {
	local id

	id=$(< "$CTL/hot_add") || return
	echo 4M > "/sys/block/zram$id/disksize" || return
	echo 1 > "/sys/block/zram$id/reset" || return
	echo "$id" > "$CTL/hot_remove"
}

rm -f "$TEST_TMP/stop"
reading &
good=0
for i in $(seq $((30 * TEST_SCALE))); do
	come_and_go || break
	good=$i
done
: > "$TEST_TMP/stop"
wait
is "devices come and go under readers" "$good" $((30 * TEST_SCALE))

finish
