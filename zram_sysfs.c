// SPDX-License-Identifier: GPL-2.0
/*
 * zram_sysfs: the attributes of a device. Parse, validate, act.
 *
 * Names, formats, permissions and error codes are those of
 * Documentation/admin-guide/blockdev/zram.rst. Every writer of an attribute
 * either does all it was asked or fails and changes nothing.
 *
 * Concurrency: zram->lock, for reading to show, for writing to change.
 */
#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "compat.h"
#include "zram_dev.h"
#include "zram_sysfs.h"
#include "zs_compact.h"

static struct zram *to_zram(struct device *dev)
{
	return dev_to_disk(dev)->private_data;
}

/* Bits that a suffix shifts by; -1 where @c is none. */
static int suffix_shift(char c)
{
	static const char suffixes[] = "kmgtpe";
	const char *found = c ? strchr(suffixes, tolower(c)) : NULL;

	return found ? (found - suffixes + 1) * 10 : -1;
}

/* Cut the suffix off @number. -1 where there is none. */
static int cut_suffix(char *number)
{
	size_t len = strlen(number);
	int shift;

	/* In hexadecimal, B and E are digits. */
	if (!strncasecmp(number, "0x", 2))
		return -1;
	/* 1KiB and 1KB mean 1K here: memparse() never looked that far. */
	if (len > 2 && number[len - 1] == 'B') {
		len -= number[len - 2] == 'i' ? 2 : 1;
		if (suffix_shift(number[len - 1]) < 0)
			return -1;
	}
	shift = len ? suffix_shift(number[len - 1]) : -1;
	if (shift >= 0)
		number[len - 1] = '\0';
	return shift;
}

/**
 * zram_parse_size - parse a number of bytes
 * @buf: digits, maybe a suffix (K, M, G, T, P, E; also as KB or KiB), maybe
 *	white space around
 * @size: receives the number of bytes
 *
 * Unlike memparse(), refuses what is not a number, is followed by anything
 * else, or does not fit.
 *
 * Context: any.
 * Return: 0 or -EINVAL, then @size is unchanged.
 */
int zram_parse_size(const char *buf, u64 *size)
{
	char copy[32], *number;
	int shift;
	u64 value;

	if (strscpy(copy, buf, sizeof(copy)) < 0)
		return -EINVAL;
	number = strim(copy);
	shift = max(cut_suffix(number), 0);
	/* kstrtou64() would take a newline before the suffix. */
	if (!isdigit(number[0]) || strchr(number, '\n') ||
	    kstrtou64(number, 0, &value) || value > U64_MAX >> shift)
		return -EINVAL;
	*size = value << shift;
	return 0;
}

static ssize_t disksize_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	struct zram *zram = to_zram(dev);
	u64 pages;

	down_read(&zram->lock);
	pages = zram->state ? zram->state->nr_pages : 0;
	up_read(&zram->lock);
	return sysfs_emit(buf, "%llu\n", pages << PAGE_SHIFT);
}

static ssize_t disksize_store(struct device *dev, struct device_attribute *attr,
			      const char *buf, size_t len)
{
	u64 size;
	int ret;

	ret = zram_parse_size(buf, &size);
	if (!ret)
		ret = zram_device_init(to_zram(dev), size);
	if (ret)
		dev_err_ratelimited(dev, "cannot set the disk size: %d\n", ret);
	return ret ?: len;
}
static DEVICE_ATTR_RW(disksize);

static ssize_t initstate_show(struct device *dev, struct device_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%u\n", !!READ_ONCE(to_zram(dev)->state));
}
static DEVICE_ATTR_RO(initstate);

/* What starts an action is any positive number. */
static int parse_trigger(const char *buf)
{
	u16 value;
	int ret;

	ret = kstrtou16(buf, 10, &value);
	if (ret)
		return ret;
	return value ? 0 : -EINVAL;
}

static ssize_t reset_store(struct device *dev, struct device_attribute *attr,
			   const char *buf, size_t len)
{
	struct zram *zram = to_zram(dev);
	int ret;

	ret = parse_trigger(buf);
	if (ret)
		return ret;
	ret = zram_device_claim(zram);
	if (ret) {
		dev_err_ratelimited(dev, "cannot reset: in use\n");
		return ret;
	}
	zram_device_reset(zram);
	zram_device_unclaim(zram);
	return len;
}
static DEVICE_ATTR_WO(reset);

static ssize_t comp_algorithm_show(struct device *dev,
				   struct device_attribute *attr, char *buf)
{
	struct zram *zram = to_zram(dev);
	ssize_t len;

	down_read(&zram->lock);
	len = zcomp_backends_show(zram->backend, buf);
	up_read(&zram->lock);
	return len;
}

static ssize_t comp_algorithm_store(struct device *dev,
				    struct device_attribute *attr,
				    const char *buf, size_t len)
{
	struct zram *zram = to_zram(dev);
	const struct zcomp_backend *backend;
	int ret = -EBUSY;
	char name[32];

	if (strscpy(name, buf, sizeof(name)) < 0)
		return -EINVAL;
	backend = zcomp_backend_find(strim(name));
	if (!backend)
		return -EINVAL;
	down_write(&zram->lock);
	if (!zram->state) {
		zram->backend = backend;
		ret = len;
	}
	up_write(&zram->lock);
	if (ret < 0)
		dev_err_ratelimited(dev, "cannot change the algorithm of an initialised device\n");
	return ret;
}
static DEVICE_ATTR_RW(comp_algorithm);

static ssize_t max_comp_streams_show(struct device *dev,
				     struct device_attribute *attr, char *buf)
{
	struct zram *zram = to_zram(dev);
	unsigned int nr = num_online_cpus();

