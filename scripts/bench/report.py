#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""report.py NAME FILE.json OUTDIR: a page and pictures of what was measured.

Each benchmark has a module report_NAME with

  report(meta, rows, page)   fills the page
  headlines(meta, rows)      a list of bench_stats.Headline, for the README
"""
import importlib
import sys

import bench_page
import bench_stats


def main():
    """Load, fill, write."""
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    name, path, folder = sys.argv[1:]
    meta, rows = bench_stats.load(path)
    if not rows:
        sys.exit(f"{path}: nothing was measured")
    page = bench_page.Page(name, folder, meta)
    importlib.import_module(f"report_{name}").report(meta, rows, page)
    page.write()


if __name__ == "__main__":
    main()
