// SPDX-License-Identifier: GPL-2.0
/*
 * zram_drv: the module, the disks, and the interface to add and remove them.
 *
 * Devices are in an array by the number in their name. zram_devices_lock guards
 * it and is held while a device comes or goes, so that its number is not taken
 * again before its disk is gone.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "compat.h"
#include "zram_dev.h"
#include "zram_bio.h"
#include "zram_sysfs.h"

static unsigned int num_devices = 1;
module_param(num_devices, uint, 0444);
MODULE_PARM_DESC(num_devices, "Number of devices to begin with");

/* More than anybody has begun with, few enough for any memory. */
#define MAX_NUM_DEVICES	1024

static DEFINE_XARRAY_ALLOC(zram_devices);
static DEFINE_MUTEX(zram_devices_lock);
static int zram_major;

static int zram_open(struct gendisk *disk)
{
	struct zram *zram = disk->private_data;

	lockdep_assert_held(&disk->open_mutex);
	return zram->claim ? -EBUSY : 0;
}

COMPAT_DISK_OPEN(zram_open)
COMPAT_RW_PAGE(zram_rw_whole_page)

static const struct block_device_operations zram_fops = {
	.owner = THIS_MODULE,
	.open = compat_zram_open,
	.submit_bio = zram_submit_bio,
	.swap_slot_free_notify = zram_slot_free_notify,
	COMPAT_RW_PAGE_OP(zram_rw_whole_page)
};

static const struct compat_disk_limits zram_limits = {
	.block_size = ZRAM_BLOCK_SIZE,
	.page_size = PAGE_SIZE,
	/* With larger pages, zeroes for a part of one must be written. */
	.write_zeroes = PAGE_SIZE == ZRAM_BLOCK_SIZE,
};

static int add_disk_of(struct zram *zram)
{
	struct gendisk *disk = compat_alloc_disk(&zram_limits);
	int ret;

	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->major = zram_major;
	disk->first_minor = zram->id;
	disk->minors = 1;
	/* Swap tells us page numbers of the disk, not of a partition. */
	disk->flags |= GENHD_FL_NO_PART;
	disk->fops = &zram_fops;
	disk->private_data = zram;
	snprintf(disk->disk_name, sizeof(disk->disk_name), "zram%u", zram->id);
	zram->disk = disk;
	ret = device_add_disk(NULL, disk, zram_disk_groups);
	if (ret)
		put_disk(disk);
	return ret;
}

/* Add a device. Returns its number or an error. */
static int add_device(void)
{
	struct zram *zram = kzalloc(sizeof(*zram), GFP_KERNEL);
	int ret;

	lockdep_assert_held(&zram_devices_lock);
	if (!zram)
		return -ENOMEM;
	init_rwsem(&zram->lock);
	zram->backend = zcomp_backend_default();
	zram->nr_streams = num_online_cpus();
	ret = xa_alloc(&zram_devices, &zram->id, zram,
		       XA_LIMIT(0, MINORMASK), GFP_KERNEL);
	if (ret)
		goto out_zram;
	ret = add_disk_of(zram);
	if (ret)
		goto out_id;
	return zram->id;

out_id:
	xa_erase(&zram_devices, zram->id);
out_zram:
	kfree(zram);
	return ret;
}

/* Remove a device that nobody has open, nor will have. */
static void remove_device(struct zram *zram)
{
	lockdep_assert_held(&zram_devices_lock);
	/* Until zram_device_reset() is through. */
	WRITE_ONCE(zram->stop, true);
	down_write(&zram->lock);
	zram->removed = true;
	up_write(&zram->lock);
	zram_device_reset(zram);
	del_gendisk(zram->disk);
	put_disk(zram->disk);
	xa_erase(&zram_devices, zram->id);
	kfree(zram);
}

/* Reading adds a device: so it is in the interface. */
static ssize_t hot_add_show(COMPAT_CLASS_CONST struct class *class,
			    COMPAT_CLASS_CONST struct class_attribute *attr,
			    char *buf)
{
	int ret;

	mutex_lock(&zram_devices_lock);
	ret = add_device();
	mutex_unlock(&zram_devices_lock);
	return ret < 0 ? ret : sysfs_emit(buf, "%d\n", ret);
}

static struct class_attribute class_attr_hot_add =
	__ATTR(hot_add, 0400, hot_add_show, NULL);

static ssize_t hot_remove_store(COMPAT_CLASS_CONST struct class *class,
				COMPAT_CLASS_CONST struct class_attribute *attr,
				const char *buf, size_t count)
{
	struct zram *zram;
	int id, ret;

	ret = kstrtoint(buf, 10, &id);
	if (ret)
		return ret;
	if (id < 0)
		return -EINVAL;
	mutex_lock(&zram_devices_lock);
	zram = xa_load(&zram_devices, id);
	ret = zram ? zram_device_claim(zram) : -ENODEV;
	if (!ret)
		remove_device(zram);
	mutex_unlock(&zram_devices_lock);
	return ret ?: count;
}
static CLASS_ATTR_WO(hot_remove);

static struct attribute *zram_control_attrs[] = {
	&class_attr_hot_add.attr,
	&class_attr_hot_remove.attr,
	NULL
};
ATTRIBUTE_GROUPS(zram_control);

static struct class zram_control_class = {
	.name = "zram-control",
	.class_groups = zram_control_groups,
};

static void remove_devices(void)
{
	struct zram *zram;
	unsigned long id;

	mutex_lock(&zram_devices_lock);
	xa_for_each(&zram_devices, id, zram) {
		/* Whoever came while the module was loading goes soon. */
		while (zram_device_claim(zram))
			msleep(20);
		remove_device(zram);
	}
	mutex_unlock(&zram_devices_lock);
	xa_destroy(&zram_devices);
}

static int add_devices(void)
{
	unsigned int i;
	int ret = 0;

	mutex_lock(&zram_devices_lock);
	for (i = 0; i < num_devices && ret >= 0; i++)
		ret = add_device();
	mutex_unlock(&zram_devices_lock);
	return ret < 0 ? ret : 0;
}

static int __init zram_init(void)
{
	int ret;

	if (num_devices > MAX_NUM_DEVICES) {
		pr_err("num_devices: %u is above %u\n", num_devices,
		       MAX_NUM_DEVICES);
		return -EINVAL;
	}
	ret = zs_init();
	if (ret)
		return ret;
	ret = zcomp_init();
	if (ret)
		goto out_zs;
	ret = zram_dev_init();
	if (ret)
		goto out_zcomp;
	zram_major = register_blkdev(0, "zram");
	if (zram_major < 0) {
		ret = zram_major;
		goto out_dev;
	}
	ret = class_register(&zram_control_class);
	if (ret)
		goto out_blkdev;
	ret = add_devices();
	if (ret)
		goto out_devices;
	return 0;

out_devices:
	class_unregister(&zram_control_class);
	remove_devices();
out_blkdev:
	unregister_blkdev(zram_major, "zram");
out_dev:
	zram_dev_exit();
out_zcomp:
	zcomp_exit();
out_zs:
	zs_exit();
	return ret;
}

static void __exit zram_exit(void)
{
	class_unregister(&zram_control_class);
	remove_devices();
	unregister_blkdev(zram_major, "zram");
	zram_dev_exit();
	zcomp_exit();
	zs_exit();
}

module_init(zram_init);
module_exit(zram_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Compressed RAM block device");
