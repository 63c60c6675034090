// SPDX-License-Identifier: GPL-2.0
/*
 * holes [-v] DEVICE BLOCKS SEED: discard a random half of the blocks of a
 * device that was filled from TEST_CORPUS. With -v discard nothing, but check
 * that this half reads as zeroes and the other is the corpus.
 */
#define _GNU_SOURCE
#include "page.h"
#include <linux/fs.h>
#include <stdbool.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
	static const uint8_t zero[PAGE_SZ];
	bool verify = argc > 1 && !strcmp(argv[1], "-v");
	uint64_t blocks, seed, b;
	uint8_t *buf;
	int fd;

	argv += verify;
	if (argc - verify != 4)
		die("usage: holes [-v] DEVICE BLOCKS SEED");
	blocks = strtoull(argv[2], NULL, 0);
	seed = strtoull(argv[3], NULL, 0);
	corpus_open();
	if (corpus_pages < blocks)
		die("the corpus is too small");
	fd = open(argv[1], O_RDWR | O_DIRECT);
	if (fd < 0)
		die("%s: %s", argv[1], strerror(errno));
	buf = page_alloc(PAGE_SZ);
	for (b = 0; b < blocks; b++) {
		uint64_t range[2] = { b * PAGE_SZ, PAGE_SZ };
		bool hole = mix(seed ^ b) & 1;
		const uint8_t *expected = hole ? zero : corpus + range[0];

		if (!verify) {
			if (hole && ioctl(fd, BLKDISCARD, range))
				die("discard: %s", strerror(errno));
			continue;
		}
		if (pread(fd, buf, PAGE_SZ, range[0]) != PAGE_SZ)
			die("read: %s", strerror(errno));
		if (!memcmp(buf, expected, PAGE_SZ))
			continue;
		page_explain(buf, expected, seed, b);
		die("block %llu is not what it was", (unsigned long long)b);
	}
	return 0;
}
