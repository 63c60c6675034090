#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Collect pages of real memory for benchmarks.

Reads anonymous memory of running processes, page by page, and writes a random
sample of it to a file, without pages that are one repeated word: they cost
every driver next to nothing and hide what the others cost. Says how many there
were and how well the rest compresses.
"""
import argparse
import random
import re
import sys
import zlib

PAGE = 4096
LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw.p [0-9a-f]+ 00:00 0 ")


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


def pages_of(pid):
    """All anonymous pages of one process."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        for start, end in anonymous(pid):
            for address in resident(pid, start, end):
                mem.seek(address)
                page = mem.read(PAGE)
                if len(page) == PAGE:
                    yield page


def main():
    """Collect, sample, write, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    parser.add_argument("pids", nargs="+", type=int)
    parser.add_argument("--mib", type=int, default=32, help="size (32)")
    parser.add_argument("--per-process", type=int, default=64,
                        help="MiB of one process at most (64)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    found, same = [], 0
    for pid in args.pids:
        before = len(found)
        try:
            for page in pages_of(pid):
                if page == page[:8] * (PAGE // 8):
                    same += 1
                else:
                    found.append(page)
                if len(found) - before >= args.per_process * 256:
                    break
        except (OSError, OverflowError) as error:
            print(f"process {pid}: {error}", file=sys.stderr)
    wanted = args.mib * 256
    if len(found) < wanted:
        sys.exit(f"only {len(found)} pages found, {wanted} wanted")
    rnd = random.Random(args.seed)
    sample = rnd.sample(found, wanted)
    with open(args.output, "wb") as output:
        output.writelines(sample)
    packed = sum(min(PAGE, len(zlib.compress(page, 1))) for page in sample)
    print(f"{len(found) + same} pages seen, {same} of one word; "
          f"{wanted} taken, zlib -1 packs them {wanted * PAGE / packed:.2f}:1")


if __name__ == "__main__":
    main()
