#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-scale: what happens when many do it at once, with both drivers:
# file operations and git diff on ext4 on the device, bios from threads in the
# kernel, and how often and how long the drivers' locks are held for a page.
#
#   PARALLEL     processes of the file operations
#   FILE_TIME    seconds for each figure of them
#   TREES        trees that git diff works on at once; FILES in each
#   THREADS      of bios; PAGES of the device they go to
set -euo pipefail

. "$(dirname "$0")/lib.sh"

# Files of the kernel's source, one in twenty of them changed since the commit.
make_tree() {
	local src list=$OUT/files dir=$OUT/tree

	"$TOP/scripts/kernel.sh" fetch src
	src=$("$TOP/scripts/kernel.sh" path src)
	TREE=$BENCH_BUILD/tree-$FILES-$(basename "$src").tar
	[ ! -s "$TREE" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir"
	(cd "$src" && find lib mm kernel fs -type f -name '*.[ch]' | LC_ALL=C sort) >"$list.all"
	sed "$FILES q" "$list.all" >"$list"
	[ "$(wc -l <"$list")" = "$FILES" ] || die "the source has no $FILES files"
	rsync -a --files-from="$list" "$src/" "$dir/"
	git -C "$dir" init -q
	git -C "$dir" add .
	git -C "$dir" -c user.name=bench -c user.email=bench@localhost commit -qm tree
	git -C "$dir" gc -q
	sed -n '1~20p' "$list" | while read -r file; do
		echo "/* changed */" >>"$dir/$file"
	done
	tar -C "$dir" --owner=0 --group=0 -cf "$TREE.new" .
	mv "$TREE.new" "$TREE"
	rm -rf "$dir"
}

bench_begin scale
option CPUS $(($(nproc) < 8 ? $(nproc) : 8))
option MEM 2G
option ROUNDS 6 2
option ALG lzo-rle
option DISK 1G
option PARALLEL "1 2 4 8 16 32 64" "1 4 64"
option FILE_TIME 2 0.4
option TREES "1 2 4 8 16" "1 4 8"
option FILES 800 400
option DIFFS 5 3
option THREADS "1 2 4 8 64"
option PAGES 65536 16384
bench_kernel uml-stat
bench_module zbench
STAT_KO=$BENCH_KO
META+=("others=$RELEASE (locks)")
bench_kernel uml-perf
bench_module zbench
bench_corpus
make_tree
META+=("git=$(git --version | cut -d' ' -f3)"
	"tree_mib=$(($(stat -c %s "$TREE") >> 20))")
bench_meta
bench_guest --env BENCH_KO="$BENCH_KO" --env TREE="$TREE" \
	--env FILEOPS="$(bench_program fileops)"
bench_kernel uml-stat
BENCH_GUEST=scale-locks-guest.sh bench_guest --env BENCH_KO="$STAT_KO"
bench_finish
