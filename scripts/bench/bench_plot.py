# SPDX-License-Identifier: GPL-2.0
"""Pictures, all alike: the same data gives the same bytes."""
import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot, ticker  # noqa: E402  pylint: disable=wrong-import-position

from bench_stats import median  # noqa: E402  pylint: disable=wrong-import-position

matplotlib.rcParams.update({
    "svg.hashsalt": "zram-bench", "svg.fonttype": "none", "font.size": 9,
    "font.family": "sans-serif", "axes.grid": True, "axes.axisbelow": True, "grid.alpha": 0.3,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "figure.facecolor": "white",
})

NAMES = {"ours": "this driver", "theirs": "in-tree driver"}
COLOURS = {"ours": "#0b6e4f", "theirs": "#c1440e", "codec": "#777777"}
OTHERS = ["#3a6ea5", "#8e6bb0", "#c9a227", "#5d5d5d"]


def name_of(config):
    """What a configuration is called in pictures and tables."""
    return NAMES.get(config, config)


def colour_of(config, nth=0):
    """Both drivers have the same colour everywhere."""
    return COLOURS.get(config, OTHERS[nth % len(OTHERS)])


def new(columns=1, rows=1, width=4.2, height=3.0):
    """A figure and a flat list of its axes."""
    figure, axes = pyplot.subplots(rows, columns, squeeze=False,
                                   figsize=(width * columns, height * rows))
    return figure, list(axes.flat)


def lines(axes, series, title="", xlabel="", ylabel=""):
    """Medians with bars from lowest to highest: {config: {x: [values]}}."""
    for nth, (config, points) in enumerate(series.items()):
        xs = sorted(points)
        middle = [median(points[x]) for x in xs]
        low = [m - min(points[x]) for m, x in zip(middle, xs)]
        high = [max(points[x]) - m for m, x in zip(middle, xs)]
        axes.errorbar(xs, middle, yerr=[low, high], marker="o", markersize=3,
                      capsize=2, linewidth=1.3, color=colour_of(config, nth),
                      label=name_of(config))
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    finish(axes, title, xlabel, ylabel)


def bars(axes, series, title="", xlabel="", ylabel=""):
    """Medians side by side: {config: {label: [values]}}."""
    labels = list(dict.fromkeys(label for points in series.values() for label in points))
    width = 0.8 / max(1, len(series))
    for nth, (config, points) in enumerate(series.items()):
        at = [i + (nth - (len(series) - 1) / 2) * width
              for i, label in enumerate(labels) if label in points]
        have = [points[label] for label in labels if label in points]
        middle = [median(v) for v in have]
        axes.bar(at, middle, width * 0.92, color=colour_of(config, nth),
                 label=name_of(config), capsize=2,
                 yerr=[[m - min(v) for m, v in zip(middle, have)],
                       [max(v) - m for m, v in zip(middle, have)]])
    axes.set_xticks(range(len(labels)), [str(label) for label in labels])
    axes.grid(axis="x", visible=False)
    finish(axes, title, xlabel, ylabel)


def finish(axes, title, xlabel, ylabel):
    """Words around a picture; values begin at nought."""
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_ylim(bottom=0)


def legend(figure, axes):
    """One legend for all axes, below them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=max(1, len(labels)))
    figure.tight_layout(rect=(0, 0.3 / figure.get_figheight(), 1, 1))


def save(figure, path):
    """Write an SVG without a date."""
    figure.savefig(path, format="svg", metadata={"Date": None})
    pyplot.close(figure)
