# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The host's side of a benchmark: sourced by scripts/bench/NAME.sh.
#
#   . "$(dirname "$0")/lib.sh"
#   bench_begin NAME              OUT, the folder, and RESULT, its JSON file
#   option ROUNDS 5 2             a scale: default, and default of a QUICK run
#   bench_kernel uml-perf         KERNEL, RELEASE, OURS, THEIRS: both drivers
#   bench_corpus                  CORPUS: pages of real memory
#   META+=("fio=3.33")            more about the run
#   bench_meta                    the first line of RESULT, with all options
#   bench_guest --cpus 4 ...      scripts/bench/NAME-guest.sh in a guest
#   bench_finish                  page and pictures; docs/benchmarks
#
# A full run with the default options is published, in docs/benchmarks and README.md;
# others are if PUBLISH=1 says so, and QUICK ones never.
#
# What was measured is in RESULT line by line, also if the run is interrupted.
# Options are environment variables; the guest gets them all.

. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

BENCH_DIR=$TOP/scripts/bench
BENCH_BUILD=$TOP/build/bench
# Debian's own, which python3-matplotlib is for: others may come first in PATH
PYTHON=/usr/bin/python3
QUICK=${QUICK:-}
PUBLISH=${PUBLISH:-}
OPTIONS=() CHANGED=() META=()
declare -A BUILT=()

bench_begin() { # NAME
	BENCH=$1
	OUT=$BENCH_BUILD/$BENCH${QUICK:+-quick}
	RESULT=$OUT/$BENCH.json
	BENCH_START=$SECONDS
	mkdir -p "$OUT"
	# Kept open by the guest, too: one that survived would write to RESULT.
	exec 9>"$OUT/lock"
	flock -n 9 || die "bench-$BENCH is running"
}

option() { # NAME DEFAULT [QUICK-DEFAULT]
	local value=$2

	[ -z "$QUICK" ] || value=${3-$2}
	[ "${!1:-$value}" = "$value" ] || CHANGED+=("$1")
	value=${!1:-$value}
	printf -v "$1" '%s' "$value"
	OPTIONS+=("$1")
}

# Kernel and both drivers for it. In QEMU the in-tree driver is found by
# modprobe, and THEIRS is empty. A benchmark that needs several kernels takes each
# before bench_meta, so that all modules are of what that says: built once only.
bench_kernel() { # uml-perf | 6.1 | 6.12
	KERNEL=$1
	[ -n "${BUILT[$KERNEL]:-}" ] || build_for "$KERNEL"
	KERNEL_DIR=$("$TOP/scripts/kernel.sh" path "$KERNEL")
	RELEASE=$("$TOP/scripts/kernel.sh" release "$KERNEL")
	OURS=$TOP/build/$RELEASE/zram.ko
	case $KERNEL in
	uml*) THEIRS=$KERNEL_DIR MACHINE=uml ;;
	*) THEIRS='' MACHINE=qemu ;;
	esac
}

build_for() { # KERNEL
	"$TOP/scripts/kernel.sh" fetch "$1"
	make -C "$TOP" KVER="$1" >"$OUT/build.log" 2>&1 ||
		{ tail -20 "$OUT/build.log" >&2; die "the module does not build"; }
	BUILT[$1]=y
}

