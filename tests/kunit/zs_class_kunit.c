// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the size-class arithmetic.
 *
 * Every property is checked for every object size, or every class, of the
 * tables for chain limits 4 to 16, against plain division.
 */
#include <kunit/test.h>
#include <linux/mm.h>

#include "../../zsmalloc.h"

static const unsigned int chain_limits[] = {
	4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
};

static void limit_desc(const unsigned int *limit, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "chain limit %u", *limit);
}

KUNIT_ARRAY_PARAM(chain_limits, chain_limits, limit_desc);

/* The case's table: of the parameter's chain limit, or of the module's. */
static int class_init(struct kunit *test)
{
	const unsigned int *limit = test->param_value;
	struct zs_class_table *table;

	table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	zs_class_table_init(table, limit ? *limit : ZS_MAX_CHAIN);
	test->priv = table;
	return 0;
}

static unsigned int limit_of(struct kunit *test)
{
	return *(const unsigned int *)test->param_value;
}

static const struct zs_shape *shape_for(struct kunit *test, u32 size)
{
	const struct zs_class_table *table = test->priv;

	return &table->shape[zs_class_of(table, size)];
}

/* The size that classes are made for: a multiple of the step, not tiny. */
static u32 rounded(u32 size)
{
	return max_t(u32, roundup(size, ZS_STEP), ZS_MIN_SIZE);
}

/* Expect: the class of a size takes objects of that size. */
static void class_of_size_is_large_enough(struct kunit *test)
{
	u32 size;

	for (size = 1; size <= PAGE_SIZE; size++)
		KUNIT_EXPECT_LE(test, size, shape_for(test, size)->size);
}

/* Expect: the next smaller class, if there is one, does not. */
static void class_of_size_is_the_smallest(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	u32 size;

	for (size = 1; size <= PAGE_SIZE; size++) {
		unsigned int class = zs_class_of(table, size);

		if (class)
			KUNIT_EXPECT_GT(test, size,
					table->shape[class - 1].size);
	}
}

/* Expect: a larger size never has a smaller class. */
static void class_of_size_is_monotonic(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int last = 0;
	u32 size;

	for (size = 1; size <= PAGE_SIZE; size++) {
		KUNIT_EXPECT_GE(test, zs_class_of(table, size), last);
		last = zs_class_of(table, size);
	}
	KUNIT_EXPECT_EQ(test, zs_class_of(table, 1), 0U);
	KUNIT_EXPECT_EQ(test, last, table->nr - 1);
}

/* Expect: ascending sizes in whole grains, at most one class per step. */
static void table_ascends_in_grains(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int class;

	KUNIT_ASSERT_GE(test, table->nr, 1U);
	KUNIT_ASSERT_LE(test, table->nr, (unsigned int)ZS_NR_STEPS);
	for (class = 0; class < table->nr; class++) {
		const struct zs_shape *shape = &table->shape[class];

		KUNIT_EXPECT_EQ(test, shape->size % ZS_GRAIN, 0U);
		KUNIT_EXPECT_GE(test, shape->size, ZS_MIN_SIZE);
		KUNIT_EXPECT_LE(test, shape->size, (u32)PAGE_SIZE);
		if (class)
			KUNIT_EXPECT_GT(test, shape->size, shape[-1].size);
	}
}

/* Expect: the chain is within the limit and holds the objects, not one more. */
static void objects_fill_the_chain(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int class;

	for (class = 0; class < table->nr; class++) {
		const struct zs_shape *shape = &table->shape[class];
		u32 bytes = shape->chain * PAGE_SIZE;

		KUNIT_EXPECT_GE(test, shape->chain, 1);
		KUNIT_EXPECT_LE(test, shape->chain, limit_of(test));
		KUNIT_EXPECT_EQ(test, shape->objects, bytes / shape->size);
		KUNIT_EXPECT_LE(test, (unsigned long)shape->objects,
				PAGE_SIZE / ZS_MIN_SIZE * limit_of(test));
	}
}

/* Expect: less than the limit's share of a zspage is left over. */
static void waste_is_bounded(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int class;

	for (class = 0; class < table->nr; class++) {
		const struct zs_shape *shape = &table->shape[class];
		u32 bytes = shape->chain * PAGE_SIZE;
		u32 waste = bytes - shape->objects * shape->size;

		KUNIT_EXPECT_LT(test, waste * limit_of(test), bytes);
		KUNIT_EXPECT_LT(test, waste, shape->size);
	}
}

/* Expect: no other chain wastes a smaller part, no shorter one the same. */
static void chain_length_wastes_least(struct kunit *test)
{
	unsigned int limit = limit_of(test), chain;
	u32 size;

	for (size = ZS_GRAIN; size <= PAGE_SIZE; size += ZS_GRAIN) {
		unsigned int best = zs_chain_length(size, limit);
		u32 waste = best * PAGE_SIZE % size;

		KUNIT_ASSERT_GE(test, best, 1U);
		KUNIT_ASSERT_LE(test, best, limit);
		for (chain = 1; chain < best; chain++)
			KUNIT_EXPECT_LT(test, waste * chain,
					chain * PAGE_SIZE % size * best);
		for (; chain <= limit; chain++)
			KUNIT_EXPECT_LE(test, waste * chain,
					chain * PAGE_SIZE % size * best);
	}
}

