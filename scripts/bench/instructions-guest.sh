#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest whose clock counts instructions: reads and overwrites of both
# drivers in turn, the bare codec, and a device that does nothing: see
# instructions.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
. "$(dirname "$0")/zbench-lib.sh"
# shellcheck disable=SC2153 # they come from instructions.sh
: "$ICOUNT" "$NULL_KO" "$CORPUS_FILE" "$ROUNDS" "$PAGES" "$ALGS" "$BIOS" "$OPS"

every_kind() { # TEST-PREFIX CONFIG ALGORITHM
	local op bio

	for bio in $BIOS; do
		for op in $OPS; do
			step "$2 $3 $op, $bio pages per bio"
			run_anew "op=$op bio=$bio pages=$PAGES"
			measured "$1$op" "$2" "$3" ns_per_page instructions/page
		done
	done
}

codec() { # ALGORITHM
	local bio

	for bio in $BIOS; do
		step "codec $1, $bio pages at once"
		run_anew "op=codec alg=$1 bio=$bio pages=$PAGES"
		measured codec codec "$1" compress_ns instructions/page
	done
}

one_driver() { # ours | theirs, ALGORITHM
	runs=0
	load "$1"
	device "$2" $((PAGES * 4096))
	run_anew "op=write bio=16 pages=$PAGES"
	every_kind '' "$1" "$2"
	reset_device
	unload
}

each=$("$ICOUNT") || fail "an instruction takes $each ns, not 1"
result test=clock config=none value="$each" unit=ns/instruction \
	source="$(</sys/devices/system/clocksource/clocksource0/current_clocksource)"
insmod "$NULL_KO" || fail "cannot load znull"
generator "$CORPUS_FILE"
# shellcheck disable=SC2086 # lists
steps $((ROUNDS * $(set -- $BIOS; echo $#) *
	($(set -- $OPS; echo $#) * (1 + 2 * $(set -- $ALGS; echo $#)) +
	 $(set -- $ALGS; echo $#))))
for round in $(seq "$ROUNDS"); do
	on_null
	for alg in $ALGS; do
		codec "$alg"
		for who in $(alternate "$round" ours theirs); do
			one_driver "$who" "$alg"
		done
	done
done
