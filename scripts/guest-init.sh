#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The first process of a guest that vm.sh starts. The root is the host's file
# system, read only; one folder, $vm_out on the host, is shared for writing and
# mounted on /run/vm. There it finds "job", a script, and leaves
#
#   started  nothing, as soon as the guest is up
#   output   what the job printed
#   dmesg    the kernel's log from the start of the job
#   trouble  lines of that log, and leaks, that must not be there
#   status   the job's exit status, written last: no status, no success
#
set -u
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/tmp LC_ALL=C TERM=dumb
exec </dev/null

# What a kernel says when something is wrong with it
TROUBLE=$(dirname "$0")/trouble.txt

# With panic_on_warn a WARN ends the guest at once, and with it the status.
# The log is copied as it grows: nothing is lost to a full buffer or a panic.
watch_kernel() {
	sysctl -qw kernel.panic_on_warn=1 kernel.panic_on_oops=1 kernel.panic=-1
	dmesg -C
	dmesg --follow >/run/vm/dmesg &
}

# Waits for the log's last line to be copied.
finish_log() {
	local i

	echo "end of the log" >/dev/kmsg
	for i in {1..50}; do
		! grep -q "end of the log" /run/vm/dmesg || return 0
		sleep 0.1
	done
	echo "BUG: the log was not copied within $i tenths of a second"
}

# Lockdep turns itself off after its first report: later ones would be missed.
lockdep_off() {
	local stats=/proc/lockdep_stats

	[ ! -e $stats ] || grep -q 'debug_locks: *1' $stats ||
		echo "BUG: lockdep is off"
}

param() { # NAME: a parameter of the kernel's command line
	local word

	for word in $(</proc/cmdline); do
		[ "${word%%=*}" != "$1" ] || echo "${word#*=}"
	done
}

# Folders that the fresh /tmp and /run hide are brought back.
mount_all() {
	local dir

	mount -t proc proc /proc
	mount -t sysfs sysfs /sys
	mountpoint -q /dev || mount -t devtmpfs dev /dev
	mount -t debugfs debugfs /sys/kernel/debug
	mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
	mount -t tmpfs tmpfs /run
	mkdir -p /run/host /run/lock
	mount --bind / /run/host
	mount -t tmpfs tmpfs /tmp
	mount -t tmpfs tmpfs /var/tmp
	mkdir -p /dev/shm
	mount -t tmpfs tmpfs /dev/shm
	ln -sfn /proc/self/fd /dev/fd
	for dir in "$(param vm_top)" "$(param vm_cache)"; do
		[ -z "$dir" ] || [ -e "$dir" ] || {
			mkdir -p "$dir"
			mount --bind "/run/host$dir" "$dir"
		}
	done
	dir=$(param vm_modules)
	[ -z "$dir" ] || mount --bind "$dir" /lib/modules
}

mount_out() {
	mkdir -p /run/vm
	if grep -qw hostfs /proc/mounts; then
		mount -t hostfs -o "$(param vm_out)" none /run/vm
	else
		mount -t 9p -o trans=virtio,version=9p2000.L,cache=none \
			out /run/vm
	fi
}

# An object has to be five seconds old to be called a leak.
leaks() {
	local file=/sys/kernel/debug/kmemleak

	[ -e "$file" ] || return 0
	sleep 6
	echo scan >"$file"
	sleep 1
	echo scan >"$file"
	cat "$file"
}

mount_all
mount_out
export TROUBLE
watch_kernel
hostname guest 2>/dev/null

: >/run/vm/started
bash /run/vm/job >/run/vm/output 2>&1
status=$?

leaks >/run/vm/leaks 2>&1
{
	finish_log
	lockdep_off
	grep -hEf "$TROUBLE" /run/vm/dmesg /run/vm/leaks
} >/run/vm/trouble
echo "$status" >/run/vm/status
sync -f /run/vm
busybox poweroff -f