/* Expect: two classes side by side differ in chain or count. */
static void neighbours_are_not_alike(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int class;

	for (class = 1; class < table->nr; class++) {
		const struct zs_shape *shape = &table->shape[class];

		KUNIT_EXPECT_FALSE(test, shape->chain == shape[-1].chain &&
				   shape->objects == shape[-1].objects);
	}
}

/* Expect: in a merged class a size is as well off as in one of its own. */
static void merging_costs_nothing(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	u32 size;

	for (size = 1; size <= table->huge_size; size++) {
		const struct zs_shape *shape = shape_for(test, size);
		u32 alone = rounded(size);
		unsigned int chain = zs_chain_length(alone, limit_of(test));

		KUNIT_EXPECT_EQ(test, chain, shape->chain);
		KUNIT_EXPECT_EQ(test, chain * PAGE_SIZE / alone,
				(unsigned long)shape->objects);
	}
}

/* Expect: up to huge_size memory is saved, above it a page each is taken. */
static void huge_size_is_the_last_that_saves(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int limit = limit_of(test);
	u32 size;

	KUNIT_EXPECT_EQ(test, (unsigned long)table->huge_size,
			rounddown(limit * PAGE_SIZE / (limit + 1), ZS_STEP));
	for (size = 1; size <= PAGE_SIZE; size++) {
		const struct zs_shape *shape = shape_for(test, size);

		if (size <= table->huge_size) {
			KUNIT_EXPECT_GT(test, shape->objects, shape->chain);
			continue;
		}
		KUNIT_EXPECT_EQ(test, shape->size, (u32)PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, shape->objects, 1);
		KUNIT_EXPECT_EQ(test, shape->chain, 1);
	}
}

/* Expect: the index without a division is the one with, at every offset. */
static void shape_index_divides_exactly(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int class;
	u32 offset, wrong = 0;

	for (class = 0; class < table->nr; class++) {
		const struct zs_shape *shape = &table->shape[class];
		u32 end = shape->chain * PAGE_SIZE;

		for (offset = 0; offset < end; offset += ZS_GRAIN)
			wrong += zs_shape_index(shape, offset) !=
				 offset / shape->size;
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

/* Expect: the tenth that is in use, rounded down; FULL if and only if all. */
static void shape_group_divides_exactly(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int class;
	u32 inuse, wrong = 0;

	for (class = 0; class < table->nr; class++) {
		const struct zs_shape *shape = &table->shape[class];
		u32 all = shape->objects;

		for (inuse = 0; inuse < all; inuse++)
			wrong += zs_shape_group(shape, inuse) !=
				 inuse * ZS_NR_GROUPS / all;
		KUNIT_EXPECT_EQ(test, zs_shape_group(shape, all),
				(unsigned int)ZS_GROUP_FULL);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

/* Expect: the table in use is the one of ZS_MAX_CHAIN. */
static void module_table_is_initialised(struct kunit *test)
{
	const struct zs_class_table *table = test->priv;
	unsigned int class;

	KUNIT_ASSERT_EQ(test, table->nr, zs_classes.nr);
	KUNIT_EXPECT_EQ(test, table->huge_size, zs_classes.huge_size);
	for (class = 0; class < table->nr; class++) {
		const struct zs_shape *ours = &zs_classes.shape[class];
		const struct zs_shape *shape = &table->shape[class];

		KUNIT_EXPECT_EQ(test, shape->size, ours->size);
		KUNIT_EXPECT_EQ(test, shape->objects, ours->objects);
		KUNIT_EXPECT_EQ(test, shape->chain, ours->chain);
		KUNIT_EXPECT_LE(test, (unsigned long)shape->objects,
				(unsigned long)ZS_MAX_OBJECTS);
	}
}

static struct kunit_case class_cases[] = {
	KUNIT_CASE_PARAM(class_of_size_is_large_enough, chain_limits_gen_params),
	KUNIT_CASE_PARAM(class_of_size_is_the_smallest, chain_limits_gen_params),
	KUNIT_CASE_PARAM(class_of_size_is_monotonic, chain_limits_gen_params),
	KUNIT_CASE_PARAM(table_ascends_in_grains, chain_limits_gen_params),
	KUNIT_CASE_PARAM(objects_fill_the_chain, chain_limits_gen_params),
	KUNIT_CASE_PARAM(waste_is_bounded, chain_limits_gen_params),
	KUNIT_CASE_PARAM(chain_length_wastes_least, chain_limits_gen_params),
	KUNIT_CASE_PARAM(neighbours_are_not_alike, chain_limits_gen_params),
	KUNIT_CASE_PARAM(merging_costs_nothing, chain_limits_gen_params),
	KUNIT_CASE_PARAM(huge_size_is_the_last_that_saves,
			 chain_limits_gen_params),
	KUNIT_CASE_PARAM(shape_index_divides_exactly, chain_limits_gen_params),
	KUNIT_CASE_PARAM(shape_group_divides_exactly, chain_limits_gen_params),
	KUNIT_CASE(module_table_is_initialised),
	{}
};

static struct kunit_suite class_suite = {
	.name = "zs_class",
	.init = class_init,
	.test_cases = class_cases,
};

kunit_test_suite(class_suite);
