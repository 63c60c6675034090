// SPDX-License-Identifier: GPL-2.0
/*
 * The lzo and lzo-rle codecs. They differ in the compressor only; one
 * decompressor reads both.
 *
 * Data structure: a stream's working memory is the compressor's hash table.
 * Concurrency: none of its own; the decompressor keeps no state, so it runs in
 * place.
 *
 * It does not use the compressors without _safe: those write past the buffer
 * where a page grows.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/lzo.h>	/* needs types.h before it */
#include "zcomp_backends.h"

/* The version that opens an lzo-rle stream; the library does not look first. */
#define RLE_HEADER 2

static void *create(int node)
{
	return kvmalloc_node(LZO1X_1_MEM_COMPRESS, GFP_KERNEL, node);
}

static void destroy(void *work)
{
	kvfree(work);
}

static int translate(int ret)
{
	switch (ret) {
	case LZO_E_OK:
		return 0;
	case LZO_E_OUTPUT_OVERRUN:
	case LZO_E_NOT_COMPRESSIBLE:
		return -ENOSPC;
	default:
		return -EINVAL;
	}
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	size_t size = *len;
	int ret;

	ret = translate(lzo1x_1_compress_safe(src, PAGE_SIZE, dst, &size,
					      work));
	*len = size;
	return ret;
}

static int compress_rle(void *work, const void *src, void *dst,
			unsigned int *len)
{
	size_t size = *len;
	int ret;

	if (size < RLE_HEADER)
		return -ENOSPC;
	ret = translate(lzorle1x_1_compress_safe(src, PAGE_SIZE, dst, &size,
						 work));
	*len = size;
	return ret;
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
