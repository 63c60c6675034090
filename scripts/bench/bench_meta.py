#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Print the first line of a result file: what was run, where, on what."""
import argparse
import json
import os
import platform
import subprocess
import time

import corpus


def cpu_model():
    """The host's processor."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def commit():
    """Which module; results that were published since make it no other."""
    git = ["git", "-C", os.path.dirname(os.path.abspath(__file__))]
    asked = subprocess.run([*git, "describe", "--always"],
                           capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ":/", ":(top,exclude)docs",
                              ":(top,exclude)README.md"], check=False, capture_output=True)
    return (asked.stdout.strip() or "unknown") + ("-dirty" if changed.returncode else "")


def pairs(words):
    """NAME=VALUE words as a dictionary."""
    return dict(word.split("=", 1) for word in words)


def main():
    """Parse, collect, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("bench", "kernel", "machine", "corpus", "quick"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--options", nargs="*", default=[])
    parser.add_argument("--more", nargs="*", default=[])
    args = parser.parse_args()
    options = pairs(args.options)
    meta = {
        "bench": args.bench,
        "kernel": args.kernel,
        "machine": {"uml": "User Mode Linux", "qemu": "QEMU"}[args.machine],
        "cpus": int(options.get("CPUS", 2)),
        "mem": options.get("MEM", "1G"),
        "corpus": corpus.describe(args.corpus) if args.corpus else None,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "host_cpu": cpu_model(),
        "host_cpus": len(os.sched_getaffinity(0)),
        "options": options,
        "quick": bool(args.quick),
        **pairs(args.more),
    }
    print(json.dumps({"meta": meta}))


if __name__ == "__main__":
    main()
