# SPDX-License-Identifier: GPL-2.0
"""The page walker: time per page of swap, and where it goes by a profile."""
import collections
import re

import bench_plot
from bench_stats import distinct, headline, median, number, paired_ratio, ratio, runs, select
from bench_stats import values, with_spread

BOTH = ("ours", "theirs")
EXPERIMENTS = (("swap", "1: one page in, one page out"), ("in", "2: pages in only"))
TOUCHES = (("user", "touched by the program"), ("kernel", "touched by the kernel for it"))
KINDS = tuple((experiment, touch, f"{title}, {how}") for touch, how in TOUCHES
              for experiment, title in EXPERIMENTS)
GROUPS = ("compression", "decompression", "driver", "allocator", "copying and clearing",
          "locks", "block layer", "memory management", "virtual machine")
PALETTE = ("#3b1f2b", "#a23b72", "#0b6e4f", "#7bc8a4", "#f2c14e", "#d1495b", "#8ea4d2", "#3a6ea5")
# Sources of this driver that are its allocator
ALLOCATOR = re.compile(r"zs(_|malloc)")
# The first that matches; what none does is memory management and the rest of
# the kernel
KERNEL = (
    ("decompression", re.compile(
        r"(LZ4_decompress|lzo1x_decompress|ZSTD_d|ZSTD_D|HUF_decompress|FSE_decompress|"
        r"HUF_readD|zlib_inflate|inflate_|sw842_decompress)")),
    ("compression", re.compile(
        r"(LZ4_|LZ4HC_|lzo|ZSTD_|HUF_|FSE_|zlib_|deflate_|longest_match|sw842_)")),
    ("copying and clearing", re.compile(
        r"_*(memcpy|memset|memmove|copy_page|clear_page|memcmp)")),
    ("locks", re.compile(r"(_raw_(spin|read|write)_|mutex_|queued_|down_|up_)")),
    ("block layer", re.compile(
        r"_*(bio_|blk_|submit_bio|bdev_|disk_|part_|block_|should_fail_bio|"
        r"end_swap_bio|update_io_ticks)")),
    ("virtual machine", re.compile(
        r"(os_|um_|stub|userspace|segv|sig_handler|hard_handler|unblock_signals|"
        r"block_signals|set_signals|get_signals|timer_real_alarm|timer_alarm|switch_threads|"
        r"fatal_sigsegv|handle_page_fault|handle_syscall|interrupt_end|sys_call_table|"
        r"copy_(from|to)_user|raw_copy|do_syscall|__switch_to|map$|unmap$|"
        r"flush_tlb|do_op_one_page|wait_stub|get_skas|current_mm_|mm_sync|"
        r"timer_handler|do_IRQ|sigio|irq_do_|unblock_|new_thread|_*sigsetjmp|_*longjmp|"
        r"uml_|__local_ipi|_*maybe_map|buffer_op|do_buffer_op|clear_chunk|strnlen_chunk)")),
)


def group_of(row):
    """Which group of the table a function belongs to."""
    if row["module"] == "host":
        return "virtual machine"
    if row["module"] == "zsmalloc" or ALLOCATOR.match(row["source"]):
        return "allocator"
    if row["module"] == "zram":
        return "driver"
    for group, names in KERNEL:
        if names.match(row["function"]):
            return group
    return "memory management"


