#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: times reads, writes and discards of both drivers, alternating,
# and the bare codec on the same pages, and looks how much memory is taken: see
# driver.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
. "$(dirname "$0")/zbench-lib.sh"
. "$(dirname "$0")/driver-memory.sh"
# shellcheck disable=SC2153 # they come from driver.sh
: "$NULL_KO" "$RANDOM_FILE" "$CORPUS_FILE" "$ROUNDS" "$PAGES" "$ALGS" "$BIOS" "$THREADS" "$OPS" \
	"$MIXED_THREADS" "$MIXED_PAGES" "$MIXED_PASSES" "$BESIDE_PASSES"

# Every number of pages and threads, every operation
every_kind() { # TEST-PREFIX CONFIG ALGORITHM
	local op bio threads

	for threads in $THREADS; do
		for bio in $BIOS; do
			for op in $OPS; do
				step "$2 $3 $op"
				run_anew "op=$op bio=$bio threads=$threads pages=$PAGES"
				measured "$1$op" "$2" "$3" ns_per_page ns/page
			done
		done
	done
}

# What no codec makes smaller; the device holds such pages already.
random_data() { # ours | theirs, ALGORITHM
	local pages=$((PAGES / 4))

	load "$1"
	device "$2" $((pages * 4096))
	step "$1 $2 random data"
	runs=0
	run_anew "op=write bio=16 pages=$pages"
	run_anew "op=write bio=16 pages=$pages"
	measured random "$1" "$2" ns_per_page ns/page
	result test=random-memory config="$1" alg="$2" value="$(mm_stat 3)" \
		unit=bytes compressed="$(mm_stat 2)"
	reset_device
	unload
}

# Reads and writes by few and by many
mixed() { # ours | theirs, ALGORITHM
	local bio threads

	device "$2" $((MIXED_PAGES * 4096))
	run_anew "op=write bio=16 threads=2 pages=$MIXED_PAGES"
	for bio in $BIOS; do
		for threads in $MIXED_THREADS; do
			step "$1 $2 mixed, $threads threads"
			run_anew "op=mixed bio=$bio threads=$threads passes=$MIXED_PASSES" \
				"pages=$MIXED_PAGES"
			measured mixed "$1" "$2" pages_per_s pages/s
		done
	done
	reset_device
}

# A page that is read while others are written, as when swapping in
beside() { # ours | theirs, ALGORITHM
	step "$1 $2 read beside a writer"
	run_anew "op=beside bio=16 threads=2 passes=$BESIDE_PASSES pages=$PAGES"
	measured beside "$1" "$2" p50_ns ns
}

codec() { # ALGORITHM
	local bio

	runs=0
	for bio in $BIOS; do
		step "codec $1"
		run_anew "op=codec alg=$1 bio=$bio pages=$PAGES"
		measured codec codec "$1" compress_ns ns/page
	done
}

one_driver() { # ours | theirs, ALGORITHM
	runs=0
	load "$1"
	memory_before
	device "$2" $((PAGES * 4096))
	# Fill first: what is timed are overwrites of a device that is in use.
	run_anew "op=write bio=16 pages=$PAGES"
	every_kind '' "$1" "$2"
	memory_after "$1" "$2"
	beside "$1" "$2"
	step "$1 $2 discard"
	run_anew "op=discard bio=64 pages=$PAGES"
	measured discard "$1" "$2" ns_per_page ns/page
	reset_device
	mixed "$1" "$2"
	unload
}

words() {
	echo $#
}

insmod "$NULL_KO" || fail "cannot load znull"
# shellcheck disable=SC2086 # lists
steps $((ROUNDS * ($(words $ALGS) * (6 + $(words $BIOS) * (3 + 2 * $(words $MIXED_THREADS))) +
	(1 + 2 * $(words $ALGS)) * $(words $BIOS) * $(words $THREADS) * $(words $OPS))))
for round in $(seq "$ROUNDS"); do
	generator "$CORPUS_FILE"
	on_null
	for alg in $ALGS; do
		# What is shared with others is now faster and now slower, so a
		# codec that was timed long before a driver says little about it.
		codec "$alg"
		for who in $(alternate "$round" ours theirs); do
			one_driver "$who" "$alg"
			codec "$alg"
		done
	done
	generator "$RANDOM_FILE"
	for alg in $ALGS; do
		for who in $(alternate "$round" ours theirs); do
			random_data "$who" "$alg"
		done
	done
done
