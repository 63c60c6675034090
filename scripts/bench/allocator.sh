#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make bench-allocator: fs_mark, and building a kernel, on file systems on the
# device, with both drivers: one pool lock against the in-tree driver's locks.
#
#   FILESYSTEMS    for fs_mark; DISK the size of the device, USAGE percent full
#   BUILD_FS       file systems for the build; BUILD what make is asked for
#   ROUNDS, BUILD_ROUNDS
set -euo pipefail

. "$(dirname "$0")/lib.sh"

# What of the kernel's source it takes to build lib/ of it.
source_filter() {
	cat <<-EOF
	+ */
	+ Kconfig*
	+ Makefile*
	+ Kbuild*
	+ /scripts/***
	+ /include/***
	+ /arch/um/***
	+ /arch/x86/***
	+ /lib/***
	+ /kernel/***
	+ /mm/***
	+ /fs/*.h
	+ /tools/include/***
	+ /tools/build/***
	+ /tools/scripts/***
	- *
	EOF
}

# Configured and prepared, which takes longer than what is to be measured.
make_source() {
	local src dir=$OUT/source

	"$TOP/scripts/kernel.sh" fetch src
	src=$("$TOP/scripts/kernel.sh" path src)
	SOURCE=$BENCH_BUILD/um-$(basename "$src").tar
	[ ! -s "$SOURCE" ] || return 0
	rm -rf "$dir"
	rsync -a --prune-empty-dirs --filter='. -' "$src/" "$dir/" < <(source_filter)
	echo CONFIG_64BIT=y >"$dir/tiny.config"
	make -s -C "$dir" ARCH=um KCONFIG_ALLCONFIG=tiny.config allnoconfig >"$OUT/source.log" 2>&1 &&
		make -s -C "$dir" ARCH=um prepare >>"$OUT/source.log" 2>&1 ||
		{ tail -20 "$OUT/source.log" >&2; die "the source cannot be prepared"; }
	tar -C "$dir" --owner=0 --group=0 -cf "$SOURCE.new" .
	mv "$SOURCE.new" "$SOURCE"
	rm -rf "$dir"
}

bench_begin allocator
option CPUS $(($(nproc) < 8 ? $(nproc) : 8))
option MEM 3G
option ALG lzo-rle
option ROUNDS 5 1
option FILESYSTEMS "btrfs ext4"
option DISK 1G 384M
option USAGE 80
option THREADS 32
option FILE_BYTES 100000
option BUILD_ROUNDS 5 1
option BUILD_FS ext4
option BUILD lib/ lib/math/
option BUILD_DISK 1G
bench_kernel uml-perf
bench_corpus
make_source
SHIM=$BENCH_BUILD/bin/realpages.so
mkdir -p "$BENCH_BUILD/bin"
gcc -O2 -Wall -shared -fPIC -o "$SHIM" "$TOP/tests/bench/realpages.c"
META+=("source=$(basename "$("$TOP/scripts/kernel.sh" path src)")"
	"source_mib=$(($(stat -c %s "$SOURCE") >> 20))"
	"gcc=$(gcc -dumpfullversion)"
	"fsmark=$(dpkg-query -W -f '${Version}' fsmark)")
bench_meta
bench_guest --env SHIM="$SHIM" --env SOURCE="$SOURCE"
bench_finish
