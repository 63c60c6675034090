#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-streams: what streams per CPU are worth. fio read, randread, write,
# randwrite, rw, randrw with a growing number of jobs on lists of 4 and 8
# streams, on streams per CPU, and on the in-tree driver.
set -euo pipefail

. "$(dirname "$0")/lib.sh"

# The processor's own counters, where perf has them: of one guest for each
# configuration and number of jobs, less one that only fills the device.
EVENTS=cycles,instructions,branches,branch-misses
EVENTS+=,stalled-cycles-frontend,stalled-cycles-backend

counted() { # CONFIG ALGORITHM JOBS
	VM_WRAP="perf stat -x; -o $OUT/counted -e $EVENTS" \
		bench_guest --quiet --env PART=nothing --env CONFIGS="$1" \
		--env ALGS="$2" --env JOBS="$3" --env ROUNDS=1
}

hardware() { # ALGORITHM JOBS...
	local alg=$1 config jobs
	shift

	for config in list4 list8 ours theirs; do
		counted "$config" "$alg" ""
		mv "$OUT/counted" "$OUT/counted.base"
		for jobs; do
			say "perf stat: $config, $alg, $jobs jobs"
			counted "$config" "$alg" "$jobs"
			"$PYTHON" "$BENCH_DIR/perf_stat.py" "$OUT/counted" \
				"$OUT/counted.base" config="$config" alg="$alg" \
				jobs="$jobs" >>"$RESULT"
		done
	done
}

bench_begin streams
option CPUS $(($(nproc) < 4 ? $(nproc) : 4))
option MEM 2G
option ROUNDS 4 1
option JOBS "1 2 3 4 5 6 7 8 9 10" "1 8"
# As in the text, and the default
option ALGS "lzo lzo-rle"
option DISK 1280M 160M
option IO 64M 32M
option BS 64k
bench_kernel uml-stat
STAT=$RELEASE
bench_kernel 6.1
META+=("others=$STAT (locks), $RELEASE in QEMU (instructions)")
bench_kernel uml-perf
bench_corpus
option COUNT_ALGS "lzo lzo-rle" lzo
option COUNT_JOBS "1 2 4 8" 2
option COUNT_IO 8M 2M
option COUNT_DISK 160M 20M
META+=("fio=$(fio --version)")
has_counters=''
perf stat -x, -e instructions true 2>&1 | grep -q '^[0-9]' && has_counters=y
META+=("counters=$has_counters")
bench_meta
bench_guest --env PART=speed

if [ -n "$has_counters" ]; then
	read -ra jobs <<<"$COUNT_JOBS"
	for alg in $COUNT_ALGS; do
		hardware "$alg" "${jobs[@]}"
	done
fi

# Locks, by their own statistics
bench_kernel uml-stat
bench_guest --env PART=contention --env ALGS="$COUNT_ALGS" \
	--env JOBS="$COUNT_JOBS" --env ROUNDS=1

# Instructions. No counters in most virtual machines: there an emulated processor
# tells, one instruction a nanosecond, also of the time that a process has had.
bench_kernel 6.1
bench_guest --cpus 1 --icount --env PART=instructions --env PER_US=1000 \
	--env ALGS="$COUNT_ALGS" --env JOBS="$COUNT_JOBS" --env ROUNDS=1 \
	--env IO="$COUNT_IO" --env DISK="$COUNT_DISK"
bench_finish
