# SPDX-License-Identifier: GPL-2.0
"""Time per page of both drivers and of the bare codec, from inside the kernel.

Times are means of the fastest nine tenths of all bios, per page. A driver's
cost is its time less the codec's on the same pages, both of the same round.
"""
import bench_plot
from bench_stats import distinct, headline, median, ratio, runs, select, spread, with_spread

KEY = ("alg", "test", "bio", "threads")
DRIVERS = ("ours", "theirs")


def codec_time(rows, alg, test, bio, rnd):
    """The bare codec on the same pages, median of the same round; 0 for discards."""
    field = {"write": "value", "read": "decompress_ns"}.get(test)
    found = select(rows, test="codec", alg=alg, bio=bio, round=rnd)
    return median(fields(found, field)) if found and field else 0


def block_time(rows, test, bio, threads, rnd):
    """A device that does nothing, in the same round."""
    found = select(rows, test=f"null-{test}", bio=bio, threads=threads, round=rnd)
    return found[0]["value"] if found else 0


def both(rows, key):
    """Rows of one kind of run by driver, in the order of the rounds."""
    mine = select(rows, **dict(zip(KEY, key)))
    by = {who: {row["round"]: row for row in select(mine, config=who)}
          for who in DRIVERS}
    rounds = sorted(by["ours"].keys() & by["theirs"].keys())
    return rounds, {who: [by[who][r] for r in rounds] for who in by}


def kinds(rows):
    """All kinds of runs."""
    return sorted({tuple(row[name] for name in KEY) for row in rows
                   if row["test"] in ("read", "write", "discard")})


def costs(rows, key):
    """The drivers' costs without the codec, round by round."""
    rounds, by = both(rows, key)
    bare = [codec_time(rows, *key[:3], r) for r in rounds]
    return ([row["value"] - c for row, c in zip(by["ours"], bare)],
            [row["value"] - c for row, c in zip(by["theirs"], bare)], bare)


def own_costs(rows, key):
    """The costs without the block layer's share, and that; None where that is not known.

    Two threads at a device that does nothing meet more often than at one that takes
    its time: theirs there is not the block layer's share of what they take here.
    """
    rounds, _ = both(rows, key)
    block = [block_time(rows, *key[1:], r) for r in rounds]
    if key[3] > 1 or not rounds or not all(block):
        return None
    return [[cost - b for cost, b in zip(its, block)] for its in costs(rows, key)[:2]]


def line(rows, key):
    """One row of the table."""
    rounds, by = both(rows, key)
    if not rounds:
        return None
    ours, theirs = ([row["value"] for row in by[who]] for who in DRIVERS)
    mine, its, bare = costs(rows, key)
    block = median(block_time(rows, *key[1:], r) for r in rounds)
    own = own_costs(rows, key)
    return [" ".join(map(str, key)),
            f"{median(ours):.0f}", f"{spread(ours):.0f}",
            f"{median(theirs):.0f}", f"{spread(theirs):.0f}",
            f"{median(o / t for o, t in zip(ours, theirs)):.2f}", f"{median(bare):.0f}",
            f"{median(m / t for m, t in zip(mine, its)):.2f}" if all(its) else "-",
            f"{block:.0f}" if block else "-",
            f"{median(m / t for m, t in zip(*own)):.2f}" if own and min(own[1]) > 0 else "-",
            *(f"{median(row['p99_ns'] for row in by[who]):.0f}" for who in by)]


def random_data(rows):
    """Writes of what no codec makes smaller: pages per second, as a ratio."""
    for alg in distinct(rows, "alg"):
        by = {who: select(rows, test="random", config=who, alg=alg)
              for who in ("ours", "theirs")}
        bytes_ = {who: select(rows, test="random-memory", config=who, alg=alg)
                  for who in by}
        if not all(by.values()):
            continue
        ours, theirs = ([row["value"] for row in by[who]] for who in by)
        yield (f"random data, {alg}: {median(ours):.0f} ns a page against {median(theirs):.0f}, "
               f"{median(t / o for o, t in zip(ours, theirs)):.2f} x the pages per second; "
               + " and ".join(f"{bytes_[who][0]['compressed']} bytes stored" for who in by))


def pairs(rows, test, *names):
    """Rows of one test: (values of the named fields, {driver: rows})."""
    mine = select(rows, test=test)
    for where in sorted({tuple(row[name] for name in names) for row in mine}):
        by = {who: select(mine, config=who, **dict(zip(names, where))) for who in DRIVERS}
        if all(by.values()):
            yield where, by


