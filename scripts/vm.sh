#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs a script in a guest that sees the host's file system, read only.
#
#   vm.sh [OPTION...] qemu 6.1|6.12 -- SCRIPT [ARGUMENT...]
#   vm.sh [OPTION...] uml[-perf|-stat] -- SCRIPT [ARGUMENT...]
#
#   --cpus N         virtual CPUs, default 2
#   --mem SIZE       memory, default 1G
#   --timeout SEC    after which the guest is ended, default 600
#   --out FOLDER     shared with the guest as /run/vm, default a temporary one
#   --env NAME=TEXT  a variable for the script; may be repeated
#   --icount         QEMU: one nanosecond of the guest is one instruction
#   --append TEXT    more words for the kernel's command line
#   --quiet          do not show what the script prints
#
# The guest itself says how it went, in files of the shared folder (see
# guest-init.sh), and only after it searched its log and memory: a guest that
# hangs, panics or falls silent has said nothing, which is a failure. Exit
# status: the script's own; 124 for a time-out, 125 for a guest that died or
# whose kernel complained.
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
. "$HERE/common.sh"

cpus=2 mem=1G timeout=600 out='' append='' quiet='' icount=''
job_env=()

parse() {
	while [ $# -gt 0 ]; do
		case $1 in
		--cpus) cpus=$2; shift ;;
		--mem) mem=$2; shift ;;
		--timeout) timeout=$2; shift ;;
		--out) out=$2; shift ;;
		--env) job_env+=("$2"); shift ;;
		--append) append=$2; shift ;;
		--quiet) quiet=y ;;
		--icount) icount=y ;;
		qemu) machine=qemu kernel=$2; shift ;;
		uml | uml-perf | uml-stat) machine=uml kernel=$1 ;;
		--) shift; job=("$@"); return ;;
		*) die "vm.sh: what is '$1'?" ;;
		esac
		shift
	done
	die "vm.sh: no script given"
}

# The host's variables stay outside: a run depends on what it was given.
write_job() {
	local e

	for e in "${job_env[@]}"; do
		printf 'export %s=%q\n' "${e%%=*}" "${e#*=}"
	done
	printf 'cd %q || exit\n' "$TOP"
	printf 'exec'
	printf ' %q' "${job[@]}"
	printf '\n'
}

# The guest's processors are threads of a machine that may be busy or stand still
# for half a minute: what the kernel calls stuck must have stood still for two.
common_append() {
	echo "panic=-1 loglevel=5 random.trust_cpu=on watchdog_thresh=60" \
		"rcupdate.rcu_cpu_stall_timeout=120 workqueue.watchdog_thresh=120" \
		"vm_top=$TOP vm_cache=$CACHE vm_out=$out $append"
}

# --- QEMU -----------------------------------------------------------------

# A string instruction counts once for each repetition: those that go byte by
# byte would make a copy of a page 4096 instructions.
accel() {
	if [ -n "$icount" ]; then
		echo "tcg,thread=single -icount shift=0" \
			-global max-x86_64-cpu.erms=off \
			-global max-x86_64-cpu.fsrm=off
	elif grep -qwE 'vmx|svm' /proc/cpuinfo && [ -w /dev/kvm ]; then
		echo kvm
	else
		echo tcg,thread=multi
	fi
}

