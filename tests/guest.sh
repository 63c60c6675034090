#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh FILE...: runs functional tests inside a guest, one after the other.
# For each it leaves in /run/vm
#
#   NAME.tap      what it printed
#   NAME.trouble  what the kernel had to complain about meanwhile
#   NAME.rc       its exit status, written last
#
# and, while it runs, its name in "current". A test that leaves the module
# loaded beyond repair ends the run: the others need a new guest.
set -u

SHARE=/run/vm

limit() { # FILE: seconds it may take
	local sec

	sec=$(sed -n 's/^# needs:.*timeout=\([0-9]*\).*/\1/p' "$1")
	echo $((${sec:-120} * ${TEST_PATIENCE:-1}))
}

# Whatever a test that failed left behind
clean_up() {
	local d

	[ -d /sys/module/zram ] || return 0
	swapoff -a
	for d in /dev/zram*; do
		umount --all-targets "$d"
	done
	rmmod zram
} >/dev/null 2>&1

run() { # FILE
	local name seen

	name=$(basename "$1" .sh)
	seen=$(wc -l <$SHARE/dmesg)
	export TEST_TMP=/tmp/$name
	mkdir -p "$TEST_TMP"
	echo "$name" >$SHARE/current
	echo "test: $name" >/dev/kmsg
	timeout --kill-after=10 "$(limit "$1")" bash "$1" >"$SHARE/$name.tap" 2>&1 &
	wait $!
	rc=$?
	# What it left running would be in the way of the next; timeout has made a
	# process group of it all.
	kill -KILL -- -$! 2>/dev/null
	[ $rc != 124 ] || echo "# ended after $(limit "$1") s" >>"$SHARE/$name.tap"
	clean_up
	rm -rf "$TEST_TMP"
	sleep 0.2
	tail -n +$((seen + 1)) $SHARE/dmesg | grep -Ef "$TROUBLE" >"$SHARE/$name.trouble"
	[ ! -d /sys/module/zram ] || echo "the module cannot be unloaded" \
		>>"$SHARE/$name.trouble"
	echo $rc >"$SHARE/$name.rc"
	echo "$name: status $rc, $SECONDS s"
}

for file in "$@"; do
	run "$file"
	[ ! -d /sys/module/zram ] || exit 1
done
