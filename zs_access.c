// SPDX-License-Identifier: GPL-2.0
/*
 * zs_access: the bytes of objects.
 *
 * A location says where an object begins. Objects within one page, and those of
 * flat zspages, are read where they are; others that cross into the next page
 * of their chain are put together in a page of this CPU's. No allocator lock is
 * involved: the owner's lock keeps the object in its place, and preemption off
 * keeps the CPU's page for its one user.
 */
#include <linux/highmem.h>
#include <linux/percpu.h>
#include <linux/prefetch.h>
#include <linux/slab.h>

#include "zs_internal.h"

/* Constant after zs_access_init(). */
struct zs_memory zs_memory;

/* Where an object that crosses a page boundary is put together for reading. */
static DEFINE_PER_CPU(void *, bounce);

/**
 * zs_access_exit - undo zs_access_init()
 *
 * Context: all pools are destroyed. May sleep.
 */
void zs_access_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kfree(per_cpu(bounce, cpu));
		per_cpu(bounce, cpu) = NULL;
	}
}

/**
 * zs_access_init - set up reading of objects that cross pages
 *
 * Context: module init. May sleep.
 * Return: 0 or -ENOMEM, with nothing left behind.
 */
int zs_access_init(void)
{
	int cpu;

	if (!IS_ENABLED(CONFIG_HIGHMEM)) {
		zs_memory.first = PHYS_PFN(__pa(PAGE_OFFSET));
		zs_memory.end = PHYS_PFN(__pa(high_memory - 1)) + 1;
	}
	for_each_possible_cpu(cpu) {
		per_cpu(bounce, cpu) = kmalloc_node(PAGE_SIZE, GFP_KERNEL,
						    cpu_to_mem(cpu));
		if (!per_cpu(bounce, cpu)) {
			zs_access_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * zs_prefetch_read - soon this object will be read
 * @loc: its location, which may be stale by now, or no location at all
 * @size: its bytes
 *
 * Context: any.
 */
void zs_prefetch_read(u64 loc, u32 size)
{
	zs_prefetch(loc, size, false);
}

/**
 * zs_pfn_valid - pfn_valid(), which is long, in one place
 * @pfn: a page frame number, whatever it is
 *
 * Context: any.
 * Return: whether it has a struct page.
 */
bool zs_pfn_valid(unsigned long pfn)
{
	return pfn_valid(pfn);
}

/**
 * zs_prefetch_free - soon this object will be freed
 * @loc: its location, which may be stale by now, or no location at all
 *
 * Looks at the page, which nothing waits for, and fetches its zspage. A page
 * that is not ours any more may say anything of that: it is only an address.
 *
 * Context: any.
 */
void zs_prefetch_free(u64 loc)
{
	if (pfn_valid(zs_loc_pfn(loc)))
		prefetchw(zs_page_zspage(zs_loc_page(loc)));
}

/* The page after @page in its chain. The owner's lock keeps it there. */
static struct page *next_page(struct page *page)
{
	return zs_pages(zs_page_zspage(page))[zs_page_place(page) + 1];
}

/* Whether an object's bytes follow each other in memory. */
static bool in_one_piece(u64 loc, u32 size)
{
	return loc & ZS_LOC_FLAT || zs_loc_offset(loc) + size <= PAGE_SIZE;
}

/**
 * zs_obj_write - fill an object
 * @loc: its location
 * @src: the bytes
 * @size: how many, at most what it was allocated for
 *
 * Context: the owner's lock held, or the owner is ZS_OWNER_NONE.
 */
void zs_obj_write(u64 loc, const void *src, u32 size)
{
	struct page *page;
	u32 offset, head;

	if (in_one_piece(loc, size) && !IS_ENABLED(CONFIG_KMAP_LOCAL)) {
		memcpy(zs_loc_address(loc), src, size);
		return;
	}
	page = zs_loc_page(loc);
	offset = zs_loc_offset(loc);
	head = min_t(u32, size, PAGE_SIZE - offset);
	memcpy_to_page(page, offset, src, head);
	if (head < size)
		memcpy_to_page(next_page(page), 0, src + head, size - head);
}

static const void *gather(struct page *page, u32 offset, u32 size)
{
	u32 head = PAGE_SIZE - offset;
	void *data = this_cpu_read(bounce);

	memcpy_from_page(data, page, offset, head);
	memcpy_from_page(data + head, next_page(page), 0, size - head);
	return data;
}

/**
 * zs_obj_read_begin - look at an object's bytes
 * @loc: its location
 * @size: how many bytes to look at, at most what it was allocated for
 *
 * Where the bytes do not follow each other in memory, they are first copied to
 * this CPU's bounce page, of which there is one: hence at most one object at a
 * time.
 *
 * Context: preemption disabled, as the owner's lock does. Until
 * zs_obj_read_end().
 * Return: the bytes.
 */
const void *zs_obj_read_begin(u64 loc, u32 size)
{
	lockdep_assert_preemption_disabled();
	if (!in_one_piece(loc, size))
		return gather(zs_loc_page(loc), zs_loc_offset(loc), size);
	if (!IS_ENABLED(CONFIG_KMAP_LOCAL))
		return zs_loc_address(loc);
	return kmap_local_page(zs_loc_page(loc)) + zs_loc_offset(loc);
}

/**
 * zs_obj_read_end - done with an object's bytes
 * @data: what zs_obj_read_begin() returned
 *
 * Context: as zs_obj_read_begin().
 */
void zs_obj_read_end(const void *data)
{
	if (IS_ENABLED(CONFIG_KMAP_LOCAL) && data != this_cpu_read(bounce))
		kunmap_local(data);
}
