#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-teardown: how fast devices come and go, with both drivers: cycles
# of disksize, mkfs, mount, umount, reset; of hot_add, hot_remove; how long reset
# takes with something stored, and the disksize after it. Beside them stress-ng's
# ramfs, the kernel's own figure for the same idea.
#
#   CYCLE_TIME   seconds of cycles for each figure
#   STORED       MiB; RESETS of a device with each of them, in each round
#   STRESS_TIME  seconds of STRESS_RAMFS workers mounting and unmounting
set -euo pipefail

. "$(dirname "$0")/lib.sh"

bench_begin teardown
option CPUS $(($(nproc) < 4 ? $(nproc) : 4))
option MEM 2G
option ROUNDS 6 4
option ALG lzo-rle
option DISK 1G
option CYCLE_TIME 10 2
option STORED "0 64 512"
option RESETS 10 2
option STRESS_TIME 60 3
option STRESS_RAMFS 9
bench_kernel uml-perf
bench_corpus
META+=("stress_ng=$(stress-ng --version | cut -d' ' -f3 | tr -d ,)")
bench_meta
bench_guest --env TEARDOWN="$(bench_program teardown)"
bench_finish
