/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SELFTESTS_DIE_H
#define SELFTESTS_DIE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static inline void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

#endif
