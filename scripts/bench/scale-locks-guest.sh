#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Inside a guest of the kernel with lock statistics: how often locks are taken
# for a page, and for how long, with both drivers in turn. See scale.sh.
set -u
. "$(dirname "$0")/guest-lib.sh"
. "$(dirname "$0")/zbench-lib.sh"
# shellcheck disable=SC2153 # they come from scale.sh
: "$CORPUS_FILE" "$ROUNDS" "$ALG" "$PAGES"

# A line of JSON for each lock that is taken at least once in ten bios. A lock's
# name may hold colons; twelve numbers follow it.
counted() { # TEST CONFIG BIO-PAGES
	awk -v test="$1" -v config="$2" -v bio="$3" -v round="$round" -v pages="$PAGES" '
	NF > 12 && $(NF - 12) ~ /:$/ && $(NF - 4) >= pages / bio / 10 {
		name = $1
		for (i = 2; i <= NF - 12; i++)
			name = name " " $i
		sub(/:$/, "", name)
		gsub(/["\\]/, "", name)
		printf "{\"test\": \"lock-%s\", \"config\": \"%s\", \"round\": %d, ", test, config, round
		printf "\"bio\": %d, \"lock\": \"%s\", \"value\": %.4f, ", bio, name, $(NF - 4) / pages
		printf "\"unit\": \"times/page\", \"hold_ns_per_page\": %.2f, ", $(NF - 1) * 1000 / pages
		printf "\"hold_ns\": %.2f, \"contentions\": %d}\n", $(NF - 1) * 1000 / $(NF - 4), $(NF - 10)
	}' /proc/lock_stat | while read -r line; do
		result_line "$line"
	done
}

watch() { # TEST CONFIG BIO-PAGES WORDS
	step "$2: $1, $3 pages per bio"
	echo 0 >/proc/lock_stat
	echo 1 >/proc/sys/kernel/lock_stat
	run_anew "$4 bio=$3 pages=$PAGES"
	echo 0 >/proc/sys/kernel/lock_stat
	counted "$1" "$2" "$3"
}

one_driver() { # ours | theirs
	load "$1"
	# Once before: a lock that is used for the first time inherits the
	# figures of another that is gone, and resetting them comes too early.
	device "$ALG" $((PAGES * 4096))
	run "op=write pages=$PAGES random=1 seed=9"
	run "op=read pages=$PAGES"
	reset_device
	device "$ALG" $((PAGES * 4096))
	runs=0
	watch fill "$1" 1 op=write
	watch read "$1" 1 op=read
	watch read "$1" 16 op=read
	watch overwrite "$1" 1 op=write
	watch overwrite "$1" 16 op=write
	reset_device
	unload
}

[ -e /proc/lock_stat ] || fail "this kernel has no lock statistics"
echo 0 >/proc/sys/kernel/lock_stat
generator "$CORPUS_FILE"
run "op=lock pages=$PAGES"
steps $((ROUNDS * 11))
for round in $(seq "$ROUNDS"); do
	watch empty none 1 op=lock
	for who in $(alternate "$round" ours theirs); do
		one_driver "$who"
	done
done
