#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-instructions: instructions per page of both drivers, of the bare
# codec and of a device that does nothing, which no busy host changes: Debian's
# kernel on one emulated processor, where a nanosecond is an instruction.
#
#   PAGES        of the device; all of the corpus, so that the bare codec works
#                on just the pages that are written, whatever the order
set -euo pipefail

. "$(dirname "$0")/lib.sh"

bench_begin instructions
option CPUS 1
option MEM 512M
option ROUNDS 5 2
option ALGS "lz4 lzo-rle"
option BIOS "1 16"
option OPS "write read"
bench_kernel 6.1
bench_module zbench
bench_corpus
option PAGES $(($(stat -c %s "$CORPUS_FILE") / 4096))
bench_meta
bench_guest --icount --env BENCH_KO="$BENCH_KO" --env NULL_KO="${BENCH_KO%/*}/znull.ko" \
	--env ICOUNT="$(bench_program icount)"
bench_finish
