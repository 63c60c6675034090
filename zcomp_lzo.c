// SPDX-License-Identifier: GPL-2.0
/*
 * The lzo and lzo-rle codecs. They differ in the compressor only; one
 * decompressor reads both.
 *
 * Data structure: a stream's working memory is the compressor's hash table.
 * Concurrency: none of its own; the decompressor keeps no state, so it runs in
 * place.
 *
 * It does not use the compressors with _safe, which look at the limit again and
 * again: by 1200 of 27000 instructions for a page.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/lzo.h>	/* needs types.h before it */
#include "zcomp_backends.h"

static_assert(lzo1x_worst_compress(PAGE_SIZE) <= ZCOMP_ROOM);

static void *create(int node)
{
	return kvmalloc_node(LZO1X_1_MEM_COMPRESS, GFP_KERNEL, node);
}

static void destroy(void *work)
{
	kvfree(work);
}

static int finish(int ret, size_t size, unsigned int *len)
{
	if (ret != LZO_E_OK)
		return -EINVAL;
	if (size > *len)
		return -ENOSPC;
	*len = size;
	return 0;
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	size_t size = ZCOMP_ROOM;
	int ret = lzo1x_1_compress(src, PAGE_SIZE, dst, &size, work);

	return finish(ret, size, len);
}

static int compress_rle(void *work, const void *src, void *dst,
			unsigned int *len)
{
	size_t size = ZCOMP_ROOM;
	int ret = lzorle1x_1_compress(src, PAGE_SIZE, dst, &size, work);

	return finish(ret, size, len);
}

static int decompress(void *work, const void *src, unsigned int len, void *dst)
{
	size_t size = PAGE_SIZE;
	int ret = lzo1x_decompress_safe(src, len, dst, &size);

	return ret == LZO_E_OK && size == PAGE_SIZE ? 0 : -EINVAL;
}

const struct zcomp_backend zcomp_lzo = {
	.name		= "lzo",
	.fast		= true,
	.in_place	= true,
	.create		= create,
	.destroy	= destroy,
	.compress	= compress,
	.decompress	= decompress,
};

const struct zcomp_backend zcomp_lzorle = {
	.name		= "lzo-rle",
	.fast		= true,
	.in_place	= true,
	.create		= create,
	.destroy	= destroy,
	.compress	= compress_rle,
	.decompress	= decompress,
};
