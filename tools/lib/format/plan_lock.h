/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_PLAN_LOCK_H
#define TOPOOPT_PLAN_LOCK_H

/*
 * Who is at work with a plan's file: toctl run, whose state it is, and whoever sets
 * its optical switches. The lock is PLAN.lock, beside the file that PLAN leads to: who
 * may replace the plan may hold it, and nobody else.
 */

#include "base/error.h"

/**
 * to_plan_lock_take() - keep others from working with the plan that is the file @path
 * @path: need not be there
 *
 * Return: a file descriptor whose close() releases it, as the end of the process does;
 * -EBUSY with the holder in @err; another negative errno.
 */
int to_plan_lock_take(const char *path, struct to_error *err);

/**
 * to_plan_lock_check() - may the plan that is the file @path be replaced?
 *
 * Return: 0, also when there is no such file; -EBUSY with the holder in @err.
 */
int to_plan_lock_check(const char *path, struct to_error *err);

#endif
