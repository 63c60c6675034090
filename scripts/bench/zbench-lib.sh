# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# zbench, the load generator in the kernel: sourced by guests that use it, after
# guest-lib.sh.
: "${BENCH_KO:?}"
DBG=/sys/kernel/debug/zbench

generator() { # FILE of pages to write
	rmmod zbench 2>/dev/null
	load_needed "$BENCH_KO"
	insmod "$BENCH_KO" corpus="$1" || fail "cannot load zbench"
}

run() { # WORDS...
	echo "$*" >$DBG/run || fail "cannot run: $*"
}

# What zbench says, with the names that all results have.
measured() { # TEST CONFIG ALGORITHM FIELD UNIT
	result_line "{\"test\": \"$1\", \"config\": \"$2\", \"alg\": \"$3\", \
\"round\": ${round:-1}, \"unit\": \"$5\", $(sed "s/^{//; s/\"alg\": [^,]*, //; \
s/\"$4\"/\"value\"/" $DBG/result)"
}
