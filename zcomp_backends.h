/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zcomp_backends: which codecs there are, in the order comp_algorithm shows.
 *
 * A backend is there if the kernel has both sides of its library, built in or
 * as a module. Kbuild must compile the files by the same conditions: the entry
 * of an absent backend is a constant NULL, to which the linker is never asked
 * to find anything.
 */
#ifndef _ZCOMP_BACKENDS_H_
#define _ZCOMP_BACKENDS_H_

#include <linux/kconfig.h>
#include "zcomp.h"

#define ZCOMP_HAS_LZO	(IS_ENABLED(CONFIG_LZO_COMPRESS) && \
			 IS_ENABLED(CONFIG_LZO_DECOMPRESS))
#define ZCOMP_HAS_LZ4	(IS_ENABLED(CONFIG_LZ4_COMPRESS) && \
			 IS_ENABLED(CONFIG_LZ4_DECOMPRESS))
#define ZCOMP_HAS_LZ4HC	(IS_ENABLED(CONFIG_LZ4HC_COMPRESS) && \
			 IS_ENABLED(CONFIG_LZ4_DECOMPRESS))
#define ZCOMP_HAS_ZSTD	(IS_ENABLED(CONFIG_ZSTD_COMPRESS) && \
			 IS_ENABLED(CONFIG_ZSTD_DECOMPRESS))
#define ZCOMP_HAS_DEFLATE (IS_ENABLED(CONFIG_ZLIB_DEFLATE) && \
			   IS_ENABLED(CONFIG_ZLIB_INFLATE))
#define ZCOMP_HAS_842	(IS_ENABLED(CONFIG_842_COMPRESS) && \
			 IS_ENABLED(CONFIG_842_DECOMPRESS))

extern const struct zcomp_backend zcomp_lzo;
extern const struct zcomp_backend zcomp_lzorle;
extern const struct zcomp_backend zcomp_lz4;
extern const struct zcomp_backend zcomp_lz4hc;
extern const struct zcomp_backend zcomp_zstd;
extern const struct zcomp_backend zcomp_deflate;
extern const struct zcomp_backend zcomp_842;

#endif /* _ZCOMP_BACKENDS_H_ */
