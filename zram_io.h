/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zram_io: pages in and pages out, between memory and slots.
 */
#ifndef _ZRAM_IO_H_
#define _ZRAM_IO_H_

#include "zram_drv.h"

int zram_read_page(struct zram_state *state, u32 index, void *dst);
int zram_write_pages(struct zram_state *state, u32 first,
		     const void *const *src, unsigned int n);
int zram_write_partial(struct zram_state *state, u32 index, u32 offset,
		       u32 len, const void *src);

/* The same for one page. */
static inline int zram_write_page(struct zram_state *state, u32 index,
				  const void *src)
{
	return zram_write_pages(state, index, &src, 1);
}

#endif /* _ZRAM_IO_H_ */
