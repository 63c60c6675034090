#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest with little memory: both experiments of the page walker, with
# both drivers in turn: see walker.sh for the options.
set -u
. "$(dirname "$0")/guest-lib.sh"
# shellcheck disable=SC2153 # they come from walker.sh
: "$WALKER" "$CORPUS_FILE" "$ROUNDS" "$ALG" "$DISK" "$WALK_MB" "$PASSES" "$TOUCH"
NAME=${NAME:-walk}
MARK=/tmp/mark

walk() { # ours | theirs, swap | in, user | kernel
	local words name=$NAME-$2

	step "$1: $2, $3"
	[ -z "${PROFILE:-}" ] || MARK=/run/vm/mark-$1-$2-$3-$round
	words=$("$WALKER" "$2" "$3" "$WALK_MB" "$CORPUS_FILE" "$round" "$PASSES" "$MARK") ||
		fail "the walker failed"
	# shellcheck disable=SC2086 # NAME=VALUE words
	result test="$name" config="$1" touch="$3" unit=us/page $words \
		memory_used_max="$(mm_stat 5)"
}

one_driver() { # ours | theirs
	local touch

	load "$1"
	[ -z "${PROFILE:-}" ] || cp /proc/kallsyms "/run/vm/kallsyms-$1-$round"
	device "$ALG" "$DISK"
	swap_on /dev/zram0
	for touch in $TOUCH; do
		walk "$1" swap "$touch"
		walk "$1" in "$touch"
	done
	swap_off /dev/zram0
	reset_device
	unload
}

# shellcheck disable=SC2086 # a list
steps $((ROUNDS * 4 * $(set -- $TOUCH; echo $#)))
for round in $(seq "$ROUNDS"); do
	for who in $(alternate "$round" ours theirs); do
		one_driver "$who"
	done
done
