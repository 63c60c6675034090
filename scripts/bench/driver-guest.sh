#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: times reads, writes and discards of both drivers, alternating,
# and the bare codec on the same pages. Appends lines of JSON to $BENCH_OUT.
#
#   OURS, THEIRS   the modules    BENCH_KO  the load generator
#   CORPUS         pages to write ROUNDS    alternating rounds
#   PAGES          of the device  ALGS BIOS THREADS OPS  lists of what to run
set -u
# shellcheck disable=SC2153 # they come from driver.sh
: "$OURS" "$THEIRS" "$BENCH_KO" "$CORPUS" "$BENCH_OUT"
# shellcheck disable=SC2153
: "$ROUNDS" "$PAGES" "$ALGS" "$BIOS" "$THREADS" "$OPS"
DBG=/sys/kernel/debug/zbench

bench() { # LABEL WORDS...
	echo "$2" >$DBG/run || exit 1
	printf '{"run": "%s", "round": %s, %s\n' "$1" "$round" \
		"$(cut -c2- $DBG/result)" >>"$BENCH_OUT"
}

load() { # ours | theirs
	if [ "$1" = ours ]; then
		insmod "$OURS"
	else
		insmod "$THEIRS/mm/zsmalloc.ko" 2>/dev/null
		insmod "$THEIRS/drivers/block/zram/zram.ko"
	fi
}

one_driver() { # ours | theirs, algorithm
	local op bio threads

	load "$1" || exit 1
	echo "$2" >/sys/block/zram0/comp_algorithm
	echo $((PAGES * 4096)) >/sys/block/zram0/disksize
	# Fill first: what is timed are overwrites of a device that is in use.
	echo "op=write bio=16 pages=$PAGES random=1 seed=9" >$DBG/run
	for threads in $THREADS; do
		for bio in $BIOS; do
			for op in $OPS; do
				bench "$1 $2 $op" "op=$op bio=$bio threads=$threads pages=$PAGES random=1 seed=$round"
			done
		done
	done
	printf '{"run": "%s %s memory", "round": %s, "mm_stat": "%s"}\n' "$1" "$2" \
		"$round" "$(tr -s ' ' </sys/block/zram0/mm_stat)" >>"$BENCH_OUT"
	echo 1 >/sys/block/zram0/reset
	rmmod zram
}

insmod "$BENCH_KO" corpus="$CORPUS" || exit 1
for round in $(seq "$ROUNDS"); do
	for alg in $ALGS; do
		for bio in $BIOS; do
			bench "codec $alg" "op=codec alg=$alg bio=$bio pages=$PAGES"
		done
		if [ $((round % 2)) = 1 ]; then
			one_driver ours "$alg"
			one_driver theirs "$alg"
		else
			one_driver theirs "$alg"
			one_driver ours "$alg"
		fi
	done
done
