# SPDX-License-Identifier: GPL-2.0
"""Instructions per page of both drivers, less those of the bare codec.

Results are like bench-driver's, from a machine whose nanoseconds are
instructions: see report_driver for what is compared with what.
"""
import bench_plot
import report_driver
from bench_stats import headline, median, number, ratio, values


def title(key):
    """lz4 write, 16 pages per bio."""
    alg, test, bio, _ = key
    return f"{alg} {test}, {bio} pages per bio"


def line(rows, key):
    """One row of the table."""
    rounds, by = report_driver.both(rows, key)
    ours, theirs, codec = report_driver.costs(rows, key)
    block = [report_driver.block_time(rows, *key[1:], r) for r in rounds]
    own = report_driver.own_costs(rows, key)
    cells = [values(by["ours"]), values(by["theirs"]), codec, ours, theirs, block]
    return [title(key), *(number(median(numbers), 0) for numbers in cells),
            str(ratio(ours, theirs)),
            str(ratio(*own)) if own else "-"]


def kinds(rows):
    """All kinds of runs that both drivers have."""
    return [key for key in report_driver.kinds(rows) if report_driver.both(rows, key)[0]]


def report(meta, rows, page):
    """The table, and how certain it is that these are instructions."""
    clock = values(rows, test="clock")
    page.text("Instructions per page of bios from a kernel thread, pages in random order, of a "
              "device that is full: writes are overwrites with other contents. Means of the "
              "cheapest nine tenths of all bios, as timer interrupts and the like are in the "
              f"rest; medians of N = {meta['options'].get('ROUNDS')} alternating rounds. `codec` "
              "is the bare codec on the same pages, `driver` what is left without that, with the "
              "block layer; `block` is a device that does nothing, and the last column the ratio "
              "without that, too. Ratios are ours / in-tree with their 95 % interval.",
              "The processor is emulated and its clock goes on by one nanosecond with each "
              "instruction; a loop of known length took "
              f"{', '.join(number(value, 4) for value in clock)} ns for each. Instructions are "
              "not time: one that misses the cache counts as much as any other, and one that "
              "copies a string as often as it repeats.")
    page.table(["", "ours", "in-tree", "codec", "ours driver", "in-tree driver", "block",
                "driver's ratio", "without block"], [line(rows, key) for key in kinds(rows)])
    figure, (axes,) = bench_plot.new(width=9)
    bench_plot.bars(axes, {who: {title(key).replace(", ", "\n"): cost[nth] for key in kinds(rows)
                                 if (cost := report_driver.costs(rows, key))}
                           for nth, who in enumerate(("ours", "theirs"))},
                    "", "", "instructions per page")
    bench_plot.legend(figure, axes)
    page.figure(figure, "Instructions per page that each driver adds to the codec's")


def headlines(_meta, rows):
    """The cost without the codec, each kind of run."""
    return [headline(f"instructions per page without the codec's, {title(key)}", "instructions",
                     *report_driver.costs(rows, key)[:2]) for key in kinds(rows)]
