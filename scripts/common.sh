# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What every script here needs: sourced, not run.

# shellcheck disable=SC2034 # for the scripts that source this
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${ZRAM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/zram-oot}

say() {
	echo "==> $*" >&2
}

die() {
	echo "error: $*" >&2
	exit 1
}
