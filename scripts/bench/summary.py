#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tabulate what driver-guest.sh measured: medians, spread, ratios.

Times are means of the fastest nine tenths of all bios, per page. The driver's
cost is its time less the codec's on the same pages, both of the same round.
"""
import collections
import json
import statistics
import sys


def spread(values):
    """Half of the distance from lowest to highest, in percent."""
    return 50 * (max(values) - min(values)) / statistics.median(values)


def main():
    """Read all lines, print one row for each kind of run."""
    times = collections.defaultdict(dict)
    codec = {}
    with open(sys.argv[1], encoding="ascii") as lines:
        rows = [json.loads(line) for line in lines]
    for row in rows:
        what = row["run"].split()
        if what[0] == "codec":
            codec[what[1], "write", row["bio"], row["round"]] = row["compress_ns"]
            codec[what[1], "read", row["bio"], row["round"]] = row["decompress_ns"]
        elif "mm_stat" in row:
            fields = row["mm_stat"].split()
            print(f"{row['run']}: {fields[2]} bytes of memory, "
                  f"{fields[1]} stored") if row["round"] == 1 else None
        else:
            key = (what[1], what[2], row["bio"], row["threads"])
            times[key].setdefault(what[0], {})[row["round"]] = row
    print(f"{'algorithm op bio threads':28} {'ours':>7} {'±%':>3} {'theirs':>7} "
          f"{'±%':>3} {'ratio':>6} {'codec':>6} {'cost ratio':>10} {'p99':>6} {'p99 theirs':>10}")
    for key, by in sorted(times.items()):
        rounds = sorted(by["ours"])
        ours = [by["ours"][r]["ns_per_page"] for r in rounds]
        theirs = [by["theirs"][r]["ns_per_page"] for r in rounds]
        bare = [codec.get((key[0], key[1], key[2], r), 0) for r in rounds]
        cost = statistics.median(
            (o - c) / (t - c) for o, t, c in zip(ours, theirs, bare))
        p99 = [statistics.median(by[who][r]["p99_ns"] for r in rounds)
               for who in ("ours", "theirs")]
        print(f"{' '.join(map(str, key)):28} {statistics.median(ours):7.0f} "
              f"{spread(ours):3.0f} {statistics.median(theirs):7.0f} "
              f"{spread(theirs):3.0f} "
              f"{statistics.median(o / t for o, t in zip(ours, theirs)):6.2f} "
              f"{statistics.median(bare):6.0f} {cost:10.2f} {p99[0]:6.0f} {p99[1]:10.0f}")


if __name__ == "__main__":
    main()
