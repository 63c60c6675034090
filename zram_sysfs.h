/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zram_sysfs: the attributes of a device.
 */
#ifndef _ZRAM_SYSFS_H_
#define _ZRAM_SYSFS_H_

#include <linux/sysfs.h>
#include <linux/types.h>

extern const struct attribute_group *zram_disk_groups[];

int zram_parse_size(const char *buf, u64 *size);

#endif /* _ZRAM_SYSFS_H_ */