def report(meta, rows, page):
    """Times, then where they go."""
    options = meta.get("options", {})
    page.text(
        f"`tests/bench/walker.c` fills {options.get('WALK_MB')} MB with pages of the corpus in a "
        f"machine of {meta.get('mem')} and one CPU; swap is on /dev/zram0 "
        f"({options.get('ALG')}). Experiment 1: it writes to the first byte of all pages in a "
        f"random order, {options.get('PASSES')} times after a first time that does not count. "
        "Experiment 2: it walks all pages in order, frees the second half of them, and reads "
        "each page of the first half. A program that touches a page itself takes a fault, "
        "which in User Mode Linux costs more than the rest; where the table says that the kernel "
        "touches a byte of each page for it, that is 1024 pages in one system call. Real time; "
        "median and spread of "
        f"N = {runs(rows, 'walk-swap')} alternating rounds, the ratio with its 95 % interval from "
        "the ratios of the rounds.")
    times(rows, page, "walk")
    if select(rows, test="stock-swap"):
        page.heading("On a stock kernel")
        page.text(
            f"The same on Debian's 6.1 in QEMU, {options.get('STOCK_MB')} MB in a machine of "
            f"{options.get('STOCK_MEM')}, one pass, N = {runs(rows, 'stock-swap')} rounds. Where "
            "QEMU has to emulate the processor, time is instructions rather than time.")
        times(rows, page, "stock")
    profiled = distinct(select(rows, unit="samples"), "test")
    if profiled:
        page.heading("Where the time goes")
        page.text(
            "Samples of the processor clock (`perf record -e cpu-clock` on the host, of all "
            "processes of the virtual machine) while the walker counts, in rounds of their own "
            f"(N = {options.get('PROFILES')}). Percent of all samples, and microseconds of a "
            "page that these are. `virtual machine` is what User Mode Linux does in place of "
            "hardware, page faults and page tables above all, and the host's kernel. The "
            "last columns leave it out, as on real hardware it would not be there. Driver and "
            "allocator are their own functions; what these call is in the groups it is from.")
        for experiment, touch, title in KINDS:
            profile(rows, (experiment, touch), title, page)
        own(rows, page)
        functions(rows, page)
    draw(rows, page)


def times(rows, page, name):
    """Microseconds per page."""
    lines = []
    for experiment, touch, title in KINDS:
        its, mine = (select(rows, test=f"{name}-{experiment}", touch=touch, config=who)
                     for who in ("theirs", "ours"))
        if its and mine:
            lines.append([
                title,
                *(with_spread([row["value"] for row in by]) for by in (its, mine)),
                str(paired_ratio([row["value"] for row in mine], [row["value"] for row in its])),
                *(" ".join(number(median(row[field] for row in by), 2)
                           for field in ("swapped_in", "swapped_out")) for by in (its, mine))])
    page.table(["us/page", "in-tree", "ours", "ours/in-tree", "in, out", "in, out (ours)"],
               lines)
    page.text("`in, out` are pages swapped in and out for each step of the walk, as the kernel "
              "counted them, of the in-tree driver and of this one.")
    memory = [(who, found) for who in BOTH if (found := [
        row["memory_used_max"] for row in select(rows, test=f"{name}-swap", config=who)])]
    page.pre([f"most memory the device took, {bench_plot.name_of(who)}: "
              f"{median(found) / 1048576:.1f} MiB" for who, found in memory])


def shares(rows, experiment, touch, config):
    """Samples of each group, all rounds together."""
    sums = collections.Counter()
    for row in select(rows, test=f"profile-{experiment}", touch=touch, config=config):
        sums[group_of(row)] += row["value"]
    return sums


def per_page(rows, experiment, touch, config):
    """Microseconds per page of the profiled rounds."""
    found = values(rows, test=f"profiled-{experiment}", touch=touch, config=config)
    return median(found) if found else 0


def profile(rows, kind, title, page):
    """One experiment by groups, both drivers."""
    sums = {who: shares(rows, *kind, who) for who in BOTH}
    if not all(sums.values()):
        return
    lines = []
    for group in (*GROUPS, "everything but the codec"):
        cells = []
        for who in ("theirs", "ours"):
            total, here = sum(sums[who].values()), sums[who]
            real = total - here["virtual machine"]
            if group in here or group in GROUPS:
                n = here[group]
                inside = None if group == "virtual machine" else n
            else:
                n = total - here["compression"] - here["decompression"]
                inside = n - here["virtual machine"]
            cells += [f"{100 * n / total:.1f}",
                      number(per_page(rows, *kind, who) * n / total, 2),
                      "-" if inside is None else f"{100 * inside / real:.1f}"]
        lines.append([group, *cells[0:2], *cells[3:5], cells[2], cells[5]])
    lines.append(["samples", *(x for who in ("theirs", "ours")
                               for x in (str(sum(sums[who].values())),
                                         number(per_page(rows, *kind, who), 2)))])
    page.text(f"Experiment {title}:")
    page.table(["", "in-tree %", "us/page", "ours %", "us/page", "in-tree % without VM",
                "ours % without VM"], lines)
    if kind[0] == "swap":
        page.text("The text found 43.2 % compression, 20.4 % decompression and 36.4 % everything "
                  "else (lzo, Linux 3.19, a Celeron at 1.4 GHz).")
    else:
        page.text("The text found 61.7 % decompression and 38.3 % everything else.")


