#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-walker: a program with more memory than there is walks through it,
# on swap on the device, with both drivers: time per page, and by a profile of
# the whole virtual machine where it goes.
#
# In User Mode Linux, whose processors are the host's, and with Debian's 6.1 in QEMU:
# where that has to emulate its processor, a page takes as long as its instructions,
# and a profile would be one of the emulator.
#
#   WALK_MB      memory of the walker, MEM that of the machine
#   PASSES       counted walks of experiment 1
#   TOUCH        who touches pages: user as in the text, or kernel, many in a
#                system call, which spares the virtual machine's cost of faults
#   PROFILES     rounds of the profile, besides ROUNDS without it, and
#   PROFILE_TOUCH  who touches pages in these
#   STOCK_MEM    memory in QEMU, where STOCK_MB are walked through STOCK_ROUNDS times
set -euo pipefail

. "$(dirname "$0")/lib.sh"

# All processes below one.
family() { # PID
	local child

	echo "$1"
	for child in $(pgrep -P "$1"); do
		family "$child"
	done
}

# The walker writes to mark-DRIVER-EXPERIMENT-TOUCH-ROUND while it counts: so long is
# the machine watched. Another process ends this function.
watch_marks() {
	local mark perf pids

	while sleep 0.02; do
		for mark in "$OUT"/mark-*; do
			[ -s "$mark" ] || continue
			pids=$(family "$(cat "$OUT"/uml/*/pid)" | paste -sd,)
			perf record -q -e cpu-clock -F "$FREQUENCY" -p "$pids" \
				-o "$OUT/perf-${mark##*/mark-}" >>"$OUT/perf.log" 2>&1 &
			perf=$!
			while [ -s "$mark" ]; do
				sleep 0.02
			done
			kill -INT $perf
			wait $perf || true
			rm -f "$mark"
		done
	done
}

# Where each function of this driver comes from.
list_functions() {
	local object

	for object in "$(dirname "$OURS")"/z*.o; do
		[ "$(basename "$object")" = zram.o ] || [[ $object == *.mod.o ]] ||
			nm "$object" | awk -v file="$(basename "$object" .o)" \
				'NF == 3 && $2 ~ /^[tT]$/ { print $3, file }'
	done >"$OUT/functions"
}

profile() {
	local watch

	perf record -q -e cpu-clock -o "$OUT/perf-try" true >"$OUT/perf.log" 2>&1 ||
		{ say "no profile: perf does not work here, see $OUT/perf.log"; return 0; }
	rm -f "$OUT"/perf-* "$OUT"/mark-* "$OUT"/kallsyms-*
	list_functions
	watch_marks &
	watch=$!
	# shellcheck disable=SC2064 # this very one
	trap "kill $watch 2>/dev/null || true" EXIT
	bench_guest --env WALKER="$WALKER" --env PROFILE=1 --env NAME=profiled \
		--env ROUNDS="$PROFILES" --env TOUCH="$PROFILE_TOUCH"
	kill $watch
	wait $watch 2>/dev/null || true
	"$PYTHON" "$BENCH_DIR/profile.py" "$OUT" >>"$RESULT"
}

bench_begin walker
option CPUS 1
option MEM 256M 128M
option WALK_MB 384 176
option DISK 1G
option ALG lzo-rle
option ROUNDS 6 1
option PASSES 3 1
option TOUCH "user kernel"
option PROFILE_TOUCH "user kernel" kernel
option PROFILES 5 1
option FREQUENCY 2000
option STOCK_ROUNDS 4 1
option STOCK_MEM 192M 160M
option STOCK_MB 224 144
bench_kernel 6.1
META+=("others=$RELEASE in QEMU")
bench_kernel uml-perf
bench_corpus
WALKER=$(bench_program walker)
bench_meta
bench_guest --env WALKER="$WALKER"
profile
bench_kernel 6.1
bench_guest --mem "$STOCK_MEM" --env WALKER="$WALKER" --env NAME=stock --env TOUCH=user \
	--env PASSES=1 --env WALK_MB="$STOCK_MB" --env ROUNDS="$STOCK_ROUNDS"
bench_finish