def fields(rows, name, scale=1):
    """One field of all rows."""
    return [row[name] / scale for row in rows]


def per_page(rows):
    """Bytes of memory for each page stored."""
    return [4096 * row["value"] / row["stored"] for row in rows]


def memories(rows):
    """Rows that tell all memory: earlier results have the pool's only."""
    return pairs([row for row in rows if "pool" in row], "memory", "alg")


def memory(rows, page):
    """What the same pages take, all told."""
    table = []
    for (alg,), by in memories(rows):
        for who in DRIVERS:
            table.append([
                f"{alg} {bench_plot.name_of(who)}",
                *(f"{median(fields(by[who], name)):.0f}" for name in
                  ("pool", "slab", "objects", "table", "value")),
                f"{spread(fields(by[who], 'value')):.1f}",
                f"{median(fields(by[who], 'free')):.0f}", f"{median(per_page(by[who])):.1f}",
                str(ratio(*map(per_page, by.values()))) if who == "ours" else ""])
    if not table:
        return
    page.heading("Memory")
    page.text("Bytes after the overwrites, as the kernel's own accounts grew since before disksize "
              "was set: `slab` is whole pages of the kmalloc caches and of zsmalloc's, `objects` "
              "the bytes of the objects in them, which may be in places that others had left; "
              "`table` what the module has in /proc/vmallocinfo. `all` is mem_used_total, the "
              "larger one of slab and objects, and table. `free` is not part of it: by how much "
              "free memory fell, whatever took it. Medians of all rounds.")
    page.table(["algorithm, driver", "mem_used_total", "slab", "objects", "table", "all", "±%",
                "free", "per page", "ratio"], table)


def crowds(rows):
    """A mix by few threads and by many: (alg, bio), few, many, {driver: (few's, many's)}.

    Rows of both are in the order of the rounds.
    """
    threads = distinct(select(rows, test="mixed"), "threads")
    for where, by in pairs(rows, "mixed", "alg", "bio"):
        few, many = threads[0], threads[-1]
        yield where, few, many, {
            who: tuple(sorted(select(by[who], threads=n), key=lambda row: row["round"])
                       for n in (few, many)) for who in DRIVERS}


def kept(few, many):
    """How much of the few's pages per second are left to many, round by round."""
    return [m["value"] / f["value"] for f, m in zip(few, many)]


def mixed(rows, page):
    """By few threads and by many."""
    table, header = [], []
    for (alg, bio), few, many, by in crowds(rows):
        header = [f"{few} threads", f"{many} threads"]
        for who in DRIVERS:
            table.append([f"{alg} {bio} {bench_plot.name_of(who)}",
                          *(with_spread(fields(its, "value")) for its in by[who]),
                          with_spread(kept(*by[who])),
                          with_spread(fields(by[who][1], "p99_ns", 1000)),
                          with_spread(fields(by[who][1], "max_ns", 1e6))])
    if not table:
        return
    page.heading("Reads and writes mixed")
    page.text("Pages per second of threads that share the CPUs, each with a part of the device of "
              "its own, half of the bios reads. `kept` is the rate of many threads divided by "
              "that of few, in the same round; it may be above 1, as a smaller share is nearer in "
              "the CPU's caches. p99 and the worst are of single bios with many threads, from "
              "sending one to its end: where other threads get the CPU in between, with the time "
              "they take.")
    page.table(["algorithm, bio, driver", *header, "kept", "p99, us", "worst, ms"], table)


def beside(rows, page):
    """What a page fault waits for while others write."""
    table = []
    for (alg,), by in pairs(rows, "beside", "alg"):
        for who in DRIVERS:
            alone = select(rows, test="read", config=who, alg=alg, bio=1, threads=1)
            table.append([f"{alg} {bench_plot.name_of(who)}",
                          with_spread(fields(by[who], "value")),
                          with_spread(fields(alone, "p50_ns")),
                          with_spread(fields(by[who], "p99_ns")),
                          with_spread(fields(alone, "p99_ns")),
                          with_spread(fields(by[who], "ns_per_page")),
                          with_spread(fields(alone, "value")),
                          with_spread(fields(by[who], "writer_pages_per_s"))])
    if not table:
        return
    page.heading("Reads beside a writer")
    page.text("Nanoseconds of reads of single pages, in random order, while a thread on another "
              "CPU writes 16 pages at a time; `alone` is the same without a writer. Percentiles "
              "go in steps of the clock, `mean`, of the fastest nine tenths, does not.")
    page.table(["algorithm, driver", "p50", "alone", "p99", "alone", "mean", "alone",
                "written, pages/s"], table)