	if (zram_force_stream_list) {
		down_read(&zram->lock);
		nr = zram->nr_streams;
		up_read(&zram->lock);
	}
	return sysfs_emit(buf, "%u\n", nr);
}

/*
 * Streams are per CPU: the value is checked and, as since 4.7, without effect,
 * unless the module keeps them in a list.
 */
static ssize_t max_comp_streams_store(struct device *dev,
				      struct device_attribute *attr,
				      const char *buf, size_t len)
{
	struct zram *zram = to_zram(dev);
	ssize_t ret = len;
	u16 nr;

	if (kstrtou16(buf, 0, &nr) || !nr)
		return -EINVAL;
	if (!zram_force_stream_list)
		return len;
	down_write(&zram->lock);
	if (zram->state)
		ret = -EBUSY;
	else
		zram->nr_streams = nr;
	up_write(&zram->lock);
	return ret;
}
static DEVICE_ATTR_RW(max_comp_streams);

static ssize_t mem_limit_store(struct device *dev,
			       struct device_attribute *attr, const char *buf,
			       size_t len)
{
	struct zram *zram = to_zram(dev);
	u64 limit;
	int ret;

	ret = zram_parse_size(buf, &limit);
	if (ret)
		return ret;
	limit = limit / PAGE_SIZE + !!(limit % PAGE_SIZE);
	if (limit > ULONG_MAX)
		return -EINVAL;
	down_write(&zram->lock);
	zram->limit_pages = limit;
	if (zram->state)
		zs_pool_set_limit(zram->state->pool, limit);
	up_write(&zram->lock);
	return len;
}
static DEVICE_ATTR_WO(mem_limit);

static ssize_t mem_used_max_store(struct device *dev,
				  struct device_attribute *attr,
				  const char *buf, size_t len)
{
	struct zram *zram = to_zram(dev);
	unsigned long value;

	/* Nothing else can be set: zero starts it anew. */
	if (kstrtoul(buf, 10, &value) || value)
		return -EINVAL;
	down_read(&zram->lock);
	if (zram->state)
		zs_pool_reset_max(zram->state->pool);
	up_read(&zram->lock);
	return len;
}
static DEVICE_ATTR_WO(mem_used_max);

static ssize_t compact_store(struct device *dev, struct device_attribute *attr,
			     const char *buf, size_t len)
{
	struct zram *zram = to_zram(dev);
	ssize_t ret;

	ret = parse_trigger(buf);
	if (ret)
		return ret;
	ret = len;
	down_read(&zram->lock);
	if (zram->state)
		zs_pool_compact(zram->state->pool, &zram->stop);
	else
		ret = -EINVAL;
	up_read(&zram->lock);
	return ret;
}
static DEVICE_ATTR_WO(compact);

static ssize_t mm_stat_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct zram *zram = to_zram(dev);
	struct zs_pool_stats pool = {};
	u64 sum[ZRAM_NR_STATS] = {};
	unsigned long limit;
	int i;

	down_read(&zram->lock);
	limit = zram->limit_pages;
	if (zram->state) {
		zs_pool_stats(zram->state->pool, &pool);
		for (i = 0; i < ZRAM_NR_STATS; i++)
			sum[i] = zram_stat_sum(zram->state, i);
	}
	up_read(&zram->lock);
	return sysfs_emit(buf,
			  "%8llu %8llu %8llu %8lu %8ld %8llu %8lu %8llu %8llu\n",
			  sum[ZRAM_STORED] << PAGE_SHIFT, sum[ZRAM_BYTES],
			  (u64)pool.pages << PAGE_SHIFT, limit << PAGE_SHIFT,
			  pool.max_pages << PAGE_SHIFT, sum[ZRAM_SAME],
			  pool.compacted, sum[ZRAM_HUGE],
			  sum[ZRAM_HUGE_SINCE]);
}
static DEVICE_ATTR_RO(mm_stat);

/* A statistic of the device, 0 where it has no state. */
static u64 stat_of(struct zram *zram, enum zram_stat stat)
{
	u64 sum = 0;

	down_read(&zram->lock);
	if (zram->state)
		sum = zram_stat_sum(zram->state, stat);
	up_read(&zram->lock);
	return sum;
}

static ssize_t io_stat_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	struct zram *zram = to_zram(dev);

	return sysfs_emit(buf, "%8llu %8llu 0 %8llu\n",
			  stat_of(zram, ZRAM_FAILED_READS),
			  stat_of(zram, ZRAM_FAILED_WRITES),
			  stat_of(zram, ZRAM_NOTIFY_FREE));
}
static DEVICE_ATTR_RO(io_stat);

/* The second figure, frees that were missed, is 0: there are none. */
static ssize_t debug_stat_show(struct device *dev,
			       struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "version: 1\n%8llu %8llu\n",
			  stat_of(to_zram(dev), ZRAM_WRITE_STALLS), 0ULL);
}
static DEVICE_ATTR_RO(debug_stat);

static struct attribute *zram_disk_attrs[] = {
	&dev_attr_disksize.attr,
	&dev_attr_initstate.attr,
	&dev_attr_reset.attr,
	&dev_attr_comp_algorithm.attr,
	&dev_attr_max_comp_streams.attr,
	&dev_attr_mem_limit.attr,
	&dev_attr_mem_used_max.attr,
	&dev_attr_compact.attr,
	&dev_attr_mm_stat.attr,
	&dev_attr_io_stat.attr,
	&dev_attr_debug_stat.attr,
	NULL
};

static const struct attribute_group zram_disk_group = {
	.attrs = zram_disk_attrs,
};

/* What device_add_disk() is given. */
const struct attribute_group *zram_disk_groups[] = {
	&zram_disk_group,
	NULL
};
