#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make mutants: breaks copies of the driver on purpose; the tests must notice.
#
#   mutate.sh [NAME...]    all mutations, or some
#   mutate.sh --control [NAME...]
#                          their tests on a copy that is not broken: all green
#   mutate.sh --list       what there is, as the table in docs/testing.md
#
# A mutation is tests/mutations/NAME.patch, one fault, which begins with
#
#   # what: the fault
#   # red: vm TEST         which functional test has to notice, or
#   # red: kunit SUITE     which suite; may be repeated
#
# They are built one after the other in copies of the sources, build/mutants/source-*;
# modules and logs are left in build/mutants/NAME. A test is red if it started and
# then failed, or its guest died, hung or complained.
#
# shellcheck source-path=SCRIPTDIR/../scripts
set -euo pipefail

. "$(dirname "$0")/../scripts/common.sh"

PATCHES=$TOP/tests/mutations
MUTANTS=$TOP/build/mutants
TROUBLE=$TOP/scripts/trouble.txt
SEED=${TEST_SEED:-1}

header() { # PATCH KEY
	sed -n "/^---/q; s/^# $2: //p" "$1"
}

need() { # FILE KEY DEFAULT
	local value

	value=$(sed -n "s/^# needs:.* $2=\([^ ]*\).*/\1/p" "$1")
	echo "${value:-$3}"
}

