#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mirror.sh FOLDER: make FOLDER a copy of the sources, in links, to build in.
set -euo pipefail

TOP=$(cd "$(dirname "$0")/.." && pwd)
OUT=$1

mkdir -p "$OUT/tests/kunit"

# Sources that are gone
find "$OUT" -xtype l -delete

for f in "$TOP"/Kbuild "$TOP"/*.[ch] "$TOP"/tests/kunit/*.[ch]; do
	[ -e "$f" ] || continue
	link=$OUT/${f#"$TOP"/}
	[ -L "$link" ] || ln -s "$f" "$link"
done
