# SPDX-License-Identifier: GPL-2.0
"""Devices that come and go: cycles per second, and what each step takes."""
import bench_plot
from bench_stats import (by_round, distinct, headline, median, number, ratio, select, spread,
                         table, values, with_spread)

WHO = ("ours", "theirs")
CYCLES = {"cycle": ("disksize", "mkfs", "mount", "umount", "reset"),
          "hot": ("hot_add", "hot_remove")}
STEPS = {"first": "disksize, before", "reset": "reset", "again": "disksize, right after"}


def line(what, ours, theirs, scale=1.0):
    """A row: medians with spread, and their ratio."""
    ours, theirs = ([v / scale for v in them] for them in (ours, theirs))
    return [what, with_spread(ours), with_spread(theirs), str(ratio(ours, theirs) or "-")]


def pair(rows, **where):
    """The values of both drivers, one for each round."""
    return [by_round(select(rows, config=who, **where)) for who in WHO]


def cycles(rows, page):
    """Cycles, then what they consist of."""
    runs = len(pair(rows, test="cycle-cycles")[0])
    page.heading("Cycles")
    page.text("Cycles per second, and milliseconds of each step (medians of the cycles of a "
              f"round). Median ± spread of N = {runs} rounds; ratio ours / in-tree with its 95 % "
              "interval. mkfs.ext4 discards the device and writes to it; in the steps mount and "
              "umount ext4 does; disksize and reset are the driver's alone, and a disksize after "
              "a reset waits until what was there is freed.")
    lines = []
    for kind, steps in CYCLES.items():
        name = " > ".join(steps)
        lines.append(line(f"{name}, /s", *pair(rows, test=f"{kind}-cycles")))
        lines += [line(f"    {step}, ms", *pair(rows, test=f"{kind}-{step}"), scale=1e6)
                  for step in steps]
    page.table(["", "ours", "in-tree", "ratio"], lines)


def resets(rows, page):
    """How long reset takes, and whoever needs the device again."""
    found = select(rows, test="reset-reset")
    runs = len(by_round(select(found, config="ours", mib=found[0]["mib"]))) if found else 0
    page.heading("Reset")
    page.text("Microseconds of the write(2) to `reset`, with so many MiB of pages stored, and "
              "of the next one to `disksize`, which has to wait until what was there is freed. "
              f"Median ± spread of N = {runs} rounds, of each of which the median of several.")
    lines = []
    for mib in distinct(found, "mib"):
        ours, theirs = (both_steps(rows, who, mib) for who in WHO)
        lines += [line(f"{mib} MiB: {name}", *pair(rows, test=f"reset-{step}", mib=mib), scale=1e3)
                  for step, name in STEPS.items()]
        lines.append(line(f"{mib} MiB: reset + disksize after", ours, theirs, 1e3))
    page.table(["us", "ours", "in-tree", "ratio"], lines)


def both_steps(rows, who, mib):
    """Reset and the disksize after it, one after the other."""
    return [a + b for a, b in zip(*(by_round(select(rows, test=test, config=who, mib=mib))
                                    for test in ("reset-reset", "reset-again")))]


def ramfs(meta, rows, page):
    """The text's own command."""
    ops = values(rows, test="ramfs")
    if not ops:
        return
    options = meta["options"]
    page.heading("The kernel's own figure for the same idea")
    page.text(f"`stress-ng --timeout {options['STRESS_TIME']} --times --verify --metrics-brief "
              f"--ramfs {options['STRESS_RAMFS']}` in the same guest, no zram in it: mounting and "
              "unmounting, whose superblock shrinker the kernel unregisters out of the caller's "
              "way. The text had 12915.89 ops/s before the regression, 2811.08 with it and "
              "13824.14 with delayed unregistration, on 32 CPUs.")
    page.pre(table(["", "ops/s", "±%", "N"],
                   [["ramfs, real time", number(median(ops)), f"{spread(ops):.0f}", str(len(ops))]]))


def draw(rows, page):
    """Cycles, and reset by what is stored."""
    figure, axes = bench_plot.new(3)
    for ax, kind, title in zip(axes, CYCLES, ("disksize, mkfs, mount, umount, reset",
                                              "hot_add, hot_remove")):
        bench_plot.bars(ax, {who: {"": values(rows, test=f"{kind}-cycles", config=who)}
                             for who in WHO}, title, "", "cycles per second")
    bench_plot.bars(axes[2], {who: {f"{mib} MiB": [v / 1e6 for v in values(
        rows, test="reset-reset", config=who, mib=mib)]
        for mib in distinct(select(rows, test="reset-reset"), "mib")} for who in WHO},
        "reset", "stored", "ms")
    bench_plot.legend(figure, axes[2])
    page.figure(figure, "Cycles per second, and the time of reset")


def report(meta, rows, page):
    """The whole page."""
    page.text(f"Algorithm {meta['options']['ALG']}, devices of {meta['options']['DISK']}; "
              "stored are pages of the corpus, over and over.")
    rows = complete(rows)
    cycles(rows, page)
    resets(rows, page)
    ramfs(meta, rows, page)
    draw(rows, page)


def complete(rows):
    """Without what one driver alone has: an interrupted round."""
    both = [{(row["test"], row.get("mib"), row["round"]) for row in select(rows, config=who)}
            for who in WHO]
    return [row for row in rows if row["config"] == "kernel" or
            (row["test"], row.get("mib"), row["round"]) in both[0] & both[1]]


def headlines(_meta, rows):
    """Cycles, resets; each step as a minor one."""
    rows = complete(rows)
    found = [headline(f"cycles of {' > '.join(steps)}", "cycles/s",
                      *pair(rows, test=f"{kind}-cycles"), lower_is_better=False)
             for kind, steps in CYCLES.items()]
    found += [headline(f"{step} in a cycle", "ms", *([v / 1e6 for v in them] for them in pair(
        rows, test=f"{kind}-{step}")), minor=True) for kind, steps in CYCLES.items()
              for step in steps]
    for mib in distinct(select(rows, test="reset-reset"), "mib"):
        found += [headline(f"{name} with {mib} MiB stored", "us", *(
            [v / 1e3 for v in them] for them in pair(rows, test=f"reset-{step}", mib=mib)),
                           minor=True) for step, name in STEPS.items() if step != "reset"]
        ours, theirs = pair(rows, test="reset-reset", mib=mib)
        found.append(headline(f"reset, {mib} MiB stored", "us", [v / 1e3 for v in ours],
                              [v / 1e3 for v in theirs]))
        ours, theirs = (both_steps(rows, who, mib) for who in WHO)
        found.append(headline(f"reset and the disksize after it, {mib} MiB stored", "us",
                              [v / 1e3 for v in ours], [v / 1e3 for v in theirs]))
    return [line for line in found if line]
