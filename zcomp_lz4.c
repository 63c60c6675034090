// SPDX-License-Identifier: GPL-2.0
/*
 * The lz4 codec.
 *
 * Data structure: a stream's working memory is the compressor's hash table,
 * which the library clears for every page.
 * Concurrency: none of its own; the decompressor keeps no state, so it runs in
 * place.
 *
 * It does not use dictionaries, nor the limit: with room for any result the
 * library takes a shorter way, by 2000 of 28000 instructions for a page.
 */
#include <linux/lz4.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "zcomp_backends.h"

static_assert(LZ4_COMPRESSBOUND(PAGE_SIZE) <= ZCOMP_ROOM);

static void *create(int node)
{
	return kvmalloc_node(LZ4_MEM_COMPRESS, GFP_KERNEL, node);
}

static void destroy(void *work)
{
	kvfree(work);
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	int ret = LZ4_compress_default(src, dst, PAGE_SIZE, ZCOMP_ROOM, work);

	if (ret <= 0)
		return -EINVAL;
	if (ret > *len)
		return -ENOSPC;
	*len = ret;
	return 0;
}

static int decompress(void *work, const void *src, unsigned int len, void *dst)
{
	int ret = LZ4_decompress_safe(src, dst, len, PAGE_SIZE);

	return ret == PAGE_SIZE ? 0 : -EINVAL;
}

const struct zcomp_backend zcomp_lz4 = {
	.name		= "lz4",
	.fast		= true,
	.in_place	= true,
	.create		= create,
	.destroy	= destroy,
	.compress	= compress,
	.decompress	= decompress,
};
