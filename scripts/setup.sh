#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# setup.sh [bench]: installs the Debian packages that building and testing take,
# or benchmarks, too, if any is missing. Kernels are not installed: see kernel.sh.
set -euo pipefail

. "$(dirname "$0")/common.sh"

packages=(
	# building the module and the kernels
	gcc make flex bison bc libc6-dev libelf-dev libssl-dev
	cpio xz-utils zstd patch perl kmod rsync
	# the guests, and what the tests run in them
	qemu-system-x86 seabios busybox-static
	e2fsprogs fio util-linux procps python3
	# make lint
	shellcheck sparse clang-format git
)
[ "${1:-}" != bench ] || packages+=(
	python3-matplotlib stress-ng fsmark btrfs-progs linux-perf
)

missing=()
for p in "${packages[@]}"; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] ||
		missing+=("$p")
done

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)

if [ ${#missing[@]} -gt 0 ]; then
	say "installing: ${missing[*]}"
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
		die "run as root, or install sudo: packages are missing"
	"${as_root[@]}" apt-get -qq update || say "apt-get update had trouble"
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
		-o Dpkg::Use-Pty=0 install --no-install-recommends \
		"${missing[@]}" </dev/null | sed -u 's/^/    /' >&2
fi

# Where a guest finds its modules
[ -d /lib/modules ] || "${as_root[@]}" mkdir -p /lib/modules
