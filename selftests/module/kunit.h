/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_TEST_KUNIT_H
#define TOPOOPT_TEST_KUNIT_H

/*
 * Runs a KUnit suite in a module of its own where the kernel has no KUnit, as Debian's.
 * The names are those of include/kunit/test.h, as many as the suites use. The kernel log
 * gets TAP, each line behind the name of the suite: one test per case, and what was
 * expected in front of a case that fails.
 */

#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>

struct kunit {
	const char *suite;
	bool failed;
	bool skipped;
	struct completion done;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn)	{ .run_case = (fn), .name = #fn }

static inline void kunit_end(struct kunit *test)
{
	kthread_complete_and_exit(&test->done, 0);
}

#define kunit_info(test, fmt, ...)					\
	pr_info("%s: # " fmt "\n", (test)->suite, ##__VA_ARGS__)

#define kunit_skip(test, fmt, ...)					\
do {									\
	kunit_info(test, fmt, ##__VA_ARGS__);				\
	(test)->skipped = true;						\
	kunit_end(test);						\
} while (0)

#define KUNIT_EXPECT_TRUE_MSG(test, condition, fmt, ...)		\
({									\
	bool __holds = condition;					\
									\
	if (!__holds) {							\
		(test)->failed = true;					\
		kunit_info(test, "%s:%u: expected %s: " fmt, __FILE__,	\
			   __LINE__, #condition, ##__VA_ARGS__);	\
	}								\
	__holds;							\
})

#define KUNIT_EXPECT_TRUE(test, condition)				\
	KUNIT_EXPECT_TRUE_MSG(test, condition, "")
#define KUNIT_EXPECT_FALSE(test, condition)				\
	KUNIT_EXPECT_TRUE_MSG(test, !(condition), "")
#define KUNIT_EXPECT_EQ_MSG(test, left, right, fmt, ...)		\
	KUNIT_EXPECT_TRUE_MSG(test, (left) == (right), "%lld, " fmt,	\
			      (long long)(left), ##__VA_ARGS__)
#define KUNIT_EXPECT_EQ(test, left, right)				\
	KUNIT_EXPECT_EQ_MSG(test, left, right, "")
#define KUNIT_EXPECT_LE_MSG(test, left, right, fmt, ...)		\
	KUNIT_EXPECT_TRUE_MSG(test, (left) <= (right), "%lld, " fmt,	\
			      (long long)(left), ##__VA_ARGS__)
#define KUNIT_EXPECT_PTR_EQ(test, left, right)				\
	KUNIT_EXPECT_TRUE(test, (left) == (right))
#define KUNIT_EXPECT_NULL(test, pointer)				\
	KUNIT_EXPECT_TRUE(test, !(pointer))

/* These end the case, like KUnit's: a thread of its own runs it. */
#define KUNIT_ASSERT_TRUE(test, condition)				\
do {									\
	if (!KUNIT_EXPECT_TRUE(test, condition))			\
		kunit_end(test);					\
} while (0)
#define KUNIT_ASSERT_EQ(test, left, right)				\
	KUNIT_ASSERT_TRUE(test, (left) == (right))
#define KUNIT_ASSERT_NOT_NULL(test, pointer)				\
	KUNIT_ASSERT_TRUE(test, pointer)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pointer)			\
	KUNIT_ASSERT_TRUE(test, !IS_ERR_OR_NULL(pointer))

struct kunit_run {
	const struct kunit_case *test_case;
	struct kunit test;
};

static int kunit_thread(void *data)
{
	struct kunit_run *run = data;

	run->test_case->run_case(&run->test);
	kunit_end(&run->test);
	return 0;
}

static int __init kunit_run_suite(const struct kunit_suite *suite)
{
	const struct kunit_case *test_case;
	struct task_struct *task;
	unsigned int count = 0;

	for (test_case = suite->test_cases; test_case->run_case; test_case++) {
		struct kunit_run run = {
			.test_case = test_case, .test.suite = suite->name,
		};

		init_completion(&run.test.done);
		task = kthread_run(kunit_thread, &run, "%s", suite->name);
		if (IS_ERR(task))
			return PTR_ERR(task);
		wait_for_completion(&run.test.done);
		pr_info("%s: %s %u - %s%s\n", suite->name, run.test.failed ? "not ok" : "ok",
			++count, test_case->name, run.test.skipped ? " # SKIP" : "");
	}
	pr_info("%s: 1..%u\n", suite->name, count);
	return 0;
}

#define kunit_test_suite(suite)						\
static int __init kunit_init(void)					\
{									\
	return kunit_run_suite(&(suite));				\
}									\
									\
static void __exit kunit_exit(void)					\
{									\
}									\
									\
module_init(kunit_init);						\
module_exit(kunit_exit);						\
MODULE_DESCRIPTION("Tests of topoopt_fwd");				\
MODULE_LICENSE("GPL")

#endif
