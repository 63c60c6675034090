// SPDX-License-Identifier: GPL-2.0
/*
 * The 842 codec, in software.
 *
 * Data structure: a stream's working memory is a copy of the page to compress
 * and the compressor's hash tables. The copy is for a page that changes
 * meanwhile: the library appends a checksum of what it finds in a second pass,
 * and refuses to expand what does not match.
 * Concurrency: none of its own. Decompressing keeps no state either, but takes
 * too long to be done under a slot lock.
 *
 * It does not use the coprocessor that POWER machines have for it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/sw842.h>	/* needs types.h before it */
#include "zcomp_backends.h"

struct workspace {
	u8 page[PAGE_SIZE];
	u8 tables[SW842_MEM_COMPRESS] __aligned(sizeof(u64));
};

static void *create(int node)
{
	return kvmalloc_node(sizeof(struct workspace), GFP_KERNEL, node);
}

static void destroy(void *work)
{
	kvfree(work);
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	struct workspace *space = work;
	int ret;

	memcpy(space->page, src, PAGE_SIZE);
	ret = sw842_compress(space->page, PAGE_SIZE, dst, len, space->tables);
	if (!ret || ret == -ENOSPC)
		return ret;
	return -EINVAL;
}

static int decompress(void *work, const void *src, unsigned int len, void *dst)
{
	unsigned int size = PAGE_SIZE;
	int ret = sw842_decompress(src, len, dst, &size);

	return !ret && size == PAGE_SIZE ? 0 : -EINVAL;
}

const struct zcomp_backend zcomp_842 = {
	.name		= "842",
	.fast		= false,
	.in_place	= false,
	.create		= create,
	.destroy	= destroy,
	.compress	= compress,
	.decompress	= decompress,
};
