#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest: the six fio tests with growing numbers of jobs, on lists of 4
# and 8 streams, on streams per CPU, and on the in-tree driver. PART says what
# is taken from it:
#
#   speed          MB/s, seconds, context switches (User Mode Linux)
#   nothing        whoever started this guest counts
#   instructions   executed by fio, user and kernel: one CPU, -icount (QEMU)
#   contention     locks that were not free, from lock_stat (User Mode Linux)
set -u
. "$(dirname "$0")/guest-lib.sh"
# shellcheck disable=SC2153 # they come from streams.sh
: "$PART" "$JOBS" "$ALGS" "$ROUNDS" "$DISK" "$IO" "$BS" "$CORPUS_FILE"
TESTS=(read randread write randwrite rw randrw)
CONFIGS=${CONFIGS:-list4 list8 ours theirs}
FIO=$(dirname "$(realpath "$0")")/streams.fio
GROUP=/sys/fs/cgroup/fio
base=()

# fio leaves the output of "dd" where it is started.
cd /tmp || exit
for i in {1..10}; do
	truncate -s 64M "/tmp/pages$i"
done

# Tests in one run of fio, each with so many jobs, one test after the other as
# each is a file of its own: starting fio is most of a short run. Prints KiB/s
# read and written, a line for each test (terse output, version 3).
run_fio() { # JOBS IO TEST...
	local jobs=$1 io=$2 test
	shift 2

	for test; do
		job_file "$test" "$jobs" >"$test.fio"
	done
	IO=$io BS=$BS CORPUS_FILE=$CORPUS_FILE \
		fio --minimal "${@/%/.fio}" >fio.out 2>&1 ||
		{ tail -5 fio.out >&2; return 1; }
	# Every job of every test has done what it was to do, or nothing counts.
	awk -F';' -v want=$((jobs * $(kib "$io"))) -v tests=$# '
		/^3;/ { print $7, $48; n++; if ($6 + $47 != want) bad = $6 + $47 }
		END {
			if (n == tests && !bad) exit 0
			print n " tests, " bad " KiB, not " want >"/dev/stderr"
			exit 1
		}' fio.out
}

# The job file of one test; who only reads needs no pages. (--section would be
# for the first of several files only, and all jobs of the others run.)
job_file() { # TEST JOBS
	sed "s/\${RW}/$1/; /^\[job$(($2 + 1))\]/,\$d" "$FIO" |
		case $1 in
		read | randread) sed '/^exec_prerun/d' ;;
		*) cat ;;
		esac
}

kib() { # 64k | 4M
	case $1 in
	*[kK]) echo "${1%?}" ;;
	*[mM]) echo $((${1%?} << 10)) ;;
	*[gG]) echo $((${1%?} << 20)) ;;
	*) fail "what size is $1?" ;;
	esac
}

# Everybody's part of the device gets pages of the corpus.
set_up() { # CONFIG ALGORITHM
	case $1 in
	list*)
		load ours force_stream_list=1
		device "$2" "$DISK" "${1#list}"
		;;
	*)
		load "$1"
		device "$2" "$DISK"
		;;
	esac
	fill
}

# The corpus, over and over, until the device is full: MiB by MiB.
fill() {
	local at all each count

	all=$(($(<$SYS/disksize) >> 20))
	each=$(($(stat -c %s "$CORPUS_FILE") >> 20))
	for ((at = 0; at < all; at += each)); do
		count=$((all - at < each ? all - at : each))
		dd if="$CORPUS_FILE" of=/dev/zram0 bs=1M count=$count seek=$at \
			oflag=direct conv=notrunc status=none ||
			fail "cannot fill the device"
	done
}

switches() {
	awk '/^ctxt/ { print $2 }' /proc/stat
}

now() {
	echo "${EPOCHREALTIME/./}"
}

rate() { # TEST CONFIG ALGORITHM JOBS WAY KIB
	[ "$6" = 0 ] || result test="$1" config="$2" alg="$3" jobs="$4" \
		way="$5" unit=KiB/s value="$6"
}

speed() { # CONFIG ALGORITHM JOBS
	local begin before us ctxt read_kib write_kib test

	before=$(switches)
	begin=$(now)
	run_fio "$3" "$IO" "${TESTS[@]}" >rates || fail "fio with $3 jobs"
	us=$(($(now) - begin))
	ctxt=$(($(switches) - before))
	for test in "${TESTS[@]}"; do
		read -r read_kib write_kib || fail "fio said nothing about $test"
		rate "$test" "$@" READ "$read_kib"
		rate "$test" "$@" WRITE "$write_kib"
	done <rates
	result test=elapsed config="$1" alg="$2" jobs="$3" unit=s \
		value="$((us / 1000000)).$(printf %06d $((us % 1000000)))"
	result test=switches config="$1" alg="$2" jobs="$3" unit=switches \
		value="$ctxt"
}

