# SPDX-License-Identifier: GPL-2.0
"""The page of text that a benchmark leaves, with its pictures beside it."""
import os

import bench_plot
import bench_stats


class Page:
    """Collects NAME.md; report_NAME.report() is given one."""

    def __init__(self, name, folder, meta):
        self.name, self.folder, self.lines = name, folder, []
        self.add(f"# make bench-{name}", "")
        self.where(meta)

    def where(self, meta):
        """What it was run on: the same words in each page."""
        corpus = meta.get("corpus")
        options = " ".join(f"{k}={quoted(v)}" for k, v in meta.get("options", {}).items())
        rows = [
            f"- command: `make bench-{self.name}{' QUICK=1' if meta.get('quick') else ''}`, "
            f"with `{options}`",
            f"- kernel: {meta.get('kernel')} in {meta.get('machine')}"
            f"{', and ' + meta['others'] if 'others' in meta else ''}, "
            f"{meta.get('cpus')} CPUs, {meta.get('mem')} of memory",
            f"- host: {meta.get('host_cpu')}, {meta.get('host_cpus')} CPUs; {meta.get('date')}",
            f"- module: {meta.get('commit')}",
        ]
        if "seconds" in meta:
            rows.append(f"- time: {meta['seconds'] // 60} min {meta['seconds'] % 60} s")
        if corpus:
            rows.insert(2, f"- data: {corpus['name']}, {corpus['mib']:.0f} MiB of pages, "
                        f"{corpus['same_filled'] or 'none'} of them one repeated word: zlib -1 "
                        f"packs them {corpus['zlib1_ratio']:.2f}:1 page by page")
        self.add(*rows, "")
        if meta.get("quick"):
            self.text("A quick run: it shows that everything works, and few runs "
                      "on a small scale are no ground for more.")

    def add(self, *lines):
        """Lines as they are."""
        self.lines.extend(lines)

    def heading(self, text):
        """A section."""
        self.add(f"## {text}", "")

    def text(self, *paragraphs):
        """Paragraphs."""
        for paragraph in paragraphs:
            self.add(paragraph, "")

    def pre(self, lines):
        """Lines in fixed width."""
        self.add("```", *lines, "```", "")

    def table(self, header, rows):
        """A table in fixed width."""
        self.pre(bench_stats.table(header, rows))

    def figure(self, figure, caption, part=""):
        """A picture: NAME.svg, or NAME-PART.svg."""
        file = f"{self.name}{'-' + part if part else ''}.svg"
        bench_plot.save(figure, os.path.join(self.folder, file))
        self.text(f"![{caption}]({file})")

    def write(self):
        """Write the page."""
        path = os.path.join(self.folder, f"{self.name}.md")
        with open(path, "w", encoding="utf-8") as page:
            page.write("\n".join(self.lines).rstrip() + "\n")


def quoted(value):
    """A value as a shell takes it."""
    return f'"{value}"' if " " in value else value
