#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: times reads, writes and discards of both drivers, alternating,
# and the bare codec on the same pages: see driver.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
# shellcheck disable=SC2153 # they come from driver.sh
: "$BENCH_KO" "$CORPUS_FILE" "$ROUNDS" "$PAGES" "$ALGS" "$BIOS" "$THREADS" "$OPS"
DBG=/sys/kernel/debug/zbench

run() { # WORDS...
	echo "$*" >$DBG/run || fail "cannot run: $*"
}

# What zbench says, with the names that all results have.
measured() { # TEST CONFIG ALGORITHM FIELD
	result_line "{\"test\": \"$1\", \"config\": \"$2\", \"alg\": \"$3\", \
\"round\": $round, \"unit\": \"ns/page\", $(sed "s/^{//; s/\"alg\": [^,]*, //; \
s/\"$4\"/\"value\"/" $DBG/result)"
}

one_driver() { # ours | theirs, ALGORITHM
	local op bio threads

	load "$1"
	device "$2" $((PAGES * 4096))
	# Fill first: what is timed are overwrites of a device that is in use.
	run "op=write bio=16 pages=$PAGES random=1 seed=9"
	for threads in $THREADS; do
		for bio in $BIOS; do
			for op in $OPS; do
				step "$1 $2 $op"
				run "op=$op bio=$bio threads=$threads" \
					"pages=$PAGES random=1 seed=$round"
				measured "$op" "$1" "$2" ns_per_page
			done
		done
	done
	result test=memory config="$1" alg="$2" value="$(mm_stat 3)" unit=bytes \
		compressed="$(mm_stat 2)" stored="$(mm_stat 1)"
	reset_device
	unload
}

words() {
	echo $#
}

insmod "$BENCH_KO" corpus="$CORPUS_FILE" || fail "cannot load zbench"
# shellcheck disable=SC2086 # lists
steps $((ROUNDS * $(words $ALGS) * $(words $BIOS) *
	(1 + 2 * $(words $THREADS) * $(words $OPS))))
for round in $(seq "$ROUNDS"); do
	for alg in $ALGS; do
		for bio in $BIOS; do
			step "codec $alg"
			run "op=codec alg=$alg bio=$bio pages=$PAGES"
			measured codec codec "$alg" compress_ns
		done
		for who in $(alternate "$round" ours theirs); do
			one_driver "$who" "$alg"
		done
	done
done
