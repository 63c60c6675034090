#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=no qemu=yes timeout=180
#
# A CPU comes and goes during I/O and during set-up and reset.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=2
corpus 4

CPU=/sys/devices/system/cpu/cpu1/online
[ -w $CPU ] || bail "no CPU can be taken away"

toggling() {
	local n=0

	while [ ! -e "$TEST_TMP/stop" ]; do
		echo 0 > $CPU && echo 1 > $CPU && n=$((n + 1))
	done
	echo $n > "$TEST_TMP/toggled"
}

for algorithm in lzo-rle zstd; do
	rm -f "$TEST_TMP/stop"
	setup zram0 16M $algorithm
	toggling &
	check "$algorithm: content while a CPU comes and goes" "$TEST_BIN/stress" -t 4 \
		-n $((8000 * TEST_SCALE)) -S "$TEST_SEED" /dev/zram0 2048
	for _ in 1 2 3 4 5 6 7 8; do
		setup zram1 1M $algorithm
		dd if="$TEST_CORPUS" of=/dev/zram1 bs=64k count=16 oflag=direct status=none
		cmp -n 1048576 "$TEST_CORPUS" /dev/zram1 || break
		reset zram1
	done
	is "$algorithm: set-up and reset meanwhile" "$(attr zram1 disksize)" 0
	: > "$TEST_TMP/stop"
	wait
	at_least "$algorithm: times the CPU went" "$(cat "$TEST_TMP/toggled")" 3
	is "$algorithm: no failed write" "$(failed_writes zram0)" 0
	reset zram0
done

# A device set up while a CPU is away works on that CPU when it is back.
echo 0 > $CPU
setup zram0 4M zstd
echo 1 > $CPU
check "set up without CPU 1, used on it" taskset -c 1 "$TEST_BIN/stress" -t 1 \
	-n 500 -S "$TEST_SEED" /dev/zram0 1024
echo 0 > $CPU
blkdiscard /dev/zram0
check "and used without it" "$TEST_BIN/model" zram0 1024 300 "$TEST_SEED"
puts "reset without it" /sys/block/zram0/reset 1 OK
check "rmmod without it" rmmod zram
echo 1 > $CPU
load num_devices=1
setup zram0 4M zstd
check "and with it after loading again" taskset -c 1 "$TEST_BIN/model" zram0 1024 \
	300 "$TEST_SEED"

finish
