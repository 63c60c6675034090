#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=240
#
# Random operations against a model in memory, for every algorithm. To repeat
# a failure run it with the seed it printed as TEST_SEED.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1
corpus 8

n=0
for algorithm in $(algorithms zram0); do
	n=$((n + 1))
	setup zram0 4M "$algorithm"
	MODEL_ALGORITHM=$algorithm check "model: $algorithm" \
		"$TEST_BIN/model" zram0 1024 $((1500 * TEST_SCALE)) $((TEST_SEED + n))
	is "$algorithm: no failed write" "$(failed_writes zram0)" 0
	is "$algorithm: no failed read" "$(stat_of zram0 io_stat 1)" 0
	reset zram0
done
# A device so small that everything meets everything
setup zram0 64K
check "model: 16 blocks" "$TEST_BIN/model" zram0 16 $((3000 * TEST_SCALE)) "$TEST_SEED"

finish
