# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of a benchmark: sourced by scripts/bench/NAME-guest.sh.
#
#   steps 40                      how many there will be, for the time left
#   round=1                       goes into every result
#   for who in $(alternate $round ours theirs); do
#       step "$who lz4"           progress
#       load $who                 a module, with parameters
#       device lz4 1G             /dev/zram0, set up
#       result test=write config=$who value=12.5 unit=MB/s alg=lz4
#       unload
#   done
: "${BENCH:?}" "${BENCH_OUT:?}" "${OURS:?}"
SYS=/sys/block/zram0
# shellcheck disable=SC2034 # for those who source this
CONTROL=/sys/class/zram-control

fail() {
	echo "$BENCH: $*"
	exit 1
}

# --- Drivers -----------------------------------------------------------------

# What a module built here takes from the kernel's own, unless all is built in.
load_needed() { # MODULE-FILE
	local dep

	for dep in $(modinfo -F depends "$1" | tr , ' '); do
		[ -n "$THEIRS" ] || modprobe "$dep" || fail "no $dep"
	done
}

load() { # ours | theirs [PARAMETER=VALUE...]
	local who=$1
	shift

	case $who in
	ours)
		load_needed "$OURS"
		insmod "$OURS" "$@" || fail "cannot load this driver"
		;;
	theirs)
		if [ -n "$THEIRS" ]; then
			[ -d /sys/module/zsmalloc ] ||
				insmod "$THEIRS/mm/zsmalloc.ko" || fail "no zsmalloc"
			insmod "$THEIRS/drivers/block/zram/zram.ko" "$@"
		else
			modprobe zram "$@"
		fi || fail "cannot load the in-tree driver"
		;;
	*) fail "load what? $who" ;;
	esac
	# Only ours has that parameter: never measure one for the other.
	[ "$who" = ours ] || [ ! -e /sys/module/zram/parameters/force_stream_list ] ||
		fail "that is not the in-tree driver"
}

device() { # ALGORITHM SIZE [STREAMS]
	echo "$1" >$SYS/comp_algorithm || fail "no algorithm $1"
	[ -z "${3:-}" ] || echo "$3" >$SYS/max_comp_streams ||
		fail "cannot set max_comp_streams"
	echo "$2" >$SYS/disksize || fail "cannot set up $2"
}

swap_on() { # DEVICE
	mkswap "$1" >/dev/null || fail "cannot make swap"
	swapon "$1" || fail "cannot swap"
}

swap_off() { # DEVICE
	swapoff "$1" || fail "swapoff"
}

# A device may be held for an instant by somebody who looked at it.
reset_device() {
	local i

	for i in {1..50}; do
		! echo 1 2>/dev/null >$SYS/reset || return 0
		sleep 0.1
	done
	fail "cannot reset after $i tries"
}

unload() {
	local i

	for i in {1..50}; do
		! rmmod zram 2>/dev/null || return 0
		sleep 0.1
	done
	fail "cannot unload after $i tries"
}

# Field N of mm_stat: 1 stored, 2 compressed, 3 memory, ...
mm_stat() { # N
	awk -v n="$1" '{ print $n }' $SYS/mm_stat
}

# --- Results and progress ----------------------------------------------------

# A line of JSON, kept at once: numbers bare, everything else quoted.
result() { # NAME=VALUE...
	local pair value line="\"round\": ${round:-1}"

	for pair; do
		value=${pair#*=}
		[[ $value =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)?$ ]] ||
			{ value=${value//\\/\\\\}; value="\"${value//\"/\\\"}\""; }
		line+=", \"${pair%%=*}\": $value"
	done
	result_line "{$line}"
}

result_line() { # JSON
	echo "$1" >>"$BENCH_OUT" || fail "cannot write $BENCH_OUT"
	sync "$BENCH_OUT"
}

# The order of a round: each configuration is first, second, ... in turn.
alternate() { # ROUND CONFIG...
	local n=$1 i
	shift

	for ((i = 0; i < $#; i++)); do
		local at=$(((i + n - 1) % $# + 1))
		echo "${!at}"
	done
}

steps_all=0 steps_done=0 steps_said=-10

steps() { # NUMBER
	steps_all=$1 steps_done=0 steps_start=$SECONDS
}

# Says what comes now, not more often than every ten seconds, and how long the
# rest takes if it goes on like this.
step() { # WHAT
	local left='' spent=$((SECONDS - ${steps_start:-0}))

	if ((SECONDS - steps_said >= 10)); then
		[ "$steps_done" = 0 ] ||
			left=", about $((spent * (steps_all - steps_done) / steps_done)) s left"
		echo "$BENCH: $((steps_done + 1)) of $steps_all, $spent s$left: $1"
		sync /run/vm/output
		steps_said=$SECONDS
	fi
	steps_done=$((steps_done + 1))
}
