/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zram_io: pages in, pages out. From bios, swap and the tests to slots.
 */
#ifndef _ZRAM_IO_H_
#define _ZRAM_IO_H_

#include <linux/blk_types.h>

#include "zram_drv.h"

int zram_read_page(struct zram_state *state, u32 index, void *dst);
int zram_write_pages(struct zram_state *state, u32 first,
		     const void *const *src, unsigned int n);
int zram_write_partial(struct zram_state *state, u32 index, u32 offset,
		       u32 len, const void *src);

void zram_submit_bio(struct bio *bio);
void zram_slot_free_notify(struct block_device *bdev, unsigned long index);
int zram_rw_whole_page(struct gendisk *disk, sector_t sector,
		       struct page *page, bool write);

/* The same for one page. */
static inline int zram_write_page(struct zram_state *state, u32 index,
				  const void *src)
{
	return zram_write_pages(state, index, &src, 1);
}

#endif /* _ZRAM_IO_H_ */
