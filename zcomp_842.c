// SPDX-License-Identifier: GPL-2.0
/*
 * The 842 codec, in software.
 *
 * Data structure: a stream's working memory is the compressor's hash tables.
 * Concurrency: none of its own. Decompressing keeps no state either, but takes
 * too long to be done under a slot lock.
 *
 * It does not use the coprocessor that POWER machines have for it.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/sw842.h>	/* needs types.h before it */
#include "zcomp_backends.h"

static void *create(int node)
{
	return kvmalloc_node(SW842_MEM_COMPRESS, GFP_KERNEL, node);
}

static void destroy(void *work)
{
	kvfree(work);
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	int ret = sw842_compress(src, PAGE_SIZE, dst, len, work);

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
