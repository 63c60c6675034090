/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zs_compact: giving memory back by moving objects together.
 */
#ifndef _ZS_COMPACT_H_
#define _ZS_COMPACT_H_

#include <linux/types.h>

struct zs_pool;

unsigned long zs_pool_compact(struct zs_pool *pool, const bool *stop);
bool zs_pool_make_room(struct zs_pool *pool, u32 size, unsigned int tries);
unsigned long zs_pool_freeable(struct zs_pool *pool);

#endif /* _ZS_COMPACT_H_ */
