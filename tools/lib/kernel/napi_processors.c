// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/napi_processors.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/sysfs.h"

unsigned int to_napi_processors_last(const char *list)
{
	size_t at = strcspn(list, "\n");

	while (at && list[at - 1] >= '0' && list[at - 1] <= '9')
		at--;
	return strtoul(list + at, NULL, 10);
}

static unsigned int napi_online(void)
{
	char list[256];

	to_sysfs_line(list, sizeof(list), "/sys/devices/system/cpu/online");
	return to_napi_processors_last(list);
}

/* The first entry of a directory that @wanted accepts. */
static bool napi_has_entry(const char *path, bool (*wanted)(const struct dirent *entry))
{
	const struct dirent *entry;
	DIR *dir = opendir(path);
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = wanted(entry);
	if (dir)
		closedir(dir);
	return found;
}

/*
 * A handler of received packets. mlx5 calls that of firmware events mlx5_async0@pci:...,
 * Intel's drivers call it ...:misc.
 */
static bool napi_handler(const struct dirent *entry)
{
	return entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
	       !strstr(entry->d_name, "async") && !strstr(entry->d_name, "misc");
}

/* Raise @highest to where interrupt @irq leads. Return: whether queues have it. */
static bool napi_add_irq(const char *irq, unsigned int *highest)
{
	char path[64], list[256];
	unsigned int last;

	snprintf(path, sizeof(path), "/proc/irq/%.16s", irq);
	if (!napi_has_entry(path, napi_handler))
		return false;
	to_sysfs_line(list, sizeof(list), "%s/effective_affinity_list", path);
	if (!list[0])
		to_sysfs_line(list, sizeof(list), "%s/smp_affinity_list", path);
	if (!list[0])
		return false;
	last = to_napi_processors_last(list);
	if (last > *highest)
		*highest = last;
	return true;
}

static bool napi_threaded(const char *ifname)
{
	char line[8];

	to_sysfs_line(line, sizeof(line), "/sys/class/net/%s/threaded", ifname);
	return line[0] && strcmp(line, "0");
}

unsigned int to_napi_processors_highest(const char *ifname)
{
	const struct dirent *entry;
	unsigned int highest = 0;
	bool known = false;
	char path[96];
	DIR *irqs;

	snprintf(path, sizeof(path), "/sys/class/net/%s/device/msi_irqs", ifname);
	irqs = napi_threaded(ifname) ? NULL : opendir(path);
	while (irqs && (entry = readdir(irqs)))
		if (entry->d_name[0] != '.')
			known |= napi_add_irq(entry->d_name, &highest);
	if (irqs)
		closedir(irqs);
	return known ? highest : napi_online();
}
