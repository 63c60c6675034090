#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-driver: time per page of this driver and of the kernel's own, on
# the newest kernel in User Mode Linux, in one boot, alternating; and of the
# bare codec on the same pages.
#
#   QUICK=1            three rounds on fewer pages
#   ROUNDS=5 PAGES=65536 ALGS="lz4 lzo-rle" BIOS="1 16" THREADS="1 2"
#   OPS="write read"   what to run
#
# Leaves build/bench/driver.json, one line for each run.
#
# shellcheck source-path=SCRIPTDIR/..
set -euo pipefail

. "$(dirname "$0")/../common.sh"

OUT=$TOP/build/bench
here=$TOP/scripts/bench
if [ -n "${QUICK:-}" ]; then
	ROUNDS=${ROUNDS:-3} PAGES=${PAGES:-16384}
fi

# Programs with something in memory, and whatever else runs.
make_corpus() {
	local pids=() all=()

	python3 -c '
import ast, glob, os, time
kept = []
for name in glob.glob(os.path.dirname(os.__file__) + "/*.py")[:120]:
    try:
        kept.append(ast.parse(open(name, encoding="utf-8").read()))
    except (SyntaxError, UnicodeDecodeError):
        pass
time.sleep(60)' &
	pids+=($!)
	perl -e 'my %h; $h{"key$_"} = {n => $_, s => "value " . $_ * 7}
		for 1 .. 150000; sleep 60' &
	pids+=($!)
	sleep 12
	mapfile -t all < <(cd /proc && printf '%s\n' [0-9]*)
	python3 "$here/corpus.py" "$OUT/corpus" --mib 32 --per-process 24 \
		"${all[@]}"
	kill "${pids[@]}"
}

"$TOP/scripts/kernel.sh" fetch uml-perf
kernel=$("$TOP/scripts/kernel.sh" path uml-perf)
mkdir -p "$OUT/zbench"
make -C "$TOP" KVER=uml-perf >"$OUT/build.log"
cp -u "$TOP"/tests/bench/* "$TOP/compat.h" "$OUT/zbench/"
make -C "$kernel" M="$OUT/zbench" ARCH=um modules >>"$OUT/build.log"
[ -s "$OUT/corpus" ] || make_corpus

rm -rf "$OUT/guest"
"$TOP/scripts/vm.sh" --mem 2G --timeout 3600 --out "$OUT/guest" \
	--env OURS="$TOP/build/$("$TOP/scripts/kernel.sh" release uml-perf)/zram.ko" \
	--env THEIRS="$kernel" --env BENCH_KO="$OUT/zbench/zbench.ko" \
	--env CORPUS="$OUT/corpus" --env BENCH_OUT=/run/vm/driver.json \
	--env ROUNDS="${ROUNDS:-5}" --env PAGES="${PAGES:-65536}" \
	--env ALGS="${ALGS:-lz4 lzo-rle}" --env BIOS="${BIOS:-1 16}" \
	--env THREADS="${THREADS:-1 2}" --env OPS="${OPS:-write read}" \
	uml-perf -- "$here/driver-guest.sh"
cp "$OUT/guest/driver.json" "$OUT/driver.json"
python3 "$here/summary.py" "$OUT/driver.json"
