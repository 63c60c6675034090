# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# zbench, the load generator in the kernel: sourced by guests that use it, after
# guest-lib.sh.
: "${BENCH_KO:?}"
DBG=/sys/kernel/debug/zbench
runs=0

generator() { # FILE of pages to write
	rmmod zbench 2>/dev/null
	load_needed "$BENCH_KO"
	insmod "$BENCH_KO" corpus="$1" || fail "cannot load zbench"
}

run() { # WORDS...
	echo "$*" >$DBG/run || fail "cannot run: $*"
}

# Of the same seed, a write would find the very contents there that it brings, and
# objects of the right size. A run of several passes takes as many seeds, up to 17;
# that is odd, so that the next one's contents are from another part of the corpus.
# Whoever starts with a driver sets runs=0, so that both do the same work.
run_anew() { # WORDS...
	runs=$((runs + 1))
	run "$* random=1 seed=$((${round:-1} * 1000 + runs * 17))"
}

# The caller's every_kind, on the device that does nothing.
on_null() {
	runs=0
	printf /dev/znull >/sys/module/zbench/parameters/device
	every_kind null- null none
	printf /dev/zram0 >/sys/module/zbench/parameters/device
}

# What zbench says, with the names that all results have.
measured() { # TEST CONFIG ALGORITHM FIELD UNIT
	result_line "{\"test\": \"$1\", \"config\": \"$2\", \"alg\": \"$3\", \
\"round\": ${round:-1}, \"unit\": \"$5\", $(sed "s/^{//; s/\"alg\": [^,]*, //; \
s/\"$4\"/\"value\"/" $DBG/result)"
}
