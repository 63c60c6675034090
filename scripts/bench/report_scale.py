# SPDX-License-Identifier: GPL-2.0
"""Many at once: file operations, git diff, bios from threads; locks for a page."""
import bench_plot
from bench_stats import (by_round, distinct, headline, median, number, ratio, runs, select,
                         values, with_spread)

BOTH = ("ours", "theirs")
FILE_TESTS = (("open", "open/close"), ("creat", "creat/unlink"),
              ("fsync", "creat/write/fsync/unlink"))
# The locks of a page's way through a driver; others are the block layer's
LOCKS = (
    ("ours", "zram_slot", "slot"),
    ("ours", "&stream->lock", "stream"),
    ("ours", "&pool->lock", "pool"),
    ("theirs", "zram->table[index].lock", "slot"),
    ("theirs", "&per_cpu_ptr(comp->stream, cpu)->lock", "stream"),
    ("theirs", "&pool->lock", "pool"),
    ("theirs", "&class->lock", "size class"),
    ("theirs", "zspage->lock", "zspage"),
    ("theirs", "&zsl->lock", "zspage's own spin lock"),
)
WATCHED = (("fill", 1, "first write"), ("read", 1, "read"), ("overwrite", 1, "overwrite"),
           ("read", 16, "read, 16 pages"), ("overwrite", 16, "overwrite, 16 pages"))
# Everything of the allocator
POOL = ("pool", "size class", "zspage", "zspage's own spin lock")


def report(meta, rows, page):
    """All four parts."""
    options = meta.get("options", {})
    files(options, rows, page)
    git(meta, rows, page)
    bios(options, rows, page)
    costs(rows, page)
    locks(options, rows, page)


def medians(rows, **where):
    """Median for each driver, None where there is none."""
    return [median(found) if (found := values(rows, config=who, **where)) else None
            for who in BOTH]


# --- File operations ----------------------------------------------------------

def files(options, rows, page):
    """The text's table: throughput relative to one process."""
    page.heading("File operations")
    page.text(
        "Processes that do the same to files of their own, in one folder or each in its own, on "
        f"ext4 on the device: `tests/bench/fileops.c`, {options.get('FILE_TIME')} s for each "
        f"figure, N = {runs(rows, 'files-open')}. Relative throughput in percent: 100 is one "
        "process in the same folder on the in-tree driver (higher is better). The first two "
        "tests are those of the text; ext4 answers them from its caches, and the driver hardly "
        "takes part. In the third each file gets 16 KiB of the corpus and is synced, so the "
        "device is written to. Where one process alone is slower than two, it is with both "
        "drivers: that is the virtual machine, and why is not known.")
    for test, title in FILE_TESTS:
        found = select(rows, test=f"files-{test}")
        if found:
            page.pre(file_table(title, found))
    draw_files(rows, page)


def file_table(title, rows):
    """One test as in the text."""
    _, base = medians(rows, where="same", parallel=min(distinct(rows, "parallel")))
    base = base or 1
    lines = [f"{title}  (100 = {number(base)} operations/s)",
             f"{'':14} {'in-tree':>9} {'ours':>9}   ours/in-tree"]
    for where in ("same", "different"):
        lines.append(f"{where} folder")
        for parallel in distinct(rows, "parallel"):
            mine, its = (values(rows, config=who, where=where, parallel=parallel)
                         for who in BOTH)
            if mine and its:
                lines.append(f"{parallel:14} {100 * median(its) / base:9.1f} "
                             f"{100 * median(mine) / base:9.1f}   {ratio(mine, its)}")
    return lines


def draw_files(rows, page):
    """Throughput against processes."""
    tests = [(test, title) for test, title in FILE_TESTS
             if select(rows, test=f"files-{test}")]
    if not tests:
        return
    figure, axes = bench_plot.new(len(tests), 2)
    for nth, (test, title) in enumerate(tests):
        for low, where in enumerate(("same", "different")):
            found = select(rows, test=f"files-{test}", where=where)
            series = {who: by(select(found, config=who), "parallel") for who in BOTH}
            at = axes[low * len(tests) + nth]
            bench_plot.lines(at, series, f"{title}, {where} folder", "processes",
                             "operations/s")
            powers(at, distinct(found, "parallel"))
    bench_plot.legend(figure, axes[0])
    page.figure(figure, "File operations per second", "files")


