#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# format.sh [FILE...]: clang-format with the kernel's own settings.
set -euo pipefail

. "$(dirname "$0")/common.sh"

cd "$TOP"
[ $# -gt 0 ] || set -- *.[ch] tests/kunit/*.[ch] tests/vm/*.[ch]
ln -sfn "$(scripts/kernel.sh path src)/.clang-format" .clang-format
clang-format -i "$@"
