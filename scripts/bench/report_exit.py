# SPDX-License-Identifier: GPL-2.0
"""Processes that exit while all they have is in swap."""
import bench_plot
from bench_stats import distinct, headline, median, number, ratio, select, values
from bench_stats import with_spread

WHO = ("ours", "theirs", "ram")


def complete(rows):
    """{processes: (rows of ours, of theirs, of the RAM disk)}, rounds that all have."""
    found = {}
    for processes in distinct(rows, "processes"):
        by = [{row["round"]: row for row in select(rows, config=who, processes=processes)}
              for who in WHO]
        rounds = sorted(set.intersection(*map(set, by)))
        if rounds:
            found[processes] = tuple([its[nth] for nth in rounds] for its in by)
    return found


def times(found):
    """Milliseconds of each."""
    return [[v / 1e6 for v in values(rows)] for rows in found]


def line(processes, found):
    """A row: milliseconds, ratios, and what a page takes."""
    ours, theirs, ram = times(found)
    return [f"{processes} at once", *map(with_spread, (ours, theirs, ram)),
            str(ratio(ours, theirs)),
            str(ratio(*([v - median(ram) for v in its] for its in (ours, theirs)))),
            *(number(median(row["value"] / row["pages"] for row in rows)) for rows in found),
            *(number(median(row["left"] / 4096 for row in rows)) for rows in found[:2])]


def report(meta, rows, page):
    """A table and a picture."""
    options, found = meta["options"], complete(rows)
    runs = min((len(its[0]) for its in found.values()), default=0)
    page.text(f"Processes that have {options['PER_PROCESS']} MiB of pages of the corpus each, all "
              f"in swap on the device ({options['ALG']}): milliseconds from letting them go until "
              f"the last one is reaped, nanoseconds of that for each page. Median ± spread of "
              f"N = {runs} alternating rounds; ratio ours / in-tree with its 95 % interval. "
              "A RAM disk is not told that a slot is free: that is the kernel's own time, and "
              "`without` the ratio without it. Left are pages still stored when all were reaped: "
              "the kernel keeps up to 64 slots for each CPU back to free them together. Of those "
              "that are not, this driver frees the memory within 50 ms, for up to 512 of each CPU.")
    page.table(["processes", "ours ms", "in-tree ms", "RAM disk ms", "ratio", "without",
                "ours ns/page", "in-tree", "RAM disk", "ours left", "in-tree"],
               [line(processes, its) for processes, its in found.items()])
    figure, (axes,) = bench_plot.new()
    bench_plot.bars(axes, {who: {f"{n} at once": times(its)[nth] for n, its in found.items()}
                           for nth, who in enumerate(WHO)},
                    "", "processes", "ms")
    bench_plot.legend(figure, axes)
    page.figure(figure, "Time until all have exited")


def headlines(meta, rows):
    """Each number of processes."""
    return [headline(f"exit of {processes} process{'es' if processes > 1 else ''} with "
                     f"{meta['options']['PER_PROCESS']} MiB each in swap", "ms",
                     *times(its[:2]))
            for processes, its in complete(rows).items()]
