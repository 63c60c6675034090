#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: processes in swap exit, with both drivers and a RAM disk in
# turn: see exit.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
# shellcheck disable=SC2153 # they come from exit.sh
: "$EXIT" "$CORPUS_FILE" "$ROUNDS" "$ALG" "$DISK" "$PROCESSES" "$PER_PROCESS"

exits() { # CONFIG
	local processes words

	for processes in $PROCESSES; do
		step "$1: $processes processes"
		words=$("$EXIT" "$processes" "$PER_PROCESS" "$CORPUS_FILE") ||
			fail "exit $processes"
		[ "$1" = ram ] || words+=" left=$(left "$processes")" || exit
		# shellcheck disable=SC2086 # NAME=VALUE words
		result test=exit config="$1" processes="$processes" unit=ns $words
	done
}

# A driver that frees late must not look like one that frees fast.
left() { # PROCESSES
	local bytes

	bytes=$(mm_stat 1)
	[ $((bytes * 20)) -lt $(($1 * PER_PROCESS << 20)) ] ||
		fail "$bytes bytes are still stored" >&2
	echo "$bytes"
}

one_driver() { # ours | theirs
	load "$1"
	device "$ALG" "$DISK"
	swap_on /dev/zram0
	exits "$1"
	swap_off /dev/zram0
	reset_device
	unload
}

ram_disk() {
	modprobe brd rd_nr=1 rd_size=$(($(numfmt --from=iec "$DISK") >> 10)) ||
		fail "no RAM disk"
	swap_on /dev/ram0
	exits ram
	swap_off /dev/ram0
	rmmod brd || fail "cannot unload the RAM disk"
}

# shellcheck disable=SC2086 # a list
steps $((ROUNDS * 3 * $(set -- $PROCESSES; echo $#)))
for round in $(seq "$ROUNDS"); do
	for who in $(alternate "$round" ours theirs); do
		one_driver "$who"
	done
	ram_disk
done
