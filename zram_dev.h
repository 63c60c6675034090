/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zram_dev: the life of one device between disksize and reset.
 */
#ifndef _ZRAM_DEV_H_
#define _ZRAM_DEV_H_

#include "zram_drv.h"

int zram_dev_init(void);
void zram_dev_exit(void);

struct zram_state *zram_state_create(const struct zcomp_backend *backend,
				     unsigned int list_streams, u32 nr_pages);
void zram_state_destroy(struct zram_state *state);
u64 zram_stat_sum(struct zram_state *state, enum zram_stat stat);

int zram_device_init(struct zram *zram, u64 disksize);
void zram_device_reset(struct zram *zram);
int zram_device_claim(struct zram *zram);
void zram_device_unclaim(struct zram *zram);

extern bool zram_force_stream_list;

#endif /* _ZRAM_DEV_H_ */
