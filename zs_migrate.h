/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zs_migrate: pages of zspages that the kernel's compaction may move.
 */
#ifndef _ZS_MIGRATE_H_
#define _ZS_MIGRATE_H_

#include <linux/gfp.h>
#include <linux/migrate_mode.h>

struct page;
struct zspage;

void zs_migrate_init(void);
void zs_migrate_exit(void);
gfp_t zs_migrate_gfp(void);
void zs_migrate_register(struct zspage *zspage);
void zs_migrate_flush(void);
void zs_zspage_free(struct zspage *zspage);
int zs_page_migrate(struct page *dst, struct page *src, enum migrate_mode mode);

#endif /* _ZS_MIGRATE_H_ */
