#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# load.sh load FILE | unload: the module on this machine.
set -euo pipefail

. "$(dirname "$0")/common.sh"

# The kernel has room for one driver named zram.
check_free() {
	local builtin
	builtin=/lib/modules/$(uname -r)/modules.builtin

	[ -e /proc/modules ] ||
		die "this kernel cannot load modules: try 'make demo'"
	[ "$(id -u)" = 0 ] || die "loading takes root: sudo make load"
	if grep -q '^zram ' /proc/modules; then
		die "a zram driver is loaded: stop using its devices" \
			"(swapoff, umount), then 'rmmod zram' and try again"
	fi
	if [ -d /sys/module/zram ] || [ -d /sys/class/zram-control ] ||
	   grep -qs '/zram\.ko' "$builtin"; then
		die "this kernel has its zram driver built in: it takes a" \
			"kernel with CONFIG_ZRAM=m or n"
	fi
}

load() {
	local dep

	check_free
	for dep in $(modinfo -F depends "$1" | tr ',' ' '); do
		modprobe "$dep" || die "cannot load $dep, which zram.ko needs"
	done
	insmod "$1" || die "the kernel refused $1: see dmesg"
	echo "loaded: $(echo /dev/zram*)"
}

unload() {
	grep -qs '^zram ' /proc/modules || die "zram is not loaded"
	rmmod zram || die "zram is in use: swapoff and umount its devices first"
}

"$@"
