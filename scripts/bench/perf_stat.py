#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""perf_stat.py FILE BASE NAME=VALUE...: results from two outputs of perf stat -x;

One line of JSON for each counter: what FILE has more than BASE.
"""
import json
import sys


def counters(path):
    """What was counted, by name; what could not be is left out.

    Where processors are of two kinds, perf counts cpu_core/cycles/ and cpu_atom/cycles/: their sum.
    """
    found = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            field = line.split(";")
            if len(field) > 3 and field[0].replace(".", "", 1).isdigit():
                pmu, _, event = field[2].partition("/")
                name = event.partition("/")[0] or pmu.partition(":")[0]
                found[name] = found.get(name, 0) + float(field[0])
    return found


def main():
    """Subtract, print."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    run, base = map(counters, sys.argv[1:3])
    more = dict(word.split("=", 1) for word in sys.argv[3:])
    more = {name: int(value) if value.isdigit() else value for name, value in more.items()}
    for name, value in run.items():
        print(json.dumps({"round": 1, "test": f"perf-{name}", **more, "unit": name,
                          "value": value - base.get(name, 0)}))


if __name__ == "__main__":
    main()
