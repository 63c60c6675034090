// SPDX-License-Identifier: GPL-2.0
/*
 * The lz4hc codec: lz4's format, searched for thoroughly.
 *
 * Data structure: a stream's working memory is the compressor's hash and chain
 * tables, 256 KiB, which the library clears for every page.
 * Concurrency: none of its own. Compressing is slow, so it is preemptible;
 * decompressing is lz4's, keeps no state and runs in place.
 *
 * It does not use dictionaries.
 */
#include <linux/lz4.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "zcomp_backends.h"

static void *create(int node)
{
	return kvmalloc_node(LZ4HC_MEM_COMPRESS, GFP_KERNEL, node);
}

static void destroy(void *work)
{
	kvfree(work);
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	/* The only failure the library knows is a result that does not fit. */
	int ret = LZ4_compress_HC(src, dst, PAGE_SIZE, *len,
				  LZ4HC_DEFAULT_CLEVEL, work);

	if (ret <= 0)
		return -ENOSPC;
	*len = ret;
	return 0;
}

static int decompress(void *work, const void *src, unsigned int len, void *dst)
{
	int ret = LZ4_decompress_safe(src, dst, len, PAGE_SIZE);

	return ret == PAGE_SIZE ? 0 : -EINVAL;
}

const struct zcomp_backend zcomp_lz4hc = {
	.name		= "lz4hc",
	.fast		= false,
	.in_place	= true,
	.create		= create,
	.destroy	= destroy,
	.compress	= compress,
	.decompress	= decompress,
};
