#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-driver: time per page of this driver and of the kernel's own, on
# the newest kernel in User Mode Linux, in one boot, alternating; of the bare
# codec on the same pages; and of a device that does nothing. Also writes of
# random data, which no codec makes smaller, and discards; reads and writes mixed,
# by two threads and by many; reads beside a writer; and all memory that is taken.
set -euo pipefail

. "$(dirname "$0")/lib.sh"

bench_begin driver
option CPUS 2
option MEM 2G
option ROUNDS 5 3
option PAGES 65536 16384
option ALGS "lz4 lzo-rle"
option BIOS "1 16"
option THREADS "1 2"
option OPS "write read"
# A turn of one of many threads lasts 10 ms: each has to have several, and so many
# pages that it does not find those of a turn in the CPU's caches from the same.
option MIXED_THREADS "2 64"
option MIXED_PAGES 131072
option MIXED_PASSES 3
option BESIDE_PASSES 4 12
bench_kernel uml-perf
bench_module zbench
bench_corpus
bench_meta
random=$OUT/random
"$PYTHON" -c 'import random, sys
sys.stdout.buffer.write(random.Random(1).randbytes(8 << 20))' >"$random"
bench_guest --env BENCH_KO="$BENCH_KO" --env NULL_KO="${BENCH_KO%/*}/znull.ko" \
	--env RANDOM_FILE="$random" --append slab_nomerge
bench_finish
