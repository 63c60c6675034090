#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Fill README.md's section on benchmarks from docs/benchmarks/*.json.

Numbers are never written by hand: what is between the two marks is replaced.
With --check, say whether that would change anything, and change nothing.
"""
import glob
import importlib
import os
import sys

import bench_stats
from bench_stats import number

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README = os.path.join(TOP, "README.md")
DOCS = "docs/benchmarks"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
ORDER = ("driver", "instructions", "exit", "streams", "teardown", "scale", "walker",
         "allocator")

INTRO = """\
    make bench            # or, smaller, make bench QUICK=1

runs what five texts about compressed memory measured, on this module and on the
kernel's own, in turn, in one run, with the same kernel, codecs, sizes and data:
streams, teardown, scale, walker and allocator, each also alone, `make bench-walker`
and so on. `make bench-driver` tells the time per page, and how much of that is the
codec, `make bench-instructions` the same in instructions, and `make bench-exit` how
long processes take to exit that are in swap. All data are pages of real memory, or, with
CORPUS=packages, of files of Debian packages. Pages of text and raw results of runs with
the default options go to docs/benchmarks, of others to build/bench."""

NOTHING = "There is no full run to quote yet."

ABOUT = """\
Medians of the last full runs, N rounds of each driver in turn. The ratio is this
module's figure divided by the kernel's, with its 95 % interval: where that holds 1, no
difference was seen. The pages hold more figures than the tables here, which have all
that are not in this module's favour."""


def measured():
    """Each benchmark there are results of: name, meta, headlines."""
    for name in ORDER:
        path = os.path.join(TOP, DOCS, f"{name}.json")
        if os.path.exists(path):
            meta, rows = bench_stats.load(path)
            module = importlib.import_module(f"report_{name}")
            yield name, meta, [line for line in module.headlines(meta, rows) if line]


def rows_of(headlines):
    """A row of the table for each."""
    for line in filter(lambda line: line.shown, headlines):
        yield (f"| {line.what} | {number(line.ours)} {line.unit} | "
               f"{number(line.theirs)} {line.unit} | {line.ratio} | {line.ratio.n} | "
               f"{line.verdict} |")


def summary(found):
    """How many are what; what is slower, in words, first of all."""
    verdicts = {}
    for _, _, headlines in found:
        for line in headlines:
            verdicts.setdefault(line.verdict, []).append(line)
    lines = []
    for verdict in ("slower", "worse"):
        for line in verdicts.get(verdict, []):
            lines.append(f"- {verdict}: {line.what}, {line.ratio}")
    total = sum(map(len, verdicts.values()))
    count = ", ".join(f"{len(lines_)} {verdict}" for verdict, lines_ in sorted(verdicts.items()))
    return [f"Of {total} figures: {count}." + (" Those that are not in this module's favour:"
                                               if lines else ""), "", *lines, *[""] * bool(lines)]


def pictures(name):
    """All of one benchmark."""
    for path in sorted(glob.glob(os.path.join(TOP, DOCS, f"{name}.svg")) +
                       glob.glob(os.path.join(TOP, DOCS, f"{name}-*.svg"))):
        file = os.path.basename(path)
        yield f"![{file.removesuffix('.svg')}]({DOCS}/{file})"


def where(meta):
    """What it was run on, in one line."""
    corpus = meta.get("corpus")
    data = f"; {corpus['name']}, {corpus['zlib1_ratio']:.2f}:1 by zlib -1" if corpus else ""
    return (f"Kernel {meta['kernel']} in {meta['machine']}, {meta['cpus']} CPUs, {meta['mem']}; "
            f"{meta['host_cpu']}, {meta['host_cpus']} CPUs; module {meta['commit']}, "
            f"{meta['date']}{data}.")


def section():
    """Everything between the marks."""
    found = list(measured())
    lines = [INTRO, ""]
    if not found:
        return "\n".join(lines + [NOTHING])
    lines += [ABOUT, "", *summary(found)]
    for name, meta, headlines in found:
        lines += [f"### [bench-{name}]({DOCS}/{name}.md)", "", where(meta), "",
                  "| | this | kernel's | ratio | N | |", "|---|---:|---:|---:|---:|---|",
                  *rows_of(headlines), ""]
        for picture in pictures(name):
            lines += [picture, ""]
    return "\n".join(lines).rstrip()


def main():
    """Replace, or compare."""
    with open(README, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"README.md: {BEGIN} and {END} have to be there once")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    new = f"{head}{BEGIN}\n{section()}\n{END}{tail}"
    if "--check" in sys.argv[1:]:
        sys.exit(new != text and "README.md is not what scripts/bench/readme.py makes of "
                 "docs/benchmarks")
    if new != text:
        with open(README, "w", encoding="utf-8") as file:
            file.write(new)


if __name__ == "__main__":
    main()