def powers(axes, numbers):
    """Numbers of processes along the axis, each twice the last."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(numbers, [str(n) for n in numbers])


def by(rows, name):
    """{field: values}."""
    return {key: values(rows, **{name: key}) for key in distinct(rows, name)}


# --- git diff -------------------------------------------------------------------

def git(meta, rows, page):
    """The text's little table, and one with empty caches."""
    options = meta.get("options", {})
    trees = distinct(select(rows, test="git-cached"), "trees")
    if not trees:
        return
    page.heading("git diff, one process for each tree")
    page.text(
        f"Trees of {options.get('FILES')} files of the kernel's source ({meta.get('tree_mib')} "
        f"MiB each with the repository), one file in twenty changed; git {meta.get('git')}. "
        f"Seconds, median and spread, N = {runs(rows, 'git-cached')} rounds, of "
        f"{options.get('DIFFS')} each where cached. Cached as in the text, where the driver does nothing; and "
        "after mounting afresh, where all that git looks at is read from the device. User and "
        "sys are the guest's own, which counts nearly all as sys.")
    for test, title in (("git-cached", "cached"), ("git-cold", "from the device")):
        found = select(rows, test=test)
        header = [title, "in-tree real", "user", "sys", "ours real", "user", "sys",
                  "ours/in-tree"]
        lines = []
        for n in trees:
            its = select(found, trees=n, config="theirs")
            mine = select(found, trees=n, config="ours")
            if its and mine:
                lines.append([f"{n} trees", *git_cells(its), *git_cells(mine),
                              str(ratio(by_round(mine), by_round(its)))])
        page.table(header, lines)


def git_cells(rows):
    """Real with its spread, user, sys."""
    return [with_spread([row["value"] for row in rows], 3),
            *(number(median(float(row[name]) for row in rows), 3)
              for name in ("user", "sys"))]


# --- Bios -----------------------------------------------------------------------

def bios(options, rows, page):
    """Throughput and the worst bio."""
    threads = distinct(select(rows, test="bio-read"), "threads")
    if not threads:
        return
    page.heading("Bios from threads in the kernel")
    page.text(
        "Single-page bios in random order from pinned threads, each on a part of its own of a "
        f"device of {options.get('PAGES')} pages that is full (writes are overwrites): "
        f"`tests/bench/zbench_*.c`, N = {runs(rows, 'bio-read')}. The worst bio is the median over "
        "rounds of the slowest one; with more threads than CPUs that is mostly the scheduler, "
        "and it, p99 and throughput count what a busy host takes away; p50 hardly does.")
    lines = []
    for test in ("bio-read", "bio-write"):
        for n in threads:
            its, mine = (select(rows, test=test, threads=n, config=who)
                         for who in ("theirs", "ours"))
            if its and mine:
                lines.append([f"{test[4:]}, {n} threads", *bio_cells(its), *bio_cells(mine),
                              str(ratio([r["value"] for r in mine],
                                        [r["value"] for r in its]))])
    page.table(["", "in-tree pages/s", "p50 us", "p99 us", "worst us", "ours pages/s",
                "p50 us", "p99 us", "worst us", "ours/in-tree"], lines)
    draw_bios(rows, page)


def costs(rows, page):
    """What one thread's bios take more than the bare codec."""
    lines = []
    for test, field in (("bio-read", "decompress_ns"), ("bio-write", "value")):
        by = [select(rows, test=test, threads=1, config=who) for who in ("theirs", "ours")]
        if not all(by) or not select(rows, test="codec"):
            continue
        cost = [[row["ns_per_page"] - codec_time(rows, row["round"], field) for row in its]
                for its in by]
        lines.append([test[4:], *(with_spread([row["ns_per_page"] for row in its]) for its in by),
                      number(median(codec_time(rows, row["round"], field) for row in by[0])),
                      *map(with_spread, cost), str(ratio(cost[1], cost[0]))])
    if lines:
        page.text("What the driver and the block layer cost: nanoseconds per page of single-page "
                  "bios of one thread, means of the fastest nine tenths, less those of the bare "
                  "codec on the same pages, timed before, between and after the drivers in each "
                  "round. `make bench-driver` looks closer.")
        page.table(["ns/page", "in-tree", "ours", "codec", "in-tree cost", "ours cost",
                    "ours/in-tree"], lines)


def codec_time(rows, rnd, field):
    """The bare codec in a round."""
    return median(row[field] for row in select(rows, test="codec", round=rnd))


def bio_cells(rows):
    """Throughput, and latency: half of the bios, 99 %, the worst."""
    return [with_spread([row["value"] for row in rows]),
            *(number(median(row[name] for row in rows) / 1000)
              for name in ("p50_ns", "p99_ns", "max_ns"))]


def draw_bios(rows, page):
    """Throughput and worst latency against threads."""
    figure, axes = bench_plot.new(2, 2)
    for nth, test in enumerate(("bio-read", "bio-write")):
        found = select(rows, test=test)
        bench_plot.lines(axes[nth], {who: by(select(found, config=who), "threads")
                                     for who in BOTH},
                         test[4:], "threads", "pages/s")
        worst = [{**row, "value": row["max_ns"] / 1e6} for row in found]
        bench_plot.lines(axes[2 + nth], {who: by(select(worst, config=who), "threads")
                                         for who in BOTH},
                         f"{test[4:]}, slowest bio", "threads", "ms")
    for at in axes:
        powers(at, distinct(rows, "threads"))
    bench_plot.legend(figure, axes[0])
    page.figure(figure, "Pages per second, and the slowest bio", "bios")


