#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=256M swap uml=yes qemu=yes timeout=300
#
# Swap under memory pressure: programs fill more memory than there is and
# verify every page; a big one is killed while swapped out; swapoff.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1

D=/dev/zram0
fill="$TEST_BIN/swapfill"
corpus 8

available_mb() { awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo; }

swapped() { awk '/^pswpout/ { print $2 }' /proc/vmstat; }

swap_on() {
	setup zram0 512M "$1"
	mkswap $D > /dev/null
	# shellcheck disable=SC2086 # options
	swapon ${2:-} $D || bail "swapon failed"
}

# start_hold MB: a process that holds so many megabytes, all filled
start_hold() {
	mkfifo "$TEST_TMP/fifo"
	"$fill" 1 "$1" "$TEST_SEED" hold > "$TEST_TMP/fifo" 2> "$TEST_TMP/held" &
	hold=$!
	read -r _ < "$TEST_TMP/fifo"
	rm "$TEST_TMP/fifo"
}

# KASAN gives freed objects back when somebody allocates who may sleep. Swapping
# alone never does: what it frees would fill the memory. Starting programs does.
while sleep 0.2; do :; done &
others=$!

ram=$(available_mb)
diag "$ram MB available"

swap_on lzo-rle
out=$(swapped)
each=$((ram * 3 / 2 / 3))
check "three processes, 1.5 × the memory there is" \
	"$fill" 3 $each "$TEST_SEED"
at_least "pages were swapped out" \
	$(($(swapped) - out)) $((ram * 256 / 4))
at_least "which stat counts as writes" \
	"$(stat_of zram0 stat 5)" $(($(swapped) - out))
at_least "and freed (notify_free)" \
	"$(stat_of zram0 io_stat 4)" $((ram * 256 / 4))
is "no failed read" "$(stat_of zram0 io_stat 1)" 0
check "swapoff" swapoff $D
reset zram0

# --- a big process goes away ---
swap_on zstd --discard
start_hold $((ram * 5 / 4))
stored=$(orig_data zram0)
at_least "a big process is swapped out (bytes)" "$stored" $((ram * 1048576 / 4))
kill -KILL $hold
wait $hold 2> /dev/null
is "it was killed by us" $? 137
# Slots cached per CPU and pages of others stay.
at_most "its exit frees what it had in swap" "$(orig_data zram0)" \
	$((stored / 4 + 8388608))

# --- swapoff brings everything back ---
start_hold $((ram / 3))
check "push it out" "$fill" 2 $((ram / 2)) "$TEST_SEED"
at_least "it is in swap (bytes)" "$(orig_data zram0)" $((ram * 1048576 / 8))
check "swapoff with pages in use" swapoff $D
at_most "nothing is left on the device but the header" "$(orig_data zram0)" 65536
kill -USR1 $hold
wait $hold
is "what swapoff read back is right" $? 0
sed 's/^/# /' "$TEST_TMP/held"
reset zram0

kill $others
finish