helpers() {
	local c

	mkdir -p "$MUTANTS/bin"
	for c in "$TOP"/tests/vm/*.c; do
		gcc -O2 -static -pthread -o "$MUTANTS/bin/$(basename "$c" .c)" "$c"
	done
}

# --- Building -----------------------------------------------------------------

# What a test runs on: uml, 6.1, or kunit, which is uml with the suites inside.
place_of() { # KIND TEST
	if [ "$1" = kunit ]; then
		echo kunit
	elif [ "$(need "$TOP/tests/vm/$2.sh" uml yes)" = yes ]; then
		echo uml
	else
		echo 6.1
	fi
}

# Makes the copy like the original again, touching only what differs.
copy() { # FOLDER
	local f

	mkdir -p "$1/tests/kunit"
	for f in "$1"/*.[ch] "$1"/tests/kunit/*.[ch]; do
		[ -e "$TOP/${f#"$1"/}" ] || rm -f "$f"
	done
	for f in "$TOP"/Kbuild "$TOP"/*.[ch] "$TOP"/tests/kunit/*.[ch]; do
		cmp -s "$f" "$1/${f#"$TOP"/}" || cp "$f" "$1/${f#"$TOP"/}"
	done
}

compile() { # FOLDER PLACE
	local kernel=uml
	local -a vars=(CONFIG_DEBUG_INFO_BTF_MODULES=)

	case $2 in
	kunit) vars+=(ARCH=um ZRAM_KUNIT=1) ;;
	uml) vars+=(ARCH=um) ;;
	*) kernel=$2 ;;
	esac
	nice make -j"$(nproc)" -C "$("$TOP/scripts/kernel.sh" path "$kernel")" \
		M="$1" "${vars[@]}" modules
}

# A copy with the patch (none for "control") in it, built. Says what is wrong.
build() { # NAME PLACE
	local copy=$MUTANTS/source-$2 out=$MUTANTS/$1/$2

	[ ! -e "$out/zram.ko" ] || return 0
	mkdir -p "$out"
	copy "$copy"
	if [ "$1" != control ] && ! patch -d "$copy" -p1 -F1 -f -r - \
		--no-backup-if-mismatch <"$PATCHES/$1.patch" >"$out/patch.log" 2>&1; then
		echo "the patch does not apply, see $out/patch.log"
		return 1
	fi
	rm -f "$copy/zram.ko"
	if ! compile "$copy" "$2" >"$out/build.log" 2>&1; then
		echo "it does not build, see $out/build.log"
		return 1
	fi
	cp "$copy/zram.ko" "$out"
}

# --- Running ------------------------------------------------------------------

vm() {
	nice "$TOP/scripts/vm.sh" --quiet "$@"
}

run_vm() { # TEST FOLDER PLACE OUT
	local file=$TOP/tests/vm/$1.sh cpus
	local -a where=(uml)

	cpus=$(need "$file" cpus 2)
	if [ "$3" != uml ]; then
		where=(qemu "$3")
	elif grep -q '^# needs:.*\bswap\b' "$file"; then
		cpus=1
	fi
	vm --cpus "$cpus" --mem "$(need "$file" mem 1G)" --out "$4" \
		--timeout $((90 + $(need "$file" timeout 120))) \
		--env ZRAM_KO="$2/zram.ko" --env TEST_BIN="$MUTANTS/bin" \
		--env TEST_SEED="$SEED" \
		"${where[@]}" -- "$TOP/tests/guest.sh" "$file"
}

run_kunit() { # SUITE FOLDER PLACE OUT
	vm --timeout 240 --out "$4" \
		--append "kunit.enable=1 kunit.autorun=1 kunit.filter_glob=$1" \
		--env ZRAM_KO="$2/zram.ko" \
		uml -- "$TOP/tests/kunit-guest.sh"
}

started() { # KIND TEST OUT
	case $1 in
	vm) grep -qs "^# $2 on " "$3/$2.tap" ;;
	kunit) grep -qs "# Subtest: $2\$" "$3/dmesg" ;;
	esac
}

# What was seen first, one line; nothing where all is well.
seen() { # KIND TEST OUT STATUS
	local log=$3/dmesg why=

	[ "$1" = kunit ] || log=$3/$2.tap
	why=$(grep -shoE -m1 '(not ok [0-9]+|Bail out!).*' "$log" || true)
	# The console has the boot, too, of which we expect nothing.
	[ -n "$why" ] || [ "$4" = 0 ] || why=$({
		grep -shEf "$TROUBLE" "$3/dmesg" "$3/leaks"
		grep -shoE '(BUG|WARNING): .* (at|in) .*|Kernel panic.*' "$3/console"
	} | head -n 1 || true)
	[ -n "$why" ] || [ "$4" != 124 ] || why="the guest hung"
	[ -n "$why" ] || [ "$4" = 0 ] || why="status $4"
	echo "$why"
}

# --- Points -------------------------------------------------------------------

count=0
failed=0

point() { # ok | "not ok" TEXT REASON
	count=$((count + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $count - $2"
	[ -z "$3" ] || echo "#   $3"
}

try() { # NAME KIND TEST
	local place dir out why status=0

	place=$(place_of "$2" "$3")
	dir=$MUTANTS/$1/$place
	out=$MUTANTS/$1/$2-$3
	if ! why=$(build "$1" "$place"); then
		point "not ok" "$1 cannot be tried on $2 $3" "$why"
		return
	fi
	rm -rf "$out"
	mkdir -p "$out"
	"run_$2" "$3" "$dir" "$place" "$out" </dev/null >"$out.log" 2>&1 || status=$?
	why=$(seen "$2" "$3" "$out" "$status")
	if ! started "$2" "$3" "$out"; then
		point "not ok" "$1: $2 $3 does not start, see $out" "$why"
	elif [ "$1" = control ] && [ -n "$why" ]; then
		point "not ok" "$2 $3 is red without a fault" "$why"
	elif [ "$1" = control ]; then
		point ok "$2 $3 is green without a fault" ""
	elif [ -n "$why" ]; then
		point ok "$1 turns $2 $3 red" "$why"
	else
		point "not ok" "$1: $2 $3 stays green" ""
	fi
}

list() { # NAME...
	local name

	for name; do
		echo "| $name | $(header "$PATCHES/$name.patch" what) |" \
			"$(header "$PATCHES/$name.patch" red | paste -sd, |
				sed 's/,/, /g') |"
	done
}

control() { # NAME...
	local kind test

	rm -rf "$MUTANTS/control"
	while read -r kind test; do
		try control "$kind" "$test"
	done < <(for name; do
		header "$PATCHES/$name.patch" red
	done | sort -u)
}

mutants() { # NAME...
	local name kind test

	for name; do
		rm -rf "${MUTANTS:?}/$name"
		while read -r kind test; do
			try "$name" "$kind" "$test"
		done < <(header "$PATCHES/$name.patch" red)
	done
}

main() {
	local job=mutants p

	case ${1:-} in
	--control | --list) job=${1#--} && shift ;;
	esac
	if [ $# -eq 0 ]; then
		for p in "$PATCHES"/*.patch; do
			set -- "$@" "$(basename "$p" .patch)"
		done
	fi
	for p; do
		[ -e "$PATCHES/$p.patch" ] || die "no mutation '$p' in $PATCHES"
	done
	[ "$job" != list ] || { list "$@" && return; }
	"$TOP/scripts/kernel.sh" fetch 6.1 uml
	mkdir -p "$MUTANTS"
	helpers
	$job "$@"
	echo "$((count - failed)) passed, $failed failed"
	[ "$failed" -eq 0 ]
}

main "$@"
exit
