#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""profile.py FOLDER: samples of a virtual machine, by function, as lines of JSON.

FOLDER holds perf-CONFIG-EXPERIMENT-TOUCH-ROUND, files of perf record,
kallsyms-CONFIG-ROUND, the guest's symbols in that round, modules included, and
"functions", which source file of this driver a function is in. In User Mode
Linux the guest's kernel is a program with the guest's addresses: what is not of
its symbols is the host.
"""
import bisect
import collections
import glob
import json
import os
import re
import subprocess
import sys

# Addresses of the host's kernel
HOST = 1 << 63
# No function is larger: beyond is something that has no symbol.
LARGEST = 1 << 16
# After the last function of the kernel: the C library
END = "_einittext"
SAMPLE = re.compile(r"\s*([0-9a-f]+)\s+(.*?)\s+\((.*)\)$")


class Symbols:
    """The guest's functions by address."""

    def __init__(self, path):
        found = []
        with open(path, encoding="ascii") as lines:
            for line in lines:
                address, kind, name, *module = line.split()
                if kind in "tTwW" and int(address, 16):
                    found.append((int(address, 16), name,
                                  module[0].strip("[]") if module else ""))
        found.sort()
        self.starts = [entry[0] for entry in found]
        self.found = found

    def at(self, address):
        """Function and module at an address, or None."""
        i = bisect.bisect_right(self.starts, address) - 1
        if i < 0 or address - self.starts[i] >= LARGEST or self.found[i][1] == END:
            return None
        return self.found[i][1:]


def samples(path):
    """Address, and what perf itself calls it, of each sample."""
    text = subprocess.run(["perf", "script", "-i", path, "-F", "ip,sym,dso"],
                          capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        found = SAMPLE.match(line)
        if found:
            yield int(found[1], 16), found[2]


def functions_of(folder):
    """Which source file a function of this driver is in."""
    with open(os.path.join(folder, "functions"), encoding="ascii") as lines:
        return dict(line.split() for line in lines)


def main():
    """All profiles in the folder."""
    folder = sys.argv[1]
    files = functions_of(folder)
    for path in sorted(glob.glob(os.path.join(folder, "perf-*-*-*-*"))):
        config, experiment, touch, rnd = os.path.basename(path).split("-")[1:]
        symbols = Symbols(os.path.join(folder, f"kallsyms-{config}-{rnd}"))
        counts = collections.Counter()
        for address, name in samples(path):
            if address >= HOST:
                where = ("host kernel", "host")
            else:
                where = symbols.at(address) or (name, "host")
            counts[where] += 1
        for (name, module), n in sorted(counts.items()):
            source = files.get(name, "") if module == "zram" and config == "ours" else ""
            print(json.dumps({
                "test": f"profile-{experiment}", "config": config, "touch": touch,
                "round": int(rnd),
                "function": name, "module": module, "source": source,
                "value": n, "unit": "samples"}))


if __name__ == "__main__":
    main()
