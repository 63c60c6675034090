// SPDX-License-Identifier: GPL-2.0
/*
 * zs_class: how object sizes map to zspages.
 *
 * Everything here is a pure function of a page size and a chain limit, so that
 * it can be tested for every size at once. It holds no state and knows neither
 * pages nor locks; zsmalloc.c keeps the one table the module uses.
 */
#include <linux/minmax.h>

#include "zs_class.h"

/**
 * zs_chain_length - pages to chain for objects of one size
 * @size: bytes per object, 1 to PAGE_SIZE
 * @max_chain: longest chain allowed, at least 1
 *
 * Takes the chain that leaves the smallest part of its memory unused; of
 * several equally good ones the shortest.
 *
 * Context: any.
 * Return: 1 to @max_chain.
 */
unsigned int zs_chain_length(u32 size, unsigned int max_chain)
{
	unsigned int best = 1, chain;
	u32 best_waste = PAGE_SIZE % size;

	for (chain = 2; chain <= max_chain; chain++) {
		u32 waste = (chain * PAGE_SIZE) % size;

		/* waste / chain < best_waste / best, without dividing */
		if (waste * best < best_waste * chain) {
			best = chain;
			best_waste = waste;
		}
	}
	return best;
}

static struct zs_shape shape_of(u32 size, unsigned int max_chain)
{
	struct zs_shape shape = { .size = size };

	shape.chain = zs_chain_length(size, max_chain);
	shape.objects = shape.chain * PAGE_SIZE / size;
	if (shape.objects <= shape.chain) {
		shape.size = PAGE_SIZE;
		shape.chain = 1;
		shape.objects = 1;
	}
	return shape;
}

/*
 * Both factors are rounded up, which is exact while numerator * error < 2^32
 * (2^28), the error being below the divisor: offsets are below 2^16 grains,
 * sizes at most 2^12 grains; counts at most 2^14.
 */
static void set_factors(struct zs_shape *shape)
{
	u32 grains = shape->size >> ZS_GRAIN_SHIFT;

	shape->index_mul = (u32)div_u64((1ULL << 32) + grains - 1, grains);
	shape->group_mul = DIV_ROUND_UP(10U << 28, shape->objects);
}

static bool same_class(const struct zs_shape *a, const struct zs_shape *b)
{
	return a->chain == b->chain && a->objects == b->objects;
}

/**
 * zs_class_table_init - compute all size classes
 * @table: the result
 * @max_chain: longest chain allowed, 1 to 16
 *
 * Walks the sizes upwards; a size of the same geometry as the one before takes
 * its class over and raises the size of that class.
 *
 * Context: any.
 */
void zs_class_table_init(struct zs_class_table *table, unsigned int max_chain)
{
	unsigned int step;

	table->nr = 0;
	table->huge_size = 0;
	for (step = 0; step < ZS_NR_STEPS; step++) {
		u32 size = max_t(u32, (step + 1) * ZS_STEP, ZS_MIN_SIZE);
		struct zs_shape shape = shape_of(size, max_chain);

		if (!table->nr ||
		    !same_class(&table->shape[table->nr - 1], &shape))
			table->nr++;
		table->shape[table->nr - 1] = shape;
		table->of_step[step] = table->nr - 1;
		if (shape.size < PAGE_SIZE)
			table->huge_size = size;
	}
	for (step = 0; step < table->nr; step++)
		set_factors(&table->shape[step]);
}