def report(meta, rows, page):
    """The table that is looked at daily."""
    page.text("Nanoseconds per page of bios from a kernel thread, pages in random order, of a "
              "device that is full: writes are overwrites. `codec` is the bare codec on the same "
              "pages, in random order, too, timed before, between and after the drivers' turns of "
              "a round; a driver's cost is its time less the median of these. `block` is a "
              "device that does nothing, `without` the ratio of costs without that, too, of one "
              f"thread. Median and spread of N = {runs(rows, 'read')} alternating "
              "rounds; each time is the mean of the fastest nine tenths of all bios, as what a "
              "busy host takes from the rest is nobody's cost. p99 of single bios.")
    page.table(["algorithm op bio threads", "ours", "±%", "theirs", "±%", "ratio", "codec",
                "cost ratio", "block", "without", "p99", "p99 theirs"],
               [row for key in kinds(rows) if (row := line(rows, key))])
    page.pre(list(random_data(rows)))
    draw(rows, page)
    for section in (memory, mixed, beside):
        section(rows, page)


def draw(rows, page):
    """Codec and driver's cost, stacked."""
    keys = [key for key in kinds(rows) if both(rows, key)[0]]
    figure, (axes,) = bench_plot.new(width=max(5, 0.8 * len(keys) + 2))
    for nth, key in enumerate(keys):
        *cost, bare = costs(rows, key)
        for at, who, its in zip((-0.2, 0.2), ("ours", "theirs"), cost):
            axes.bar(nth + at, median(bare), 0.36, color=bench_plot.COLOURS["codec"],
                     label="codec" if not nth and who == "ours" else None)
            axes.bar(nth + at, median(its), 0.36, bottom=median(bare),
                     color=bench_plot.colour_of(who),
                     label=None if nth else bench_plot.name_of(who))
    axes.set_xticks(range(len(keys)), [f"{k[0]}\n{k[1]}\n{k[2]} p, {k[3]} t" for k in keys])
    bench_plot.finish(axes, "", "algorithm, operation, pages per bio, threads", "ns per page")
    bench_plot.legend(figure, axes)
    page.figure(figure, "Time per page: codec, and what each driver adds")


def cost_headlines(rows):
    """The cost without the codec, each kind of run; less the block layer's share, too."""
    for key in kinds(rows):
        yield headline(f"driver cost per page, {key[0]} {key[1]}, {key[2]} pages per "
                       f"bio, {key[3]} threads", "ns", *costs(rows, key)[:2])
        if key[2] == 1 and (own := own_costs(rows, key)):
            yield headline(f"driver cost per page without block layer, {key[0]} {key[1]}, "
                           "1 pages per bio, 1 threads", "ns", *own)


def load_headlines(rows):
    """Many threads, and a reader beside a writer."""
    for (alg, bio), few, many, by in crowds(rows):
        how = f"mixed, {alg}, {bio} pages per bio, {many} threads"
        yield headline(f"{how}: rate kept of {few} threads'", "x",
                       *(kept(*by[who]) for who in DRIVERS), lower_is_better=False)
        for what, name, scale, unit in (("p99", "p99_ns", 1000, "us"),
                                        ("worst", "max_ns", 1e6, "ms")):
            yield headline(f"{how}: {what} of a bio", unit,
                           *(fields(by[who][1], name, scale) for who in DRIVERS))
    for (alg,), by in pairs(rows, "beside", "alg"):
        for what, name in (("p50", "value"), ("p99", "p99_ns"),
                           ("mean of the fastest nine tenths", "ns_per_page")):
            yield headline(f"read of a page beside a writer, {alg}: {what}", "ns",
                           *(fields(by[who], name) for who in DRIVERS))


def headlines(_meta, rows):
    """Time, memory, and behaviour under load."""
    return [*cost_headlines(rows),
            *(headline(f"memory per stored page, all told, {alg}", "bytes",
                       *map(per_page, by.values())) for (alg,), by in memories(rows)),
            *load_headlines(rows)]
