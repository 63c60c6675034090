#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Collect pages for benchmarks.

  corpus.py memory OUTPUT PID...         anonymous memory of running processes
  corpus.py packages OUTPUT [PACKAGE...] files of installed Debian packages

Takes a random sample, page by page, without pages that are one repeated word:
they cost every driver next to nothing and hide what the others cost. Says how
many there were and how well the rest compresses. Memory is what swap sees, but
differs from machine to machine; the packages are there to repeat a run.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import zlib

PAGE = 4096
LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw.p [0-9a-f]+ 00:00 0 ")
# Programs, libraries, scripts and text that every Debian 12 has
PACKAGES = ["bash", "coreutils", "dpkg", "grep", "libc6", "libstdc++6",
            "perl-base", "python3-minimal", "libpython3-stdlib", "tar", "util-linux"]


def anonymous(pid):
    """Ranges of anonymous memory of one process."""
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            found = LINE.match(line)
            if found and "[v" not in line:
                start, end = int(found[1], 16), int(found[2], 16)
                # Larger ones are reserved, not used.
                if end - start < 1 << 32:
                    yield start, end


def resident(pid, start, end):
    """Addresses of pages that are in memory."""
    with open(f"/proc/{pid}/pagemap", "rb") as pagemap:
        pagemap.seek(start // PAGE * 8)
        data = pagemap.read((end - start) // PAGE * 8)
    for i in range(0, len(data), 8):
        if data[i + 7] & 0x80:
            yield start + i // 8 * PAGE


def pages_of_process(pid):
    """All anonymous pages of one process."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for start, end in anonymous(pid):
            for address in resident(pid, start, end):
                mem.seek(address)
                page = mem.read(PAGE)
                if len(page) == PAGE:
                    yield page


def pages_of_package(package):
    """All whole pages of the files of one package."""
    listed = subprocess.run(["dpkg", "-L", package], capture_output=True,
                            text=True, check=True).stdout.splitlines()
    for name in sorted(listed):
        if os.path.isfile(name) and not os.path.islink(name):
            with open(name, "rb") as file:
                while len(page := file.read(PAGE)) == PAGE:
                    yield page


def same_filled(page):
    """Whether a page is one repeated word."""
    return page == page[:8] * (PAGE // 8)


def collect(sources, pages_of, most):
    """Pages of all sources, and how many more were of one word."""
    found, same = [], 0
    for source in sources:
        before = len(found)
        try:
            for page in pages_of(source):
                if same_filled(page):
                    same += 1
                else:
                    found.append(page)
                if len(found) - before >= most:
                    break
        except (OSError, OverflowError, subprocess.CalledProcessError) as error:
            print(f"{source}: {error}", file=sys.stderr)
    return found, same


def packed_ratio(pages):
    """How well pages compress, each alone."""
    packed = sum(min(PAGE, len(zlib.compress(page, 1))) for page in pages)
    return len(pages) * PAGE / packed


def describe(path):
    """What a benchmark's page says about a corpus."""
    with open(path, "rb") as file:
        data = file.read()
    pages = [data[at:at + PAGE] for at in range(0, len(data), PAGE)]
    return {"name": os.path.basename(path), "mib": len(data) / 2 ** 20,
            "zlib1_ratio": round(packed_ratio(pages), 2),
            "same_filled": sum(map(same_filled, pages))}


def main():
    """Collect, sample, write, report."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=("memory", "packages"))
    parser.add_argument("output")
    parser.add_argument("sources", nargs="*")
    parser.add_argument("--mib", type=int, default=32, help="size (32)")
    parser.add_argument("--per-process", type=int, default=64,
                        help="MiB of one process or package at most (64)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    if args.kind == "memory":
        sources, pages_of = args.sources, pages_of_process
    else:
        sources, pages_of = args.sources or PACKAGES, pages_of_package
    found, same = collect(sources, pages_of, args.per_process * 256)
    wanted = args.mib * 256
    if len(found) < wanted:
        sys.exit(f"only {len(found)} pages found, {wanted} wanted")
    sample = random.Random(args.seed).sample(found, wanted)
    with open(args.output + ".new", "wb") as output:
        output.writelines(sample)
    os.replace(args.output + ".new", args.output)
    print(f"{len(found) + same} pages seen, {same} of one word; "
          f"{wanted} taken, zlib -1 packs them {packed_ratio(sample):.2f}:1")


if __name__ == "__main__":
    main()
