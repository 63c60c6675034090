#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What "make demo" does inside the guest. Any step that fails ends it.
#
#   ZRAM_KO   the module        DEMO_FILL   the program demo-fill
#   SOURCES   a source tree     PROGRAM     a C file to compile
#   FILES     a list of files to take real pages from
set -euo pipefail

DEV=/sys/block/zram0
ROWS=/tmp/rows

step() {
	printf '\n[%4.0f s] %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*"
}

run() {
	printf '  $ %s\n' "$*"
	"$@" 2>&1 | sed 's/^/    /'
}

put() { # VALUE ATTRIBUTE
	printf '  $ echo %s > %s\n' "$1" "$DEV/$2"
	echo "$1" >"$DEV/$2"
}

ms() {
	date +%s%3N
}

# Adds a line to the final table from what the device says now.
row() { # NAME WRITE-MB/s READ-MB/s
	local orig used

	read -r orig _ used _ <"$DEV/mm_stat"
	awk -v n="$1" -v o="$orig" -v u="$used" -v w="$2" -v r="$3" 'BEGIN {
		printf "%-26s %9.1f %9.1f %7.2f %9.1f %8s %8s\n",
		       n, o / 1048576, u / 1048576, o / u, (o - u) / 1048576, w, r
	}' >>"$ROWS"
}

load() {
	local dep

	step "Loading zram.ko into Debian's kernel $(uname -r)"
	for dep in $(modinfo -F depends "$ZRAM_KO" | tr ',' ' '); do
		modprobe "$dep"
	done
	run insmod "$ZRAM_KO"
	run cat "$DEV/comp_algorithm"
}

swap() {
	local total mb pages fill verify watch

	total=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
	mb=$((total * 3 / 2))
	step "Swap: $mb MB of real pages in a machine of $total MB"
	put zstd comp_algorithm
	put $((total * 2))M disksize
	run mkswap /dev/zram0
	run swapon --discard -p 100 /dev/zram0
	echo "  $ demo-fill $mb    # pages of programs and libraries, each verified"
	# The figure that matters is the one while swap is full.
	(
		while sleep 5; do
			read -r orig _ used _ <"$DEV/mm_stat"
			echo "    swapped $((orig >> 20)) MB, in $((used >> 20)) MB of memory"
			[ "$orig" -le "$(cat /tmp/most 2>/dev/null || echo 0)" ] || {
				echo "$orig" >/tmp/most
				cat "$DEV/mm_stat" >/tmp/mm_stat
			}
		done
	) &
	watch=$!
	read -r pages fill verify < <("$DEMO_FILL" "$mb" "$FILES")
	kill "$watch"
	wait "$watch" 2>/dev/null || true
	echo "    $pages pages, each read back and right"
	DEV=/tmp row "swap, zstd" "$fill" "$verify"
	run swapoff /dev/zram0
	put 1 reset
}

# Bytes per millisecond, as MB/s
speed() { # MB MILLISECONDS
	echo $(($1 * 1000 / ($2 > 0 ? $2 : 1)))
}

filesystem() {
	local start before mb w r

	step "A scratch file system: ext4 with discard on lzo-rle"
	put lzo-rle comp_algorithm
	put 512M disksize
	run mkfs.ext4 -q -O ^has_journal /dev/zram0
	mkdir -p /tmp/scratch
	run mount -o discard /dev/zram0 /tmp/scratch
	mb=$(du -sm "$SOURCES" | cut -f1)
	echo "  $ cp -r SOURCES /tmp/scratch    # $mb MB"
	start=$(ms)
	cp -r "$SOURCES" /tmp/scratch/tree
	sync -f /tmp/scratch
	w=$(speed "$mb" $(($(ms) - start)))
	(cd "$SOURCES" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >/tmp/sums
	umount /tmp/scratch
	run mount -o discard /dev/zram0 /tmp/scratch
	start=$(ms)
	(cd /tmp/scratch/tree && sha256sum --quiet -c /tmp/sums)
	r=$(speed "$mb" $(($(ms) - start)))
	echo "    $(wc -l </tmp/sums) files, all checksums right"
	cp "$PROGRAM" "$(dirname "$PROGRAM")"/*.h /tmp/scratch/
	run gcc -O1 -pthread -o /tmp/scratch/program "/tmp/scratch/$(basename "$PROGRAM")"
	run ls -l /tmp/scratch/program
	sync -f /tmp/scratch
	row "ext4, lzo-rle" "$w" "$r"
	before=$(awk '{ print int($3 / 1024) }' "$DEV/mm_stat")
	rm -rf /tmp/scratch/tree
	run fstrim -v /tmp/scratch
	echo "    memory used: $before KB before, $(awk '{ print int($3 / 1024) }' \
		"$DEV/mm_stat") KB after deleting the tree and fstrim"
	umount /tmp/scratch
	put 1 reset
}

# The same data with each algorithm, set with zramctl and through sysfs.
tuning() {
	local mb=24 algorithm start w

	step "Tuning: the same $mb MB with each algorithm"
	xargs cat <"$FILES" 2>/dev/null | head -c ${mb}M >/tmp/corpus || true
	for algorithm in lzo lzo-rle lz4 lz4hc zstd deflate 842; do
		tr -d '[]' <"$DEV/comp_algorithm" | grep -qw "$algorithm" || continue
		case $algorithm in
		lz4 | zstd) run zramctl --algorithm "$algorithm" --size ${mb}M /dev/zram0 ;;
		*)
			put "$algorithm" comp_algorithm
			put ${mb}M disksize
			;;
		esac
		start=$(ms)
		dd if=/tmp/corpus of=/dev/zram0 bs=1M oflag=direct status=none
		w=$(speed $mb $(($(ms) - start)))
		start=$(ms)
		dd if=/dev/zram0 of=/dev/null bs=1M iflag=direct status=none
		row "raw, $algorithm" "$w" "$(speed $mb $(($(ms) - start)))"
		cmp /tmp/corpus /dev/zram0
		[ "$algorithm" != zstd ] || run zramctl
		echo 1 >"$DEV/reset"
	done
}

load
swap
filesystem
tuning
step "Unloading"
run rmmod zram

printf '\n%-26s %9s %9s %7s %9s %8s %8s\n' "" "stored" "memory" "" "saved" \
	"write" "read"
printf '%-26s %9s %9s %7s %9s %8s %8s\n' "use, algorithm" "MB" "MB" "ratio" \
	"MB" "MB/s" "MB/s"
cat "$ROWS"
