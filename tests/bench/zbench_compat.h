/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zbench_compat: opening a block device by path. 6.9: through a file.
 */
#ifndef _ZBENCH_COMPAT_H_
#define _ZBENCH_COMPAT_H_

#include <linux/blkdev.h>

#include "compat.h"

#if COMPAT_6_1
struct zbench_bdev {
	struct block_device *bdev;
};

static inline int zbench_bdev_open(struct zbench_bdev *b, const char *path)
{
	b->bdev = blkdev_get_by_path(path, FMODE_READ | FMODE_WRITE, NULL);
	return PTR_ERR_OR_ZERO(b->bdev);
}

static inline void zbench_bdev_close(struct zbench_bdev *b)
{
	blkdev_put(b->bdev, FMODE_READ | FMODE_WRITE);
}
#else
struct zbench_bdev {
	struct block_device *bdev;
	struct file *file;
};

static inline int zbench_bdev_open(struct zbench_bdev *b, const char *path)
{
	b->file = bdev_file_open_by_path(path, BLK_OPEN_READ | BLK_OPEN_WRITE,
					 NULL, NULL);
	if (IS_ERR(b->file))
		return PTR_ERR(b->file);
	b->bdev = file_bdev(b->file);
	return 0;
}

static inline void zbench_bdev_close(struct zbench_bdev *b)
{
	bdev_fput(b->file);
}
#endif

#endif /* _ZBENCH_COMPAT_H_ */
