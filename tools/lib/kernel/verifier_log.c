// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/verifier_log.h"

#include <stdio.h>
#include <string.h>

static __thread char complaint[256];

int to_verifier_log_keep(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN && !complaint[0]) {
		vsnprintf(complaint, sizeof(complaint), format, args);
		complaint[strcspn(complaint, "\n")] = '\0';
	}
	return 0;
}

const char *to_verifier_log(void)
{
	static const char kernel[] = "Kernel error message: ";
	const char *said = strstr(complaint, kernel);

	return said ? said + strlen(kernel) : complaint;
}

void to_verifier_log_forget(void)
{
	complaint[0] = '\0';
}
