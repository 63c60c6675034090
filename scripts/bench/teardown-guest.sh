#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: set-up and teardown of devices, with both drivers in turn, and
# of the kernel's own ramfs: see teardown.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
# shellcheck disable=SC2153 # they come from teardown.sh
: "$TEARDOWN" "$CORPUS_FILE" "$ROUNDS" "$ALG" "$DISK" "$CYCLE_TIME" "$STORED"
: "$RESETS" "$STRESS_TIME" "$STRESS_RAMFS"
MNT=/tmp/mnt

# A result for each line of "STEP VALUE".
measure() { # TEST CONFIG [NAME=VALUE...] -- ARGUMENT...
	local test=$1 config=$2 more=() what value unit
	shift 2

	while [ "$1" != -- ]; do
		more+=("$1")
		shift
	done
	shift
	"$TEARDOWN" "$@" >/tmp/measured || fail "teardown $*"
	while read -r what value; do
		unit=ns
		[ "$what" != cycles ] || unit=cycles/s
		result test="$test-$what" config="$config" "${more[@]}" \
			value="$value" unit="$unit"
	done </tmp/measured
}

one_driver() { # ours | theirs
	local mib i

	load "$1"
	step "$1: disksize, mkfs, mount, umount, reset"
	measure cycle "$1" -- cycle "$CYCLE_TIME" "$DISK" $MNT
	step "$1: hot_add, hot_remove"
	measure hot "$1" -- hot "$CYCLE_TIME"
	for mib in $STORED; do
		step "$1: reset with $mib MiB"
		for ((i = 0; i < RESETS; i++)); do
			measure reset "$1" mib="$mib" -- reset "$mib" "$DISK" "$CORPUS_FILE"
		done
	done
	unload
}

# The kernel's own: mounting and unmounting ramfs, by as many as in the text.
ramfs() {
	local ops

	ops=$(cd /tmp && stress-ng --timeout "$STRESS_TIME" --times --verify \
		--metrics-brief --ramfs "$STRESS_RAMFS" 2>&1 | tee /tmp/stress |
		awk '{ for (i = 1; i < NF; i++) if ($i == "ramfs" && $(i + 5) ~ /^[0-9.]+$/) v = $(i + 5) }
			END { print v }')
	[ -n "$ops" ] || { tail -5 /tmp/stress; fail "stress-ng"; }
	result test=ramfs config=kernel value="$ops" unit=ops/s
}

mkdir -p $MNT
# shellcheck disable=SC2086 # a list
set -- $STORED
steps $((ROUNDS * (2 * (2 + $#) + 1)))
for round in $(seq "$ROUNDS"); do
	for who in $(alternate "$round" ours theirs); do
		one_driver "$who"
	done
	step "stress-ng --ramfs $STRESS_RAMFS"
	ramfs
done