# What it takes to mount the host's file system: some modules and busybox.
initramfs() { # ROOT RELEASE FILE
	local dir=$3.d path n=10
	declare -A seen=()

	rm -rf "$dir"
	mkdir -p "$dir"/{bin,mod,proc,sys,dev,root}
	cp /bin/busybox "$dir/bin/"
	while read -r path; do
		[ -z "${seen[$path]:-}" ] || continue
		seen[$path]=$((++n))
		case $path in
		*.xz) xz -dc "$path" >"$dir/mod/$n-$(basename "$path" .xz)" ;;
		*) cp "$path" "$dir/mod/$n-$(basename "$path")" ;;
		esac
	done < <(for path in virtio_pci 9pnet_virtio 9p; do
		modprobe -d "$1" -S "$2" --show-depends "$path"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p')
	cat >"$dir/init" <<-EOF
	#!/bin/busybox sh
	export PATH=/bin
	busybox mount -t proc proc /proc
	busybox mount -t devtmpfs dev /dev
	for m in /mod/*; do busybox insmod \$m; done
	busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose host /root
	busybox mount --move /dev /root/dev
	busybox umount /proc
	exec busybox switch_root /root /bin/bash $HERE/guest-init.sh
	EOF
	chmod +x "$dir/init"
	(cd "$dir" && find . | cpio -o -H newc --quiet) >"$3"
	rm -rf "$dir"
}

run_qemu() {
	local root release

	root=$("$HERE/kernel.sh" root "$kernel")
	release=$("$HERE/kernel.sh" release "$kernel")
	initramfs "$root" "$release" "$out/initramfs"
	# shellcheck disable=SC2046 # words
	timeout --kill-after=10 "$timeout" qemu-system-x86_64 \
		-accel $(accel) -machine q35 -cpu max,la57=off \
		-smp "$cpus" -m "$mem" \
		-nodefaults -display none -no-reboot -serial stdio \
		-kernel "$("$HERE/kernel.sh" image "$kernel")" \
		-initrd "$out/initramfs" \
		-append "console=ttyS0 $(common_append) vm_modules=$root/lib/modules" \
		-fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
		-device virtio-9p-pci,fsdev=host,mount_tag=host \
		-fsdev local,id=out,path="$out",security_model=none \
		-device virtio-9p-pci,fsdev=out,mount_tag=out \
		</dev/null >"$out/console" 2>&1
}

# --- User Mode Linux ------------------------------------------------------

# It needs seccomp=on for more than one CPU, keeps its own files where it is
# told, and must not start again after a panic.
run_uml() {
	local machine

	# shellcheck disable=SC2046 # words of a command line
	timeout --kill-after=10 "$timeout" \
		"$("$HERE/kernel.sh" image "$kernel")" \
		seccomp=on ncpus="$cpus" mem="$mem" noreboot \
		umid="vm$$" uml_dir="$out/uml" \
		root=/dev/root rootfstype=hostfs rootflags=/ ro \
		init="$HERE/guest-init.sh" con=null con0=null,fd:1 \
		$(common_append) </dev/null >"$out/console" 2>&1 &
	machine=$!
	end_what_is_off "$machine" &
	wait "$machine"
}

# User Mode Linux now and then waits for ever for a process of its own that it
# has ended when powering down. By then the guest has had its say.
end_what_is_off() { # PID
	while kill -0 "$1" 2>/dev/null; do
		if grep -qs 'reboot: Power down' "$out/console"; then
			sleep 5
			kill -KILL -- "$(pgrep -P "$1")" 2>/dev/null || true
			return
		fi
		sleep 1
	done
}

# --- The verdict ----------------------------------------------------------

verdict() { # STATUS-OF-THE-MACHINE
	if [[ $1 = 124 || $1 = 137 ]] &&
		! grep -qs 'reboot: Power down' "$out/console"; then
		say "guest ended after $timeout s"
		tail -20 "$out/console" >&2
		return 124
	fi
	if [ ! -s "$out/status" ]; then
		say "guest died"
		tail -60 "$out/console" >&2
		return 125
	fi
	if [ -s "$out/trouble" ]; then
		say "the guest's kernel complained:"
		cat "$out/trouble" >&2
		say "the log from the first complaint on:"
		grep -A 40 -m 1 -Ef "$HERE/trouble.txt" "$out/dmesg" >&2 || true
		return 125
	fi
	return "$(<"$out/status")"
}

# Boots the guest and waits for its end; sets $status.
run() {
	rm -rf "${out:?}"/{started,status,trouble,output,dmesg,leaks,console,uml}
	write_job >"$out/job"
	: >"$out/output"

	"run_$machine" &
	pid=$!
	if [ -z "$quiet" ]; then
		tail -q -s 0.3 -n +1 -f --pid=$pid "$out/output" &
		tail_pid=$!
	fi
	status=0
	wait "$pid" || status=$?
	[ -n "$quiet" ] || wait "$tail_pid" || true
}

# The machine is in a process group of its own, where no Ctrl-C reaches it.
interrupted() { # SIGNAL
	trap - INT TERM
	pkill -TERM -f " vm_out=$out( |\$)" || true
	kill -"$1" $$
}

parse "$@"
trap 'interrupted INT' INT
trap 'interrupted TERM' TERM
if [ -z "$out" ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)

# Emulated processors now and then run code that the booting kernel has already
# patched, and die of it. No code of ours has run by then: one more try.
run
if [ ! -e "$out/started" ]; then
	say "the guest did not come up, once more; the end of its console:"
	tail -5 "$out/console" >&2
	run
fi
verdict "$status"
