#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-exit: how long processes take to exit that are all in swap on the
# device, with both drivers: their slots are freed under the locks of swap, one
# after the other. Beside them a RAM disk, which is not told of slots: what the
# kernel takes by itself. On Debian's kernel, as in User Mode Linux to unmap a
# page costs more than to free its slot.
#
#   PROCESSES    that exit at once
#   PER_PROCESS  MiB that each has in swap; of a few MiB too much stays, as the
#                kernel keeps some slots back to free them later
set -euo pipefail

. "$(dirname "$0")/lib.sh"

bench_begin exit
option CPUS 2
option MEM 1G
option ROUNDS 8 2
option ALG lzo-rle
option DISK 1G
option PROCESSES "4 1"
option PER_PROCESS 64
bench_kernel 6.1
bench_corpus
bench_meta
bench_guest --env EXIT="$(bench_program exit)"
bench_finish