# --- Locks ----------------------------------------------------------------------

def kind_of(row):
    """What a lock is, by its name in lock_stat (#2 and -R follow it), or None."""
    name = row["lock"].split("#")[0]
    for config, lock, kind in LOCKS:
        if row["config"] == config and name.removesuffix("-R").removesuffix("-W") == lock:
            return kind
    return None


def lock_sums(rows, test, bio, config):
    """{kind: (acquisitions per page, hold ns per page)}, medians over rounds."""
    sums = {}
    for row in select(rows, test=test, bio=bio, config=config):
        kind = kind_of(row)
        if kind:
            key = (kind, row["round"])
            times, hold = sums.get(key, (0, 0))
            sums[key] = (times + row["value"], hold + row["hold_ns_per_page"])
    kinds = dict.fromkeys(kind for kind, _ in sums)
    return {kind: tuple(median(pair[i] for (k, _), pair in sums.items() if k == kind)
                        for i in (0, 1)) for kind in kinds}


def empty_hold(rows):
    """What lock statistics say of a lock that is held for nothing, in ns."""
    found = [row["hold_ns"] for row in select(rows, test="lock-empty")
             if row["lock"].startswith("zbench_empty_lock")]
    return median(found) if found else 0


def locks(options, rows, page):
    """Acquisitions and hold time for a page."""
    empty = empty_hold(rows)
    if not empty:
        return
    page.heading("Locks taken for a page")
    page.text(
        "From /proc/lock_stat of a kernel built like the others but with lock statistics, one "
        f"thread, {options.get('PAGES')} pages, medians of N = {runs(rows, 'lock-read')}. For each lock how often it is taken for a page, "
        "for how long it is held, all that together, and how much of that is the counting: "
        f"a lock that is taken and dropped at once is held for {number(empty)} ns on this "
        "kernel. Locks taken inside others count in them, too.",
        "In User Mode Linux the in-tree allocator cannot keep an object's size class in its "
        "handle, as it does on x86-64; there freeing, and so overwriting, takes its pool lock "
        "(for reading) once less for a page.")
    lines = []
    for test, bio, title in WATCHED:
        for config in BOTH:
            for kind, (times, hold) in lock_sums(rows, f"lock-{test}", bio, config).items():
                lines.append([f"{title}: {bench_plot.name_of(config)}, {kind}",
                              number(times, 3), number(hold), number(times * empty)])
    page.table(["", "times/page", "held ns/page", "counting"], lines)
    page.text("All locks of the allocator together:")
    page.table(["", "in-tree times/page", "ours times/page", "in-tree held ns/page",
                "ours held ns/page"],
               [[title, *(number(sum(pair[nth] for kind, pair in
                                     lock_sums(rows, f"lock-{test}", bio, config).items()
                                     if kind in POOL), digits)
                          for nth, digits in ((0, 3), (1, 0)) for config in ("theirs", "ours"))]
                for test, bio, title in WATCHED])


def headlines(_meta, rows):
    """The extremes of each part; all the rest as minor ones."""
    found = []
    for test in ("bio-read", "bio-write"):
        for n in distinct(select(rows, test=test), "threads"):
            by = [select(rows, test=test, threads=n, config=who) for who in BOTH]
            how = f"{test[4:]}s of single pages, {n} threads"
            found.append(headline(how, "pages/s", *(values(its) for its in by),
                                  lower_is_better=False))
            found += [headline(f"{how}: {what}", "us", *([row[field] / 1000 for row in its]
                                                         for its in by), minor=True)
                      for what, field in (("p50", "p50_ns"), ("p99", "p99_ns"),
                                          ("worst bio", "max_ns"))]
    for test, title in FILE_TESTS:
        numbers = distinct(select(rows, test=f"files-{test}"), "parallel")
        for where in ("different", "same"):
            for n in numbers:
                mine, its = (values(rows, test=f"files-{test}", where=where, parallel=n,
                                    config=who) for who in BOTH)
                if mine and its:
                    found.append(headline(
                        f"{title} on ext4, {n} at once, in {where} folders" if where != "same" else
                        f"{title} on ext4, {n} at once, in one folder", "ops/s", mine, its,
                        lower_is_better=False,
                        minor=where == "same" or n not in (numbers[0], numbers[-1])))
    for test, title in (("git-cached", "cached"), ("git-cold", "mounted afresh")):
        numbers = distinct(select(rows, test=test), "trees")
        for n in numbers:
            mine, its = (by_round(select(rows, test=test, trees=n, config=who)) for who in BOTH)
            if mine and its:
                found.append(headline(f"git diff on {n} trees, {title}", "s", mine, its,
                                      minor=n != numbers[-1]))
    return [row for row in found if row]
