/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zs_compact: giving memory back by moving objects together.
 */
#ifndef _ZS_COMPACT_H_
#define _ZS_COMPACT_H_

struct zs_pool;

unsigned long zs_pool_compact(struct zs_pool *pool, const bool *stop);
unsigned long zs_pool_freeable(struct zs_pool *pool);

#endif /* _ZS_COMPACT_H_ */
