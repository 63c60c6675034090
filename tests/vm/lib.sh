# shellcheck shell=bash
# Functions for the tests that run inside a guest; see docs/testing.md.
# SPDX-License-Identifier: GPL-2.0
#
# Every test sources this file, calls "begin", then checks, then "finish".
# Output is TAP. Environment:
#   ZRAM_KO     the module under test
#   TEST_BIN    the helper programs
#   TEST_TMP    a scratch directory of the guest's own (not the device)
#   TEST_SEED   seed of everything random, printed; default: the clock
#   TEST_SCALE  how many times the default amount of work; default 1
#   TEST_SMOKE  not empty: less of what takes long and is done elsewhere, too

set -u
export LC_ALL=C
export PATH="$PATH:/usr/sbin:/sbin"

TEST_SEED=${TEST_SEED:-$(date +%s)}
TEST_SCALE=${TEST_SCALE:-1}
TEST_TMP=${TEST_TMP:-$(mktemp -d)}
TEST_NAME=$(basename "$0" .sh)
export TEST_CORPUS="$TEST_TMP/corpus"
export CTL=/sys/class/zram-control

count=0
failed=0
finished=0
start=$SECONDS

diag() { printf '# %s\n' "$*"; }

pass() {
	count=$((count + 1))
	printf 'ok %d - %s\n' "$count" "$*"
}

fail() {
	count=$((count + 1))
	failed=$((failed + 1))
	printf 'not ok %d - %s\n' "$count" "$*"
}

skip() {
	count=$((count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$count" "$1" "$2"
}

bail() {
	printf 'Bail out! %s\n' "$*"
	finished=1
	exit 1
}

# check NAME COMMAND...: the command must succeed; its output is diagnostics.
check() {
	local name=$1 out rc

	shift
	out=$("$@" 2>&1)
	rc=$?
	[ -z "$out" ] || printf '%s\n' "$out" | tail -n 25 | sed 's/^/# /'
	if [ "$rc" -eq 0 ]; then
		pass "$name"
	else
		diag "status $rc: $*"
		fail "$name"
	fi
}

# refuse NAME COMMAND...: the command must fail (but not be killed).
refuse() {
	local name=$1 out rc

	shift
	out=$("$@" 2>&1)
	rc=$?
	if [ "$rc" -ne 0 ] && [ "$rc" -lt 126 ]; then
		pass "$name"
	else
		diag "status $rc: $* $out"
		fail "$name"
	fi
}

# is NAME GOT EXPECTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		diag "got '$2', expected '$3'"
		fail "$1"
	fi
}

# at_most NAME GOT LIMIT, at_least NAME GOT LIMIT (integers)
at_most() {
	diag "$1: $2 (at most $3)"
	if [ "$2" -le "$3" ]; then pass "$1"; else fail "$1"; fi
}

at_least() {
	diag "$1: $2 (at least $3)"
	if [ "$2" -ge "$3" ]; then pass "$1"; else fail "$1"; fi
}

# put FILE VALUE: one write(2) of VALUE; prints OK or the name of the error.
put() { "$TEST_BIN/sysput" "$1" "$2"; }

# puts NAME FILE VALUE EXPECTED: EXPECTED is a pattern such as OK or EINVAL.
puts() {
	local got

	got=$(put "$2" "$3")
	# shellcheck disable=SC2254 # a pattern on purpose
	case $got in
	$4) pass "$1" ;;
	*)
		diag "writing '${3:0:40}' to $2: $got, expected $4"
		fail "$1"
		;;
	esac
}

# must FILE VALUE: a write the rest of the test depends on.
must() {
	local got

	got=$(put "$1" "$2")
	[ "$got" = OK ] || bail "cannot write '$2' to $1: $got"
}

attr() { cat "/sys/block/$1/$2"; }

# stat_of DEVICE FILE COLUMN: columns count from 1.
stat_of() {
	local -a col

	read -ra col < "/sys/block/$1/$2"
	echo "${col[$3 - 1]}"
}

orig_data() { stat_of "$1" mm_stat 1; }
compr_data() { stat_of "$1" mm_stat 2; }
mem_used() { stat_of "$1" mm_stat 3; }
failed_writes() { stat_of "$1" io_stat 2; }

# algorithms DEVICE, reset DEVICE
algorithms() { tr -d '[]' < "/sys/block/$1/comp_algorithm"; }