nothing() { # CONFIG ALGORITHM JOBS
	run_fio "$3" "$IO" "${TESTS[@]}" >rates || fail "fio with $3 jobs"
}

# CPU time, in microseconds: so many instructions each, see streams.sh.
in_group() {
	awk '/^usage_usec/ { print $2 }' $GROUP/cpu.stat
}

instructions() { # CONFIG ALGORITHM JOBS
	# The same for all: starting fio and jobs that have one block to do. Once
	# before, as the first fio of a guest has to be read from the host.
	if [[ ! -v base[$3] ]]; then
		[ ${#base[@]} != 0 ] || used_by "$3" "$BS" >/dev/null
		base[$3]=$(used_by "$3" "$BS") || fail "fio with $3 jobs"
	fi
	result test=instructions config="$1" alg="$2" jobs="$3" \
		unit=instructions start="${base[$3]}" \
		value="$(used_by "$3" "$IO")"
}

used_by() { # JOBS IO
	local before

	mkdir -p $GROUP
	before=$(in_group)
	(echo $BASHPID >$GROUP/cgroup.procs
		run_fio "$1" "$2" "${TESTS[@]}") >rates || return
	echo $((($(in_group) - before) * PER_US))
}

# What lock_stat says: how often a lock was not free, how many microseconds that
# took, less the longest time for each lock, the longest, and which locks. One
# that waits for a CPU that the host does not run takes seconds. A lock is the driver's if it is waited for in its
# module or in the kernel's zsmalloc.
contended() {
	awk '
		/\[</ { if (/\[(zram|zsmalloc)\]/) own[name] = 1; next }
		/: +[0-9]+ +[0-9]+ +[0-9.]+ / {
			name = $0; sub(/:[^:]*$/, "", name); gsub(/^ +/, "", name)
			line = $0; sub(/.*:/, "", line); split(line, field, " ")
			waits[name] += field[2]; us[name] += field[5] - field[4]
			longest[name] = field[4]
		}
		END {
			for (name in waits) {
				all += waits[name]
				if (!own[name] || !waits[name]) continue
				sum += waits[name]; time += us[name]
				if (longest[name] > most) most = longest[name]
				names = names (names ? ", " : "") name " " waits[name]
			}
			printf "%d %.1f %.1f %d %s\n", sum, time, most, all, names
		}' /proc/lock_stat
}

contention() { # CONFIG ALGORITHM JOBS
	local waits us longest all names

	# Once before: a lock that is used for the first time inherits the
	# figures of another that is gone, and resetting them comes too early.
	run_fio "$3" "$BS" "${TESTS[@]}" >rates || fail "fio with $3 jobs"
	echo 0 >/proc/lock_stat
	echo 1 >/proc/sys/kernel/lock_stat
	run_fio "$3" "$IO" "${TESTS[@]}" >rates || fail "fio with $3 jobs"
	echo 0 >/proc/sys/kernel/lock_stat
	read -r waits us longest all names < <(contended)
	result test=contention config="$1" alg="$2" jobs="$3" unit=waits \
		value="$waits" us="$us" longest_us="$longest" all="$all" \
		locks="$names"
}

# shellcheck disable=SC2086 # lists
main() {
	local alg config jobs algs configs

	set -- $JOBS
	read -ra algs <<<"$ALGS"
	read -ra configs <<<"$CONFIGS"
	steps $((ROUNDS * ${#algs[@]} * ${#configs[@]} * $#))
	for round in $(seq "$ROUNDS"); do
		for alg in "${algs[@]}"; do
			for config in $(alternate "$round" "${configs[@]}"); do
				set_up "$config" "$alg"
				for jobs in $JOBS; do
					step "$config, $alg, $jobs jobs"
					$PART "$config" "$alg" "$jobs"
				done
				[ "$PART" != speed ] ||
					result test=memory config="$config" alg="$alg" \
					unit=bytes value="$(mm_stat 3)" stored="$(mm_stat 1)" \
					compressed="$(mm_stat 2)"
				reset_device
				unload
			done
		done
	done
}

main
