# SPDX-License-Identifier: GPL-2.0
"""fio on lists of streams, on streams per CPU, and on the in-tree driver."""
from statistics import geometric_mean

import bench_plot
from bench_stats import (distinct, group, headline, median, number, paired_ratio, select, spread,
                         values)

CONFIGS = {"list4": "4 streams", "list8": "8 streams", "ours": "per-cpu", "theirs": "in-tree"}
# As in the text: a row for each way of each test
LINES = (("read", "READ"), ("randread", "READ"), ("write", "WRITE"), ("randwrite", "WRITE"),
         ("rw", "READ"), ("rw", "WRITE"), ("randrw", "READ"), ("randrw", "WRITE"))
SPEED = {"read", "randread", "write", "randwrite", "rw", "randrw", "elapsed"}
COUNTS = {"switches": "context-switches"}


def rate(kib):
    """A rate as the text's fio printed it: these are 1024 and 1024 * 1024 bytes."""
    return f"{kib / 1024:.1f}MB/s" if kib >= 1e6 else f"{kib:.0f}KB/s"


def by_jobs(page, header, rows, jobs, lines_of):
    """A table in the layout of the text: jobsN, then its rows."""
    lines = []
    for nr in jobs:
        lines.append([f"jobs{nr}"])
        lines += lines_of(nr)
    if rows:
        page.table([header, *CONFIGS.values()], lines)


def rates(rows, page, jobs):
    """READ and WRITE of all tests, medians."""
    if not any(row.get("way") for row in rows):
        return
    by = group([row for row in rows if row.get("way")], "test", "way", "config", "jobs")
    by_jobs(page, "", rows, jobs, lambda nr: [
        [f"{way}:"] + [rate(median(by[test, way, config, nr]))
                       if (test, way, config, nr) in by else "-" for config in CONFIGS]
        for test, way in LINES])
    spreads = sorted(spread(found) for found in by.values())
    runs = sorted({len(found) for found in by.values()})
    page.text(f"Medians of N = {'-'.join(map(str, runs))} rounds; their spread (half of lowest to "
              f"highest) is {number(median(spreads))} % in the middle, "
              f"{number(spreads[len(spreads) * 9 // 10])} % or less for nine of ten, "
              f"{number(spreads[-1])} % at most." if runs[-1] > 1 else
              "One round only: no spread is known.")


def elapsed(meta, rows, page, jobs):
    """Seconds of all six tests."""
    by = group(select(rows, test="elapsed"), "config", "jobs")
    page.heading("Seconds elapsed")
    moved = transfers(meta, rows)
    page.text("All six tests of one row of jobs, with starting fio and its jobs, which is most of "
              "it: `transfers` is what the jobs' data take at the rates above.")
    by_jobs(page, "", by, jobs, lambda nr: [
        ["seconds elapsed"] + [f"{median(by[config, nr]):.3f} ±{spread(by[config, nr]):.0f}%"
                               if (config, nr) in by else "-" for config in CONFIGS],
        ["  transfers"] + [f"{moved[config, nr]:.3f}" if (config, nr) in moved else "-"
                           for config in CONFIGS]])


def transfers(meta, rows):
    """{(config, jobs): seconds that the data of all six tests take at the median rates}."""
    by = group([row for row in rows if row.get("way")], "config", "jobs", "test", "way")
    each = size(meta["options"]["IO"]) / 1024
    sums = {}
    for (config, jobs, test, way), found in by.items():
        # Of a mixed test half is read and half is written, at the same time.
        if way == "READ" or not test.endswith("rw"):
            share = 0.5 if test.endswith("rw") else 1
            sums[config, jobs] = (sums.get((config, jobs), 0) +
                                  share * each * jobs / median(found))
    return sums


def ratios(rows, page):
    """Each configuration against streams per CPU: all numbers of jobs, all rounds."""
    page.heading("Ratios")
    page.text("Rate of this driver with streams per CPU divided by the others': geometric mean "
              "over numbers of jobs, with its 95 % interval (t) over the rounds. Above 1 "
              "streams per CPU are faster.")
    page.table(["per-cpu /", *(name for config, name in CONFIGS.items() if config != "ours")],
               [[f"{test} {way}"] + [str(against(rows, config, test, way) or "-")
                                     for config in CONFIGS if config != "ours"]
                for test, way in LINES])


def against(rows, config, test, way):
    """One of these ratios."""
    ours, other = ({(row["jobs"], row["round"]): row["value"]
                    for row in select(rows, test=test, way=way, config=who)}
                   for who in ("ours", config))
    by = {}
    for jobs, rnd in ours.keys() & other.keys():
        by.setdefault(rnd, []).append(ours[jobs, rnd] / other[jobs, rnd])
    return paired_ratio([geometric_mean(by[rnd]) for rnd in sorted(by)], [1] * len(by))


def counters(meta, rows, page):
    """The part that perf stat has in the text."""
    page.heading("Counters")
    page.text(COUNTERS.format(**meta["options"], perf=PERF if meta.get("counters") else NO_PERF))
    instructions(meta, select(rows, test="instructions"), page)
    for test, name in (COUNTS | hardware(rows)).items():
        found = group(select(rows, test=test), "config", "jobs")
        jobs = sorted({nr for _, nr in found})
        by_jobs(page, name, found, jobs, lambda nr, by=found: [
            [f"  {name}"] + [number(median(by[config, nr]), 0) if (config, nr) in by else "-"
                             for config in CONFIGS]])
    contentions(select(rows, test="contention"), page)


