#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=no timeout=240
#
# Allocations fail: a bio fails or succeeds, but nothing is ever corrupt and
# nothing half-done is left behind. Needs fault injection in the kernel.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1
corpus 4

DEBUG=/sys/kernel/debug
if [ ! -d $DEBUG/failslab ] || [ ! -d $DEBUG/fail_page_alloc ]; then
	bail "this kernel has no fault injection"
fi

# inject KIND PER-CENT: for processes with make-it-fail set
inject() {
	echo Y > "$DEBUG/$1/task-filter"
	echo N > "$DEBUG/$1/ignore-gfp-wait"
	[ ! -e "$DEBUG/$1/ignore-gfp-highmem" ] || echo N > "$DEBUG/$1/ignore-gfp-highmem"
	[ ! -e "$DEBUG/$1/min-order" ] || echo 0 > "$DEBUG/$1/min-order"
	echo 0 > "$DEBUG/$1/verbose"
	echo -1 > "$DEBUG/$1/times"
	echo 1 > "$DEBUG/$1/interval"
	echo "$2" > "$DEBUG/$1/probability"
}

for kind in fail_page_alloc failslab; do
	for algorithm in lzo-rle zstd; do
		setup zram0 16M $algorithm
		inject $kind 10
		check "$kind, $algorithm: content is never wrong" \
			"$TEST_BIN/stress" -f -t 4 -n $((1500 * TEST_SCALE)) \
			-S "$TEST_SEED" /dev/zram0 2048
		inject $kind 0
		check "$kind, $algorithm: all can be read" dd if=/dev/zram0 \
			of=/dev/null bs=1M iflag=direct status=none
		check "$kind, $algorithm: discard" blkdiscard /dev/zram0
		is "$kind, $algorithm: nothing is left" "$(compr_data zram0)" 0
		check "$kind, $algorithm: works again" "$TEST_BIN/model" zram0 4096 \
			200 "$TEST_SEED"
		reset zram0
	done
done

# Set-up and hot_add fail or succeed, whole.
# A large table and the working memory of zstd give each kind enough to fail.
for kind in fail_page_alloc failslab; do
	case $kind in
	failslab) inject $kind 5 ;;
	*) inject $kind 30 ;;
	esac
	good=0 bad=0
	for _ in $(seq $((60 * TEST_SCALE))); do
		must /sys/block/zram0/comp_algorithm zstd
		got=$("$TEST_BIN/sysput" -f /sys/block/zram0/disksize 64M)
		case $got in
		OK)
			good=$((good + 1))
			[ "$(attr zram0 disksize)" = 67108864 ] || break
			reset zram0
			;;
		ENOMEM)
			bad=$((bad + 1))
			[ "$(attr zram0 initstate)$(attr zram0 disksize)" = 00 ] || break
			;;
		*)
			fail "$kind: disksize gave $got"
			break
			;;
		esac
	done
	inject $kind 0
	at_least "$kind: disksize succeeded" $good 1
	at_least "$kind: disksize failed" $bad 1
	is "$kind: the device is not set up by halves" \
		"$(attr zram0 initstate)$(attr zram0 disksize)" 00
	setup zram0 4M zstd
	check "$kind: the device works" "$TEST_BIN/model" zram0 1024 300 "$TEST_SEED"
	reset zram0

	inject $kind 10
	for _ in $(seq 20); do
		(
			echo 1 > /proc/self/make-it-fail
			read -r _ < "$CTL/hot_add"
		) 2> /dev/null
	done
	inject $kind 0
	for d in /sys/block/zram*; do
		d=${d##*/zram}
		[ "$d" = 0 ] || must "$CTL/hot_remove" "$d"
	done
	is "$kind: hot_add leaves whole devices or none" \
		"$(echo /sys/block/zram*)" /sys/block/zram0
done

finish
