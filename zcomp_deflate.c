// SPDX-License-Identifier: GPL-2.0
/*
 * The deflate codec: a raw deflate stream, without zlib's header and checksum.
 *
 * Data structure: a stream's working memory is a deflate and an inflate state,
 * set up once and reset for every page, so that neither direction allocates.
 * Concurrency: none of its own; a stream's holder has both states to itself.
 *
 * It does not use dictionaries or preset code tables.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/zlib.h>
#include "zcomp_backends.h"

/* A window of one page, negative for a raw stream. */
#define WINDOW_BITS	(-min(PAGE_SHIFT, MAX_WBITS))
/* The least with which a page is one block: 2^(level + 6) literals. */
#define MEM_LEVEL	min(PAGE_SHIFT - 6, MAX_MEM_LEVEL)

struct states {
	struct z_stream_s deflate;
	struct z_stream_s inflate;
};

static void destroy(void *work)
{
	struct states *states = work;

	kvfree(states->deflate.workspace);
	kvfree(states->inflate.workspace);
	kfree(states);
}

static void *create(int node)
{
	struct states *states = kzalloc_node(sizeof(*states), GFP_KERNEL, node);

	if (!states)
		return NULL;
	states->deflate.workspace =
		kvzalloc_node(zlib_deflate_workspacesize(WINDOW_BITS,
							 MEM_LEVEL),
			      GFP_KERNEL, node);
	states->inflate.workspace =
		kvzalloc_node(zlib_inflate_workspacesize(), GFP_KERNEL, node);
	if (!states->deflate.workspace || !states->inflate.workspace)
		goto err;
	if (zlib_deflateInit2(&states->deflate, Z_DEFAULT_COMPRESSION,
			      Z_DEFLATED, WINDOW_BITS, MEM_LEVEL,
			      Z_DEFAULT_STRATEGY) != Z_OK)
		goto err;
	if (zlib_inflateInit2(&states->inflate, WINDOW_BITS) != Z_OK)
		goto err;
	return states;
err:
	destroy(states);
	return NULL;
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	struct states *states = work;
	struct z_stream_s *z = &states->deflate;
	int ret;

	if (zlib_deflateReset(z) != Z_OK)
		return -EINVAL;
	z->next_in = src;
	z->avail_in = PAGE_SIZE;
	z->next_out = dst;
	z->avail_out = *len;
	ret = zlib_deflate(z, Z_FINISH);
	if (ret == Z_STREAM_END) {
		*len = z->total_out;
		return 0;
	}
	/* Z_OK: there is more to come, but nowhere to put it. */
	return ret == Z_OK || ret == Z_BUF_ERROR ? -ENOSPC : -EINVAL;
}

static int decompress(void *work, const void *src, unsigned int len, void *dst)
{
	struct states *states = work;
	struct z_stream_s *z = &states->inflate;

	if (zlib_inflateReset(z) != Z_OK)
		return -EINVAL;
	z->next_in = src;
	z->avail_in = len;
	z->next_out = dst;
	z->avail_out = PAGE_SIZE;
	if (zlib_inflate(z, Z_FINISH) != Z_STREAM_END)
		return -EINVAL;
	return z->total_out == PAGE_SIZE ? 0 : -EINVAL;
}

const struct zcomp_backend zcomp_deflate = {
	.name		= "deflate",
	.fast		= false,
	.in_place	= false,
	.create		= create,
	.destroy	= destroy,
	.compress	= compress,
	.decompress	= decompress,
};
