#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Turn what a functional test printed into points: tap.py NAME FOLDER.

Prints one line per point, "ok NAME: ..." or "not ok NAME: ...", and adds points
that fail for whatever else is wrong: no plan, points missing or out of order,
"Bail out!", an exit status other than 0, a complaint of the kernel, a crash.
"""

import pathlib
import re
import sys


def read(path):
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return None


def points(text):
    """Yield (passed, description) for what TAP text says."""
    plan = None
    seen = 0
    for line in text.splitlines():
        if m := re.match(r"1\.\.(\d+)\s*$", line):
            plan = int(m[1])
        elif m := re.match(r"(not )?ok (\d+)(?: - (.*))?", line):
            seen += 1
            yield not m[1], m[3] or "unnamed"
            if int(m[2]) != seen:
                yield False, f"point {m[2]} where {seen} was due"
        elif line.startswith("Bail out!"):
            yield False, line
    if plan is None:
        yield False, "no plan"
    elif plan == 0 or plan != seen:
        yield False, f"{seen} points of {plan}"


def verdict(folder, name):
    """Yield all points of one test."""
    text = read(folder / f"{name}.tap")
    status = read(folder / f"{name}.rc")
    trouble = read(folder / f"{name}.trouble")
    failed = False
    for good, what in points(text or ""):
        failed |= not good
        yield good, what
    if status is None:
        yield False, "the guest died or hung"
    elif status.strip() != "0" and not failed:
        yield False, f"exit status {status.strip()}"
    if trouble:
        yield False, "the kernel says: " + trouble.splitlines()[0]


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    for good, what in verdict(folder, name):
        print(f"{'ok' if good else 'not ok'} {name}: {what}")


main()
