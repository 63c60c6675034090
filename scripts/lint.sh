#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make lint: checkpatch, sparse, shellcheck, warnings, and the house rules.
set -euo pipefail

. "$(dirname "$0")/common.sh"

cd "$TOP"
shopt -s nullglob
kernel_code=(./*.[ch] tests/kunit/*.[ch] tests/bench/z*.[ch])
c_code=("${kernel_code[@]}" tests/vm/*.[ch] tests/bench/*.c)
scripts=(scripts/*.sh scripts/bench/*.sh tests/*.sh tests/vm/*.sh .ci/run)
bad=0

step() { # NAME COMMAND...
	local name=$1 log
	shift

	log=$("$@" 2>&1) && { say "$name: good"; return; }
	printf '%s\n' "$log"
	say "$name: BAD"
	bad=1
}

# compat.h is there to know versions and to use the names that went away.
run_checkpatch() {
	local tool f bad=0
	local -a ignore
	tool=$(scripts/kernel.sh path src)/scripts/checkpatch.pl

	for f in "${kernel_code[@]}"; do
		ignore=()
		[ "$f" != ./compat.h ] ||
			ignore=(--ignore "LINUX_VERSION_CODE,CONSTANT_COMPARISON,CAMELCASE")
		perl "$tool" "${ignore[@]}" -f "$f" || bad=1
	done
	return "$bad"
}

# Sparse, and gcc's own warnings. What either has to say about the kernel's
# headers is not ours. A sparse that a kernel refuses checks nothing.
run_sparse() {
	local kernel log checker

	for kernel in 6.1 6.12 7; do
		checker=sparse
		[ "$kernel" != 7 ] || checker=$(scripts/kernel.sh sparse)
		log=$(make KVER="$kernel" W=1 KCFLAGS=-Werror C=2 CHECK="$checker" 2>&1) ||
			{ echo "$log"; return 1; }
		! grep -E "^($TOP/build/|[a-z_]*\.[ch]:).*(warning|error):" <<<"$log" || return 1
		grep -q '^ *CHECK ' <<<"$log" || { echo "$log"; return 1; }
	done
}

run_shellcheck() {
	shellcheck -x "${scripts[@]}"
}

# No match is good: none FILTER PATTERN FILE...
none() {
	! grep -nE "$@"
}

no_long_file() {
	! wc -l "${c_code[@]}" "${scripts[@]}" |
		awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines"; n++ } END { exit !n }'
}

no_version_outside_compat() {
	! grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION' "${kernel_code[@]}" |
		grep -v '^\./compat\.h:'
}

step "checkpatch --strict" run_checkpatch
step "sparse and W=1" run_sparse
step "shellcheck" run_shellcheck
step "no file over 600 lines" no_long_file
step "no #if in a .c file" none '^\s*#\s*if' ./*.c tests/kunit/*.c
step "kernel versions in compat.h only" no_version_outside_compat
step "no BUG_ON" none '\bBUG(_ON)?\(' "${kernel_code[@]}"
step "nothing left to do" none '\b(TODO|FIXME|XXX)\b' "${c_code[@]}" \
	tests/vm/*.sh tests/run.sh
exit $bad
