# SPDX-License-Identifier: GPL-2.0
"""fs_mark and a kernel build on file systems on the device, as in the text."""
import statistics

import bench_plot
from bench_stats import distinct, headline, mean_stdev, median, number, select, values
from bench_stats import welch

BOTH = ("ours", "theirs")
LOCKS = {"ours": "One pool lock (this driver)", "theirs": "In-tree driver"}


def report(meta, rows, page):
    """Both workloads."""
    fs_mark(meta, rows, page)
    build(meta, rows, page)
    draw(rows, page)


def figures(title, numbers, digits):
    """Three figures as the text has them."""
    mean, dev = mean_stdev(numbers)
    return (f"{title:28} Average: {mean:.{digits}f}, Median: {median(numbers):.{digits}f}, "
            f"Stddev: {dev:.{digits + 1}f}, N = {len(numbers)}")


def verdict(mine, its, unit):
    """Welch's interval of the difference, in words."""
    difference, half = welch(mine, its)
    base = statistics.fmean(its)
    if half == float("inf"):
        return "too few runs for an interval"
    words = (f"ours - in-tree: {difference:+.4g} {unit}, 95 % interval "
             f"{difference - half:+.4g} to {difference + half:+.4g} "
             f"({100 * (difference - half) / base:+.1f} % to "
             f"{100 * (difference + half) / base:+.1f} %): ")
    if difference - half <= 0 <= difference + half:
        return words + "no difference that these runs could tell from chance"
    return words + "a difference"


def compare(rows, unit, digits):
    """Lines for one file system."""
    numbers = {who: values(rows, config=who) for who in BOTH}
    if not all(numbers.values()):
        return []
    return [*(figures(LOCKS[who], numbers[who], digits) for who in BOTH),
            verdict(numbers["ours"], numbers["theirs"], unit)]


def fs_mark(meta, rows, page):
    """Files per second."""
    options = meta.get("options", {})
    found = select(rows, test="fsmark")
    if not found:
        return
    page.heading("fs_mark")
    page.text(
        f"`fs_mark -d MOUNTPOINT -s {options.get('FILE_BYTES')} -n N -t {options.get('THREADS')} "
        f"-k` (version {meta.get('fsmark')}) on a fresh file system on a device of "
        f"{options.get('DISK')}, N so that {options.get('USAGE')} % of the space is used. "
        "fs_mark itself writes zeroes, of which any driver stores one word for a page: "
        "`tests/bench/realpages.c` has it write pages of the corpus instead. Files per "
        "second (higher is better). Whether a difference is real: Welch's t.")
    for fs in distinct(found, "fs"):
        mine = select(found, fs=fs)
        lines = [fs, "", *compare(mine, "files/s", 1)]
        lines += ["", *(stored(who, select(mine, config=who)) for who in BOTH
                        if select(mine, config=who))]
        page.pre(lines)


def stored(who, rows):
    """What the runs left on the device."""
    middle = {name: median(row[name] for row in rows)
              for name in ("files", "used_percent", "stored", "memory", "same")}
    return (f"{LOCKS[who]}: {number(middle['files'], 0)} files, "
            f"{number(middle['used_percent'], 0)} % used; {middle['stored'] / 1048576:.0f} MiB "
            f"stored in {middle['memory'] / 1048576:.0f} MiB, "
            f"{number(100 * middle['same'] * 4096 / middle['stored'], 1)} % pages of one word")


def build(meta, rows, page):
    """Seconds."""
    options = meta.get("options", {})
    found = select(rows, test="build")
    if not found:
        return
    page.heading("Building a kernel")
    page.text(
        f"`make -j{options.get('CPUS')} {options.get('BUILD')}` of {meta.get('source')} "
        f"(what of it that takes: {meta.get('source_mib')} MiB), ARCH=um, allnoconfig with 64 "
        f"bits, configured and prepared before, gcc {meta.get('gcc')}, "
        f"{number(median(row['objects'] for row in found), 0)} object files at the end; then "
        "sync. The source is on the device, which is mounted afresh. Real time in seconds "
        "(lower is better): the text's user and sys are not to be had, as User Mode Linux "
        "counts programs' time as its own.")
    for fs in distinct(found, "fs"):
        page.pre([f"{fs}, real", "", *compare(select(found, fs=fs), "s", 2)])


def draw(rows, page):
    """Bars for both workloads."""
    parts = [(test, title, unit) for test, title, unit in
             (("fsmark", "fs_mark", "files/s"), ("build", "kernel build", "s"))
             if select(rows, test=test)]
    figure, axes = bench_plot.new(len(parts))
    for at, (test, title, unit) in zip(axes, parts):
        found = select(rows, test=test)
        bench_plot.bars(at, {who: {fs: values(found, config=who, fs=fs)
                                   for fs in distinct(found, "fs")
                                   if values(found, config=who, fs=fs)}
                             for who in ("theirs", "ours")}, title, "", unit)
    bench_plot.legend(figure, axes[0])
    page.figure(figure, "Files per second of fs_mark, seconds of a kernel build")


def headlines(_meta, rows):
    """Each file system, both workloads."""
    found = []
    for test, title, unit in (("fsmark", "fs_mark", "files/s"), ("build", "kernel build", "s")):
        for fs in distinct(select(rows, test=test), "fs"):
            mine, its = (values(rows, test=test, fs=fs, config=who) for who in BOTH)
            if mine and its:
                found.append(headline(f"{title} on {fs}", unit, mine, its,
                                      lower_is_better=test == "build"))
    return found