def contentions(rows, page):
    """How often and how long somebody waited for a lock; for which, with most jobs."""
    by = {(row["config"], row["jobs"]): row for row in rows}
    jobs = distinct(rows, "jobs")
    by_jobs(page, "locks", by, jobs, lambda nr: [
        [label] + [number(by[config, nr][field] / scale, digits) if (config, nr) in by else "-"
                   for config in CONFIGS]
        for field, scale, digits, label in (("value", 1, 0, "  contentions"),
                                            ("us", 1000, 1, "  waited, ms"),
                                            ("longest_us", 1000, 1, "  longest, ms"))])
    if rows:
        page.text(f"Which locks these were, with {jobs[-1]} jobs:")
        page.pre(f"{CONFIGS[row['config']]:10} {row['locks'] or 'none'}"
                 for row in select(rows, jobs=jobs[-1]))


def instructions(meta, rows, page):
    """What the tests took, and a page of them."""
    by = {(row["config"], row["jobs"]): row["value"] - row["start"] for row in rows}
    one = 6 * (size(meta["options"]["COUNT_IO"]) - size(meta["options"]["BS"])) / 4096
    by_jobs(page, "instructions", by, distinct(rows, "jobs"), lambda nr: [
        [label] + [number(by[config, nr] / (one * nr if per else 1), 0)
                   if (config, nr) in by else "-" for config in CONFIGS]
        for per, label in ((False, "  instructions"), (True, "  per page"))])


def size(text):
    """Bytes of 64k or 4M."""
    return int(text[:-1]) << {"k": 10, "m": 20, "g": 30}[text[-1].lower()]


def hardware(rows):
    """What perf stat counted, if it could."""
    return {test: test.removeprefix("perf-") for test in distinct(rows, "test")
            if test.startswith("perf-")}


NO_PERF = ("The processor that this ran on has no counters for perf stat to read, as in most "
           "virtual machines: cycles, branches and stalls are not available.")
PERF = ("Cycles, branches and stalls are those of perf stat, of the whole guest during the six "
        "tests: a run less one that only fills the device.")
COUNTERS = """{perf} Counted, too, each once but context switches, so that no spread is \
known; between two runs contentions may differ several times over:

- instructions: of fio and its jobs, in user and kernel mode, all six tests with {COUNT_IO} for \
each job, on Debian's kernel 6.1 in QEMU with one CPU, where `-icount` makes a nanosecond of CPU \
time one instruction. Less those of a run with one block for each job, which start fio; per page of \
all tests in the second line;
- context switches of the whole guest during the six tests, on the kernel above, at full speed;
- lock contentions: how often a lock of the driver or of its allocator was not free, and how long all \
who waited did, less the longest wait for each lock, which tells of a virtual CPU that did not run, from \
lock_stat, on the newest kernel built with it (its locks are slower). Whoever waits for a stream sleeps, and is a context switch."""


def draw(rows, page, alg, jobs):
    """One picture for each test."""
    if len(jobs) < 2:
        return
    figure, axes = bench_plot.new(3, 2)
    shown = [line for line in LINES if line not in (("rw", "READ"), ("randrw", "READ"))]
    for ax, (test, way) in zip(axes, shown):
        series = {CONFIGS[config] if config.startswith("list") else config:
                  {jobs_: [v / 1024 for v in found] for jobs_, found in
                   group(select(rows, test=test, way=way, config=config), "jobs").items()}
                  for config in CONFIGS}
        bench_plot.lines(ax, series, f"{test} ({way.lower()})", "jobs", "MiB/s")
    bench_plot.legend(figure, axes[0])
    page.figure(figure, f"fio, {alg}: rate by number of jobs", alg)


def report(meta, rows, page):
    """One part for each algorithm."""
    options = meta["options"]
    page.text(f"fio {meta.get('fio', '').removeprefix('fio-')}, libaio in batches of 16, direct, "
              f"blocks of {options['BS']}; each job {options['IO']} on a tenth of its own of a "
              f"device of {options['DISK']} that is full. What is written are pages of the corpus, "
              "16 blocks for each job, put into fio's buffers before it starts: of what fio can "
              "make itself, the default and `buffer_pattern` are pages that are all alike. "
              "See scripts/bench/streams.fio. MB and KB are powers of two, as in the text.",
              f"Virtual CPUs: {meta['cpus']}; the text had 4. By default there are no more than "
              "the host has: the kernel's spin locks are first come, first served, and a waiter "
              "whose CPU is not running holds up everybody behind it.")
    for alg in distinct(rows, "alg"):
        mine = select(rows, alg=alg)
        jobs = distinct([row for row in mine if row["test"] in SPEED], "jobs")
        page.heading(f"Algorithm {alg}")
        rates(mine, page, jobs)
        ratios(mine, page)
        elapsed(meta, mine, page, jobs)
        counters(meta, mine, page)
        draw(mine, page, alg, jobs)
        memory(mine, page)


def memory(rows, page):
    """How well what was written packs."""
    found = select(rows, test="memory", config="ours")
    if found:
        page.text(f"Pages as they were written packed {found[0]['stored'] / found[0]['compressed']:.2f}:1.")


def headlines(_meta, rows):
    """Writes with most jobs, both algorithms; streams per CPU against the list."""
    found = []
    for alg in distinct(rows, "alg"):
        mine = select(rows, alg=alg)
        jobs = distinct([row for row in mine if row["test"] == "write"], "jobs")
        for test, way in LINES:
            for nr in jobs[-1:]:
                ours, theirs = ([v / 1024 for v in values(mine, test=test, way=way, jobs=nr,
                                                          config=who)]
                                for who in ("ours", "theirs"))
                if ours and theirs:
                    found.append(headline(f"fio {test} ({way.lower()}), {nr} jobs, {alg}", "MiB/s",
                                          ours, theirs, lower_is_better=False))
    return [line for line in found if line]
