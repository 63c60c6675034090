// SPDX-License-Identifier: GPL-2.0
/*
 * The zstd codec.
 *
 * Data structure: a stream's working memory is a compression and a
 * decompression context, each in a workspace sized beforehand for a page at the
 * level in use, so that neither direction ever allocates.
 * Concurrency: none of its own; a stream's holder has both contexts to itself.
 *
 * It does not use dictionaries, nor zstd's checksum: whoever stores the bytes
 * checks them.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/zstd.h>
#include "zcomp_backends.h"

/* zstd's own default; higher levels gain little on a page. */
#define LEVEL 3

struct contexts {
	zstd_parameters params;
	zstd_cctx *cctx;
	zstd_dctx *dctx;
	void *cctx_space;
	void *dctx_space;
};

static void destroy(void *work)
{
	struct contexts *ctx = work;

	kvfree(ctx->cctx_space);
	kvfree(ctx->dctx_space);
	kfree(ctx);
}

static void *create(int node)
{
	struct contexts *ctx = kzalloc_node(sizeof(*ctx), GFP_KERNEL, node);
	size_t csize, dsize;

	if (!ctx)
		return NULL;
	ctx->params = zstd_get_params(LEVEL, PAGE_SIZE);
	csize = zstd_cctx_workspace_bound(&ctx->params.cParams);
	dsize = zstd_dctx_workspace_bound();
	ctx->cctx_space = kvzalloc_node(csize, GFP_KERNEL, node);
	ctx->dctx_space = kvzalloc_node(dsize, GFP_KERNEL, node);
	if (!ctx->cctx_space || !ctx->dctx_space)
		goto err;
	ctx->cctx = zstd_init_cctx(ctx->cctx_space, csize);
	ctx->dctx = zstd_init_dctx(ctx->dctx_space, dsize);
	if (!ctx->cctx || !ctx->dctx)
		goto err;
	return ctx;
err:
	destroy(ctx);
	return NULL;
}

static int compress(void *work, const void *src, void *dst, unsigned int *len)
{
	struct contexts *ctx = work;
	size_t ret = zstd_compress_cctx(ctx->cctx, dst, *len, src, PAGE_SIZE,
					&ctx->params);

	if (!zstd_is_error(ret)) {
		*len = ret;
		return 0;
	}
	return zstd_get_error_code(ret) == ZSTD_error_dstSize_tooSmall ?
		-ENOSPC : -EINVAL;
}

static int decompress(void *work, const void *src, unsigned int len, void *dst)
{
	struct contexts *ctx = work;
	size_t ret = zstd_decompress_dctx(ctx->dctx, dst, PAGE_SIZE, src, len);

	/* An error code is a huge number, so it is not PAGE_SIZE either. */
	return ret == PAGE_SIZE ? 0 : -EINVAL;
}

const struct zcomp_backend zcomp_zstd = {
	.name		= "zstd",
	.fast		= false,
	.in_place	= false,
	.create		= create,
	.destroy	= destroy,
	.compress	= compress,
	.decompress	= decompress,
};