# setup DEVICE SIZE [ALGORITHM]
setup() {
	[ -z "${3:-}" ] || must "/sys/block/$1/comp_algorithm" "$3"
	must "/sys/block/$1/disksize" "$2"
}

reset() { must "/sys/block/$1/reset" 1; }

loaded() { [ -d /sys/module/zram ]; }

# The libraries the module links to; none is an error, insmod will tell.
load_libraries() {
	local deps

	deps=$(modinfo -F depends "$ZRAM_KO" 2> /dev/null | tr ',' ' ')
	# shellcheck disable=SC2086 # a list
	for m in $deps lz4_compress lz4hc_compress zstd_compress lzo_compress \
		842_compress 842_decompress zlib_deflate; do
		modprobe -q "$m" 2> /dev/null
	done
}

# load [PARAMETER...]
load() {
	load_libraries
	insmod "$ZRAM_KO" "$@" || bail "insmod $ZRAM_KO $* failed"
	[ -b /dev/zram0 ] || [ "${1:-}" = num_devices=0 ] || bail "no /dev/zram0"
}

# Turn swap off, unmount and unload whatever an earlier test left.
unload() {
	local d

	loaded || return 0
	for d in /dev/zram*; do
		[ -b "$d" ] || continue
		swapoff "$d" 2> /dev/null
		umount "$d" 2> /dev/null
	done
	rmmod zram
}

# Free memory with caches dropped. The pages on the CPUs' own lists, tens of
# megabytes, are free, too.
free_kb() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	awk -v page=$(($(getconf PAGESIZE) / 1024)) '
		/^MemFree/ { kb += $2 }
		$1 == "count:" { kb += $2 * page }
		END { print kb }' /proc/meminfo /proc/zoneinfo
}

# remember_free, then taken_kb: the memory taken since
remember_free() {
	free_kb > /dev/null
	sleep 1
	free_before=$(free_kb)
}

taken_kb() { echo $((free_before - $(free_kb))); }

# given_back NAME KB: all but so much, within ten seconds (RCU, workers)
given_back() {
	local taken

	for _ in 1 2 3 4 5 6 7 8 9 10; do
		taken=$(taken_kb)
		[ "$taken" -gt "$2" ] || break
		sleep 1
	done
	at_most "$1" "$taken" "$2"
}

# corpus MB: real pages, from programs and libraries, in $TEST_CORPUS.
corpus() {
	local list="$TEST_TMP/corpus.list"

	mkdir -p "$TEST_TMP"
	find /usr/bin /usr/lib/*-linux-gnu -maxdepth 1 -type f -size +40k \
		-size -4000k 2> /dev/null | sort > "$list"
	head -c "${1}M" < <(xargs -r cat < "$list" 2> /dev/null) > "$TEST_CORPUS"
	[ "$(stat -c %s "$TEST_CORPUS")" -gt 1000000 ] || bail "no real pages"
}

# begin [PARAMETER...]: load the module afresh.
begin() {
	trap at_exit EXIT
	mkdir -p "$TEST_TMP"
	diag "$TEST_NAME on $(uname -r), $(nproc) CPUs, seed $TEST_SEED"
	echo "$TEST_NAME: begin" > /dev/kmsg
	unload || bail "the module loaded before cannot be removed"
	load "$@"
}

kernel_log() {
	dmesg | sed "1,/$TEST_NAME: begin/d" | grep -E \
		'WARNING: |BUG: |BUG:|Oops|KASAN|UBSAN|general protection|INFO: (task|rcu|possible)|INFO: trying|sleeping function|scheduling while atomic|inconsistent lock|page allocation failure|unreferenced object'
}

at_exit() {
	[ "$finished" -eq 1 ] || printf 'Bail out! %s ended early\n' "$TEST_NAME"
	[ "$finished" -eq 1 ] || exit 1
}

# finish: unload, look at the kernel log, print the plan, set the status.
finish() {
	if ! loaded; then
		:
	elif unload; then
		pass "the module unloads"
	else
		fail "the module unloads"
	fi
	if kernel_log | sed 's/^/# /' | grep .; then
		fail "the kernel log is clean"
	else
		pass "the kernel log is clean"
	fi
	rm -f "$TEST_CORPUS"
	diag "$TEST_NAME took $((SECONDS - start)) s"
	printf '1..%d\n' "$count"
	finished=1
	[ "$failed" -eq 0 ] || exit 1
	exit 0
}
