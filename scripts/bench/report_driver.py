# SPDX-License-Identifier: GPL-2.0
"""Time per page of both drivers and of the bare codec, from inside the kernel.

Times are means of the fastest nine tenths of all bios, per page. A driver's
cost is its time less the codec's on the same pages, both of the same round.
"""
import bench_plot
from bench_stats import distinct, headline, median, ratio, select, spread

KEY = ("alg", "test", "bio", "threads")
DRIVERS = ("ours", "theirs")


def codec_time(rows, alg, test, bio, rnd):
    """The bare codec on the same pages in the same round; 0 for discards."""
    field = {"write": "value", "read": "decompress_ns"}.get(test)
    found = select(rows, test="codec", alg=alg, bio=bio, round=rnd)
    return found[0][field] if found and field else 0


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


def report(meta, rows, page):
    """The table that is looked at daily."""
    page.text("Nanoseconds per page of bios from a kernel thread, pages in random order, of a "
              "device that is full: writes are overwrites. `codec` is the bare codec on the same "
              "pages; a driver's cost is its time less that. `block` is a device that does "
              "nothing, `without` the ratio of costs without that, too, of one thread. Median and "
              f"spread of N = {meta['options'].get('ROUNDS')} alternating rounds, p99 of single "
              "bios.")
    page.table(["algorithm op bio threads", "ours", "±%", "theirs", "±%", "ratio", "codec",
                "cost ratio", "block", "without", "p99", "p99 theirs"],
               [row for key in kinds(rows) if (row := line(rows, key))])
    page.pre(list(random_data(rows)))
    draw(rows, page)
    memory(rows, page)


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


def headlines(_meta, rows):
    """Time and memory."""
    return [*cost_headlines(rows),
            *(headline(f"memory per stored page, all told, {alg}", "bytes",
                       *map(per_page, by.values())) for (alg,), by in memories(rows))]