# The load generators in the kernel: sets BENCH_KO.
bench_module() { # NAME
	local dir=$BENCH_BUILD/modules-$RELEASE arch=()

	[ "$MACHINE" != uml ] || arch=(ARCH=um)
	mkdir -p "$dir"
	cp -u "$TOP"/tests/bench/* "$TOP/compat.h" "$dir/"
	make -C "$KERNEL_DIR" M="$dir" "${arch[@]}" modules >>"$OUT/build.log" 2>&1 ||
		{ tail -20 "$OUT/build.log" >&2; die "$1 does not build"; }
	# shellcheck disable=SC2034 # for the caller
	BENCH_KO=$dir/$1.ko
}

# A program of load that the guest runs: prints its path.
bench_program() { # NAME of tests/bench/NAME.c
	local bin=$BENCH_BUILD/bin/$1

	mkdir -p "$BENCH_BUILD/bin"
	gcc -O2 -Wall -static -pthread -o "$bin" "$TOP/tests/bench/$1.c" >&2
	echo "$bin"
}

# Programs with something in memory, and whatever else runs.
memory_corpus() { # FILE
	local pids=() all=()

	"$PYTHON" -c '
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
	"$PYTHON" "$BENCH_DIR/corpus.py" --mib 32 --per-process 24 memory "$1" \
		"${all[@]}" >&2
	kill "${pids[@]}"
}

# CORPUS=memory: anonymous pages of running programs, kept for later runs.
# CORPUS=packages: files of Debian packages, the same wherever the versions are.
# Anything else is a file of pages.
bench_corpus() {
	option CORPUS memory
	case $CORPUS in
	memory)
		CORPUS_FILE=$BENCH_BUILD/corpus
		[ -s "$CORPUS_FILE" ] || memory_corpus "$CORPUS_FILE"
		;;
	packages)
		CORPUS_FILE=$BENCH_BUILD/corpus-packages
		[ -s "$CORPUS_FILE" ] ||
			"$PYTHON" "$BENCH_DIR/corpus.py" packages "$CORPUS_FILE" >&2
		;;
	*)
		CORPUS_FILE=$(realpath "$CORPUS")
		[ -s "$CORPUS_FILE" ] || die "no such corpus: $CORPUS"
		;;
	esac
}

# The first line of RESULT.
bench_meta() {
	local option pairs=()

	[ ! -s "$RESULT" ] || mv "$RESULT" "$RESULT.old"
	for option in "${OPTIONS[@]}"; do
		pairs+=("$option=${!option}")
	done
	"$PYTHON" "$BENCH_DIR/bench_meta.py" \
		--bench "$BENCH" --kernel "$RELEASE" --machine "$MACHINE" \
		--corpus "${CORPUS_FILE:-}" --quick "$QUICK" \
		--options "${pairs[@]}" --more "${META[@]}" >"$RESULT"
	say "$BENCH: ${pairs[*]}${QUICK:+ (quick)}"
}

# Runs NAME-guest.sh: output is progress, results go to RESULT by themselves.
# CPUS and MEM are taken from the options unless given. VM_WRAP is a command in
# front of the machine.
bench_guest() { # [VM-OPTION...]
	local option args=()

	for option in "${OPTIONS[@]}"; do
		args+=(--env "$option=${!option}")
	done
	[ -z "${CPUS:-}" ] || args+=(--cpus "$CPUS")
	[ -z "${MEM:-}" ] || args+=(--mem "$MEM")
	args+=(--env "OURS=$OURS" --env "THEIRS=$THEIRS" --env "BENCH=$BENCH"
		--env "CORPUS_FILE=${CORPUS_FILE:-}" --env "QUICK=$QUICK"
		--env "BENCH_OUT=/run/vm/$BENCH.json")
	args+=(--timeout 14400 --out "$OUT" "$@")
	case $MACHINE in
	uml) args+=("$KERNEL") ;;
	qemu) args+=(qemu "$KERNEL") ;;
	esac
	${VM_WRAP:-} "$TOP/scripts/vm.sh" "${args[@]}" -- \
		"$BENCH_DIR/${BENCH_GUEST:-$BENCH-guest.sh}" >&2 ||
		{ say "what was measured is in $RESULT; for a page of it:" \
			"$PYTHON $BENCH_DIR/report.py $BENCH $RESULT $OUT"
		die "the guest failed"; }
}

bench_finish() {
	local docs=$TOP/docs/benchmarks seconds=$((SECONDS - BENCH_START))

	echo "{\"meta\": {\"seconds\": $seconds}}" >>"$RESULT"
	rm -f "$OUT/$BENCH"*.svg
	"$PYTHON" "$BENCH_DIR/report.py" "$BENCH" "$RESULT" "$OUT"
	cat "$OUT/$BENCH.md"
	say "$BENCH: $seconds s; $OUT/$BENCH.{json,md} and pictures"
	[ -z "$QUICK" ] || return 0
	if [ ${#CHANGED[@]} != 0 ] && [ -z "$PUBLISH" ]; then
		say "$BENCH: not published, as ${CHANGED[*]} differ from the defaults"
		return 0
	fi
	mkdir -p "$docs"
	rm -f "$docs/$BENCH".{json,md} "$docs/$BENCH"*.svg
	cp "$OUT/$BENCH".{json,md} "$docs/"
	cp "$OUT/$BENCH"*.svg "$docs/" 2>/dev/null || true
	"$PYTHON" "$BENCH_DIR/readme.py"
	say "$BENCH: copied to docs/benchmarks, README.md brought up to date"
}
