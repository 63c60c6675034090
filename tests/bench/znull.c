// SPDX-License-Identifier: GPL-2.0
/*
 * znull: a block device that does nothing, at once. What a bio to it takes is
 * the block layer's share of what a bio to a real one takes.
 *
 * As zram does, it takes bios directly and counts them in its statistics.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/blkdev.h>
#include <linux/module.h>

#include "compat.h"

static unsigned long pages = 1UL << 20;
module_param(pages, ulong, 0444);
MODULE_PARM_DESC(pages, "Size");

static struct gendisk *disk;
static int major;

static void znull_submit_bio(struct bio *bio)
{
	unsigned long start = bio_start_io_acct(bio);

	bio_end_io_acct(bio, start);
	bio_endio(bio);
}

static const struct block_device_operations znull_ops = {
	.owner = THIS_MODULE,
	.submit_bio = znull_submit_bio,
};

static int __init znull_init(void)
{
	const struct compat_disk_limits limits = {
		.block_size = PAGE_SIZE,
		.page_size = PAGE_SIZE,
	};
	int ret;

	major = register_blkdev(0, "znull");
	if (major < 0)
		return major;
	disk = compat_alloc_disk(&limits);
	if (IS_ERR(disk)) {
		ret = PTR_ERR(disk);
		goto out_major;
	}
	disk->major = major;
	disk->minors = 1;
	disk->fops = &znull_ops;
	strscpy(disk->disk_name, "znull", DISK_NAME_LEN);
	set_capacity(disk, pages * PAGE_SECTORS);
	ret = add_disk(disk);
	if (ret)
		goto out_disk;
	return 0;

out_disk:
	put_disk(disk);
out_major:
	unregister_blkdev(major, "znull");
	return ret;
}
module_init(znull_init);

static void __exit znull_exit(void)
{
	del_gendisk(disk);
	put_disk(disk);
	unregister_blkdev(major, "znull");
}
module_exit(znull_exit);

MODULE_DESCRIPTION("Block device that does nothing");
MODULE_LICENSE("GPL");
