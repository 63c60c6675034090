#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# make demo: Debian 12's kernel in a virtual machine, with zram.ko as swap and
# as a scratch file system, on real data.
set -euo pipefail

. "$(dirname "$0")/common.sh"

MEM=512M

"$TOP/scripts/kernel.sh" fetch 6.1
say "building zram.ko"
mkdir -p "$TOP/build/demo"
make -C "$TOP" KVER=6.1 >"$TOP/build/demo/build.log" 2>&1 || {
	tail -30 "$TOP/build/demo/build.log" >&2
	die "the module does not build"
}
gcc -O2 -static -o "$TOP/build/demo/fill" "$TOP/scripts/demo-fill.c"


# Programs, libraries and kernel modules: what memory is full of
find /usr/bin /usr/lib "$("$TOP/scripts/kernel.sh" root 6.1)/lib" -xdev \
	-type f -size +200k -size -40M ! -name '*.gz' ! -name '*.xz' 2>/dev/null |
	shuf --random-source=<(yes) | head -n 4000 >"$TOP/build/demo/files"

headers=$("$TOP/scripts/kernel.sh" path 6.1)
say "booting a virtual machine of $MEM"
"$TOP/scripts/vm.sh" --mem $MEM --timeout 600 --out "$TOP/build/demo/guest" \
	--env ZRAM_KO="$TOP/build/$("$TOP/scripts/kernel.sh" release 6.1)/zram.ko" \
	--env DEMO_FILL="$TOP/build/demo/fill" \
	--env SOURCES="${headers%-amd64}-common/include/uapi" \
	--env FILES="$TOP/build/demo/files" \
	--env PROGRAM="$TOP/tests/vm/sysput.c" \
	qemu 6.1 -- "$TOP/scripts/demo-guest.sh"

grep -qw -e vmx -e svm /proc/cpuinfo ||
	say "no hardware virtualisation here: speeds are those of an emulated processor"
say "on this machine itself: make load, then see README.md"
