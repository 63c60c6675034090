# SPDX-License-Identifier: GPL-2.0
"""What all reports share: rows, medians, spreads, ratios, tables."""
import collections
import json
import math
import random
import re
import statistics

median = statistics.median

# Units of rates and times
SPEED = re.compile(r"/s$|^[mnu]?s(/|$)")

# 97.5 % points of Student's t distribution, by degrees of freedom
T975 = (math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
        2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
        2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045)


def load(path):
    """Meta and rows of a result file; an interrupted run's last line may be cut."""
    meta, rows = {}, []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            if "meta" in row:
                meta.update(row["meta"])
            else:
                rows.append(row)
    return meta, rows


def select(rows, **where):
    """Rows that have all these values."""
    return [row for row in rows
            if all(row.get(name) == value for name, value in where.items())]


def values(rows, **where):
    """The values of the rows that have all these."""
    return [row["value"] for row in select(rows, **where)]


def by_round(rows):
    """A round's median for each: what is repeated within one is no run of its own."""
    return [median(found) for _, found in sorted(group(rows, "round").items())]


def runs(rows, test):
    """Rounds that a test was measured in: 5, or 4-5 where one driver has fewer."""
    mine = select(rows, test=test)
    found = {len(distinct(select(mine, config=who), "round")) for who in distinct(mine, "config")}
    return "-".join(map(str, sorted(found))) or "0"


def group(rows, *names):
    """Lists of values by the named fields: a tuple, or one field's own value."""
    groups = collections.defaultdict(list)
    for row in rows:
        key = tuple(row.get(name) for name in names)
        groups[key if len(names) > 1 else key[0]].append(row["value"])
    return dict(groups)


def distinct(rows, name):
    """All values of a field, sorted; None left out."""
    return sorted({row[name] for row in rows if row.get(name) is not None})


def spread(numbers):
    """Half of the distance from lowest to highest, in percent of the median."""
    middle = median(numbers)
    return 50 * (max(numbers) - min(numbers)) / middle if middle else 0.0


def mean_stdev(numbers):
    """Mean and standard deviation of the sample (0 for one number)."""
    return (statistics.fmean(numbers),
            statistics.stdev(numbers) if len(numbers) > 1 else 0.0)


def factor(value):
    """A ratio in two decimals, or as many as it takes to see that it is not 0."""
    return f"{value:.2f}" if value >= 0.1 or not value else f"{value:.2g}"


class Ratio(collections.namedtuple("Ratio", "value low high n")):
    """A ratio with its 95 % interval; None where there are too few runs."""

    def __str__(self):
        if self.low is None:
            return factor(self.value)
        return f"{factor(self.value)} ({factor(self.low)}-{factor(self.high)})"

    @property
    def real(self):
        """Whether the interval leaves out 1."""
        return self.low is not None and not self.low <= 1 <= self.high


def ratio(ours, theirs, draws=4000):
    """Ratio of medians; its interval is a percentile bootstrap, from 4 runs on."""
    n = min(len(ours), len(theirs))
    if not n or not median(theirs):
        return None
    value = median(ours) / median(theirs)
    if n < 4:
        return Ratio(value, None, None, n)
    rnd = random.Random(1)
    drawn = sorted(
        median(rnd.choices(ours, k=len(ours))) / (median(rnd.choices(theirs, k=len(theirs)))
                                                  or math.inf)
        for _ in range(draws))
    return Ratio(value, drawn[draws * 25 // 1000], drawn[draws * 975 // 1000], n)


def paired_ratio(ours, theirs):
    """Geometric mean of the ratios round by round, with its t interval."""
    logs = [math.log(a / b) for a, b in zip(ours, theirs) if a > 0 and b > 0]
    if not logs:
        return None
    value, dev = mean_stdev(logs)
    if len(logs) < 3:
        return Ratio(math.exp(value), None, None, len(logs))
    half = t975(len(logs) - 1) * dev / math.sqrt(len(logs))
    return Ratio(math.exp(value), math.exp(value - half), math.exp(value + half), len(logs))


def t975(degrees):
    """The 97.5 % point of the t distribution."""
    degrees = int(degrees)
    return T975[degrees] if degrees < len(T975) else 1.96 + 2.5 / degrees


def welch(ours, theirs):
    """Difference of the means, and half of its 95 % interval (Welch's t)."""
    mean_a, dev_a = mean_stdev(ours)
    mean_b, dev_b = mean_stdev(theirs)
    if min(len(ours), len(theirs)) < 2:
        return mean_a - mean_b, math.inf
    var_a, var_b = dev_a ** 2 / len(ours), dev_b ** 2 / len(theirs)
    if not var_a + var_b:
        return mean_a - mean_b, 0.0
    degrees = (var_a + var_b) ** 2 / (
        var_a ** 2 / (len(ours) - 1) + var_b ** 2 / (len(theirs) - 1))
    return mean_a - mean_b, t975(max(1, degrees)) * math.sqrt(var_a + var_b)


def number(value, digits=None):
    """A number for a table: three significant digits, or as many decimals."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if digits is None:
        digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def with_spread(numbers, digits=None):
    """Median and spread: 123 ±4%."""
    if not numbers:
        return "-"
    return f"{number(median(numbers), digits)} ±{spread(numbers):.0f}%"


def table(header, rows):
    """Lines of a table in fixed width: first column left, the others right."""
    cells = [[number(cell) for cell in row] for row in [header, *rows]]
    columns = max(map(len, cells))
    cells = [row + [""] * (columns - len(row)) for row in cells]
    widths = [max(len(row[i]) for row in cells) for i in range(columns)]
    lines = ["  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                       for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
             for row in cells]
    lines.insert(1, "=" * max(map(len, lines)))
    return lines


class Headline(collections.namedtuple(
        "Headline", "what ours theirs unit ratio lower_is_better minor")):
    """One row of the README's table: medians of both drivers, and the ratio.

    A minor one is there only if it is not in this module's favour.
    """

    @property
    def shown(self):
        """Whether the table has it."""
        return not self.minor or self.verdict in ("slower", "worse")

    @property
    def verdict(self):
        """What may be said about it."""
        if self.ratio.low is None:
            return "too few runs to tell"
        if not self.ratio.real:
            return "no difference seen"
        better = (self.ratio.value < 1) == self.lower_is_better
        words = ("faster", "slower") if SPEED.search(self.unit) else ("better", "worse")
        return words[0] if better else words[1]


def headline(what, unit, ours, theirs, *, lower_is_better=True, minor=False, of=ratio):
    """A headline from the values of both drivers; None where one has none.

    @of gives the ratio: the same way as on the benchmark's own page.
    """
    both = of(ours, theirs)
    return both and Headline(what, median(ours), median(theirs), unit, both,
                             lower_is_better, minor)
