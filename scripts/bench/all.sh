#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench: all benchmarks of the texts this driver goes back to, one after
# the other. One that fails does not stop the others. BENCHES="..." for some.
set -euo pipefail

. "$(dirname "$0")/../common.sh"

# Otherwise it would go on with the next one.
trap 'exit 130' INT TERM

read -ra benches <<<"${BENCHES:-streams teardown scale walker allocator}"
failed=()
n=0
for bench in "${benches[@]}"; do
	n=$((n + 1))
	left=''
	[ $n = 1 ] || left=", about $((SECONDS * (${#benches[@]} - n + 1) / (n - 1) / 60 + 1)) min left"
	say "bench $n of ${#benches[@]}: $bench; $((SECONDS / 60)) min gone$left"
	"$TOP/scripts/bench/$bench.sh" || failed+=("$bench")
done
say "$((${#benches[@]} - ${#failed[@]})) of ${#benches[@]} benchmarks in" \
	"$((SECONDS / 60)) min $((SECONDS % 60)) s${failed[*]:+; failed: ${failed[*]}}"
[ ${#failed[@]} = 0 ]
