#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make check: builds the module, runs all tests in guests, counts.
#
#   run.sh [STAGE...]
#
#   builds   the module for each kernel, no warning allowed
#   kunit    the KUnit suites in User Mode Linux with KASAN and lockdep
#   6.1      the functional tests on Debian's kernel in QEMU
#   uml      the functional tests in User Mode Linux, and a search for leaks
#   6.12     some functional tests on Debian's 6.12 in QEMU
#
# TESTS=PATTERN runs only the functional tests whose names match; TEST_SEED=N
# repeats a run. Logs: build/check/, or build/check-STAGE/.
#
# shellcheck source-path=SCRIPTDIR/../scripts
set -euo pipefail

. "$(dirname "$0")/../scripts/common.sh"

LOGS=$TOP/build/check
TESTS=${TESTS:-.}
SEED=${TEST_SEED:-$(date +%s)}
PATIENCE=${TEST_PATIENCE:-3}

vm() {
	"$TOP/scripts/vm.sh" --env TEST_SEED="$SEED" \
		--env TEST_PATIENCE="$PATIENCE" --env TEST_BIN="$TOP/build/tests" \
		--env TEST_SCALE="${TEST_SCALE:-1}" --env TEST_SMOKE="${smoke:-}" "$@"
}

# A point of the final count, shown at once if it failed.
point() { # STAGE LINE
	echo "$2" >>"$LOGS/$1.points"
	[ "${2#ok}" != "$2" ] || say "$1: $2"
}

points() { # STAGE, lines on stdin
	local line

	while read -r line; do
		point "$1" "$line"
	done
}

# --- Building -----------------------------------------------------------------

build() { # STAGE KERNEL [MAKE-VARIABLE...]
	local stage=$1 kernel=$2 log=$LOGS/build-$1-$2.log
	shift 2

	if make -C "$TOP" KVER="$kernel" W=1 KCFLAGS=-Werror "$@" \
		</dev/null >"$log" 2>&1 && ! grep -i 'warning' "$log" >&2; then
		point "$stage" "ok build for $kernel $*"
	else
		tail -30 "$log" >&2
		point "$stage" "not ok build for $kernel $*"
		return 1
	fi
}

helpers() {
	local c

	mkdir -p "$TOP/build/tests"
	for c in "$TOP"/tests/vm/*.c; do
		[ -e "$c" ] || continue
		gcc -O2 -Wall -Werror -static -pthread \
			-o "$TOP/build/tests/$(basename "$c" .c)" "$c"
	done
}

module() { # KERNEL [SUFFIX]
	echo "$TOP/build/$("$TOP/scripts/kernel.sh" release "$1")${2:-}/zram.ko"
}

# --- Functional tests ---------------------------------------------------------

need() { # FILE KEY DEFAULT
	local value

	value=$(sed -n "s/^# needs:.* $2=\([^ ]*\).*/\1/p" "$1")
	echo "${value:-$3}"
}

flag() { # FILE WORD
	grep -q "^# needs:.*\b$2\b" "$1"
}

# The tests that run in a kind of guest: "CPUS MEMORY FILE" lines, sorted, so
# that those which need the same guest stand together and share a boot.
select_tests() { # uml | qemu | smoke
	local f cpus

	for f in "$TOP"/tests/vm/[0-9]*.sh; do
		basename "$f" .sh | grep -qE "$TESTS" || continue
		cpus=$(need "$f" cpus 2)
		case $1 in
		# With two CPUs User Mode Linux loses pages that are swapped out
		# to any device.
		uml) ! flag "$f" swap || cpus=1 ;;
		smoke) flag "$f" smoke || continue ;;
		esac
		[ "$1" = smoke ] || [ "$(need "$f" "$1" yes)" = yes ] || continue
		echo "$cpus $(need "$f" mem 1G) $f"
	done | sort
}