def own_cost(rows, experiment, touch, config):
    """Microseconds per page in the functions of driver and allocator, by round."""
    found = []
    for timed in select(rows, test=f"profiled-{experiment}", touch=touch, config=config):
        here = select(rows, test=f"profile-{experiment}", touch=touch, config=config,
                      round=timed["round"])
        mine = sum(row["value"] for row in here if group_of(row) in ("driver", "allocator"))
        if here:
            found.append(timed["value"] * mine / sum(row["value"] for row in here))
    return found


def own(rows, page):
    """That, as a table."""
    lines = []
    for experiment, touch, title in KINDS:
        mine, its = (own_cost(rows, experiment, touch, who) for who in BOTH)
        if mine and its:
            lines.append([title, with_spread(its), with_spread(mine), str(ratio(mine, its))])
    page.text("Driver and allocator together, median and spread of the profiled rounds:")
    page.table(["us/page", "in-tree", "ours", "ours/in-tree"], lines)


def functions(rows, page):
    """The functions that take most."""
    page.heading("By function")
    for experiment, touch, title in KINDS:
        for who in ("theirs", "ours"):
            sums = collections.Counter()
            for row in select(rows, test=f"profile-{experiment}", touch=touch, config=who):
                name = row["function"] + (f" [{row['module']}]" if row["module"] else "")
                sums[name, group_of(row)] += row["value"]
            total = sum(sums.values())
            if total:
                page.text(f"Experiment {title}; {bench_plot.name_of(who)}:")
                page.table(["function", "group", "%"],
                           [[name, group, f"{100 * n / total:.1f}"]
                            for (name, group), n in sums.most_common(24)])


def draw(rows, page):
    """Times; and the profile, stacked."""
    figure, axes = bench_plot.new(2, width=5.2)
    bench_plot.bars(axes[0], {who: {
        f"{title[0]}, {touch}": found for experiment, touch, title in KINDS
        if (found := values(rows, test=f"walk-{experiment}", touch=touch, config=who))}
        for who in ("theirs", "ours")}, "time per page", "experiment, touched by", "us")
    stacks = [(experiment, touch, who) for experiment, touch, _ in KINDS
              for who in ("theirs", "ours") if shares(rows, experiment, touch, who)]
    for nth, stack in enumerate(stacks):
        sums, bottom = shares(rows, *stack), 0
        scale = per_page(rows, *stack) / sum(sums.values())
        for group, colour in zip(GROUPS[:-1], PALETTE):
            axes[1].bar(nth, sums[group] * scale, 0.7, bottom=bottom, color=colour,
                        label=group if not nth else None)
            bottom += sums[group] * scale
    axes[1].set_xticks(range(len(stacks)), [
        f"{1 if experiment == 'swap' else 2}\n{touch}\n{'in-tree' if who == 'theirs' else who}"
        for experiment, touch, who in stacks])
    bench_plot.finish(axes[1], "where it goes, without the virtual machine",
                      "experiment, touched by", "us per page")
    axes[0].legend()
    handles, labels = axes[1].get_legend_handles_labels()
    figure.set_figheight(4)
    figure.legend(handles, labels, loc="lower center", ncol=4)
    figure.tight_layout(rect=(0, 0.16, 1, 1))
    page.figure(figure, "Time per page of the walker, and where it goes")


def headlines(_meta, rows):
    """Both experiments."""
    found = []
    for experiment, touch, title in KINDS:
        for name, where in (("walk", ""), ("stock", ", Debian's 6.1 in QEMU")):
            mine, its = (values(rows, test=f"{name}-{experiment}", touch=touch, config=who)
                         for who in BOTH)
            if mine and its:
                found.append(headline(f"page walker, {title}{where}", "us/page", mine, its,
                                      of=paired_ratio))
        mine, its = (own_cost(rows, experiment, touch, who) for who in BOTH)
        if mine and its:
            found.append(headline(f"page walker, {title}: driver and allocator", "us/page",
                                  mine, its))
    return [row for row in found if row]
