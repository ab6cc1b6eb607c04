// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/sysfs.h"

void to_sysfs_line(char *line, int size, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	FILE *file;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	line[0] = '\0';
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(line, size, file))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

unsigned long long to_sysfs_mbits(const char *interface)
{
	char path[128], line[32];
	long long mbits;

	/* Virtual interfaces have no speed worth the name. */
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", interface);
	if (access(path, F_OK))
		return 0;
	to_sysfs_line(line, sizeof(line), "/sys/class/net/%s/speed", interface);
	mbits = atoll(line);
	return mbits > 0 ? mbits : 0;
}