# Boots guests until each of the tests has run or has killed its guest.
run_group() { # STAGE MACHINE KERNEL CPUS MEMORY FILE...
	local stage=$1 machine=$2 kernel=$3 cpus=$4 mem=$5 boot=0 out f left limit
	local -a where=(qemu "$kernel")
	shift 5

	[ "$machine" = qemu ] || where=("$kernel")
	while [ $# -gt 0 ]; do
		boot=$((boot + 1))
		out=$LOGS/$stage-${cpus}cpu-$mem-$boot
		rm -rf "$out"
		limit=120
		for f in "$@"; do
			limit=$((limit + PATIENCE * $(need "$f" timeout 120)))
		done
		vm --quiet --cpus "$cpus" --mem "$mem" --timeout "$limit" \
			--out "$out" --env ZRAM_KO="$(module "$kernel")" \
			"${where[@]}" -- "$TOP/tests/guest.sh" "$@" \
			>"$out.log" 2>&1 || sed "s/^/    /" "$out.log" >&2
		collect "$stage" "$out" "$@"
		set -- "${left[@]}"
	done
}

# The results of one boot; what it did not get to is left for the next.
collect() { # STAGE FOLDER FILE...
	local stage=$1 out=$2 f name
	shift 2

	left=()
	for f in "$@"; do
		name=$(basename "$f" .sh)
		if [ -e "$out/$name.rc" ] || [ -e "$out/$name.tap" ]; then
			python3 "$TOP/tests/tap.py" "$name" "$out" | points "$stage"
			say "$stage: $name done"
		else
			left+=("$f")
		fi
	done
	if [ ${#left[@]} -eq $# ]; then
		point "$stage" "not ok no test started, see $out"
		left=()
	elif [ -e "$out/status" ] && [ ! -s "$out/trouble" ]; then
		point "$stage" "ok clean log and no leak"
	else
		point "$stage" "not ok clean log and no leak, see $out"
	fi
}

functional() { # STAGE MACHINE KERNEL KIND
	local stage=$1 cpus mem file group='' files=() list smoke=''

	[ "$4" != smoke ] || smoke=y
	build "$stage" "$3" || return 0
	list=$(select_tests "$4")
	[ -n "$list" ] || { point "$stage" "not ok no tests"; return 0; }
	while read -r cpus mem file; do
		if [ "$cpus $mem" != "$group" ] && [ -n "$group" ]; then
			# shellcheck disable=SC2086 # two words
			run_group "$stage" "$2" "$3" $group "${files[@]}"
			files=()
		fi
		group="$cpus $mem"
		files+=("$file")
	done <<<"$list"
	# shellcheck disable=SC2086 # two words
	run_group "$stage" "$2" "$3" $group "${files[@]}"
}

# --- Stages -------------------------------------------------------------------

stage_6.1() {
	functional 6.1 qemu 6.1 qemu
}

stage_uml() {
	functional uml uml uml uml
}

stage_6.12() {
	functional 6.12 qemu 6.12 smoke
}

stage_builds() {
	local k

	for k in 6.1 6.12 uml; do
		build builds "$k" || true
	done
}

# The kernel's own parser reads the results; no result is a failure.
stage_kunit() {
	local out=$LOGS/kunit src counts passed failed

	build kunit uml ZRAM_KUNIT=1 || return 0
	rm -rf "$out"
	if vm --quiet --timeout 600 --out "$out" --append "kunit.enable=1 kunit.autorun=1" \
		--env ZRAM_KO="$(module uml -kunit)" \
		uml -- "$TOP/tests/kunit-guest.sh" >"$out.log" 2>&1; then
		point kunit "ok suites: clean log and no leak"
	else
		cat "$out.log" "$out/output" >&2
		point kunit "not ok suites: clean log and no leak, see $out"
	fi
	src=$("$TOP/scripts/kernel.sh" path src)
	"$src/tools/testing/kunit/kunit.py" parse "$out/dmesg" \
		>"$LOGS/kunit.txt" 2>&1 || true
	grep -E 'FAILED|ERROR|CRASHED|# .*(EXPECTATION|ASSERTION)' "$LOGS/kunit.txt" >&2 || true
	counts=$(sed -n 's/.*Testing complete\. //p' "$LOGS/kunit.txt")
	say "kunit: ${counts:-no results}"
	passed=$(count_of passed "$counts")
	failed=$(($(count_of failed "$counts") + $(count_of crashed "$counts") +
		$(count_of errors "$counts")))
	[ "$passed" -gt 0 ] || failed=$((failed + 1))
	repeat "$passed" "ok case" >>"$LOGS/kunit.points"
	repeat "$failed" "not ok case, see $LOGS/kunit.txt" >>"$LOGS/kunit.points"
}

repeat() { # N TEXT
	local i

	for ((i = 0; i < $1; i++)); do
		echo "$2"
	done
}

count_of() { # WORD TEXT
	local n

	n=$(sed -n "s/.*$1: \([0-9]*\).*/\1/p" <<<"$2")
	echo "${n:-0}"
}

# --- All of it ----------------------------------------------------------------

# A stage that does not come to its end fails, whatever it counted before.
run_stage() { # STAGE
	local start=$SECONDS

	say "$1: starting"
	( # in the background: elsewhere "set -e" would not hold
		"stage_$1"
		touch "$LOGS/$1.end"
	) &
	wait $! || true
	[ -e "$LOGS/$1.end" ] || point "$1" "not ok stage $1 came to its end"
	say "$1: $(tally "$1") ($((SECONDS - start)) s)"
}

tally() { # STAGE...
	local s passed=0 failed=0

	for s in "$@"; do
		passed=$((passed + $(grep -c '^ok' "$LOGS/$s.points" || true)))
		failed=$((failed + $(grep -vc '^ok' "$LOGS/$s.points" || true)))
	done
	echo "$passed passed, $failed failed"
}

lane() { # STAGE...
	local s

	for s in "$@"; do
		case " ${stages[*]} " in
		*" $s "*) run_stage "$s" ;;
		esac
	done
}

main() {
	local s skipped result
	local -a kernels=()

	[ $# -eq 0 ] || LOGS=$LOGS-$(IFS=-; echo "$*")
	stages=("$@")
	[ $# -gt 0 ] || stages=(builds kunit 6.1 uml 6.12)
	for s in "${stages[@]}"; do
		declare -F "stage_$s" >/dev/null || die "no stage '$s', see $0"
		case $s in
		6.*) kernels+=("$s") ;;
		*) kernels=(6.1 6.12 uml) && break ;;
		esac
	done

	"$TOP/scripts/kernel.sh" fetch "${kernels[@]}"
	rm -rf "$LOGS"
	mkdir -p "$LOGS"
	say "seed $SEED, logs in ${LOGS#"$TOP"/}"
	helpers

	# Two lanes for two cores, of about the same length
	lane builds
	lane 6.1 &
	lane kunit uml 6.12
	wait

	skipped=$(grep -h '# SKIP' "$LOGS"/*.points || true)
	[ -z "$skipped" ] || { say "skipped:"; echo "$skipped" >&2; }
	grep -h '^not ok' "$LOGS"/*.points | sed 's/^/    /' >&2 || true
	result=$(tally "${stages[@]}")
	echo "$result"
	[ "${result#* passed, }" = "0 failed" ]
}

main "$@"
exit
