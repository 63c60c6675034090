/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zram_bio: what the block layer and swap ask of a disk.
 */
#ifndef _ZRAM_BIO_H_
#define _ZRAM_BIO_H_

#include <linux/blk_types.h>

struct gendisk;

void zram_submit_bio(struct bio *bio);
void zram_slot_free_notify(struct block_device *bdev, unsigned long index);
int zram_rw_whole_page(struct gendisk *disk, sector_t sector,
		       struct page *page, bool write);

#endif /* _ZRAM_BIO_H_ */
