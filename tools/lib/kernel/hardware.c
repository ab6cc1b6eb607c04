// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/hardware.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/names.h"
#include "kernel/sysfs.h"

#define PCI_ADDRESS "%4x:%2x:%2x.%1x"

uint64_t to_hardware_link_rate(const char *speed, const char *width)
{
	const double gt = atof(speed);
	const long lanes = atol(width);
	/* 8b/10b up to 5 GT/s, 128b/130b up to 32, 242 bytes of a flit of 256 above */
	const double coding = gt <= 5 ? 8.0 / 10 : gt <= 32 ? 128.0 / 130 : 242.0 / 256;

	/* a width of 255 is that of a link that is down */
	if (gt <= 0 || lanes < 1 || lanes > 32)
		return 0;
	return gt * 1e9 * lanes * coding;
}

/* The link above the PCI device at @path, if it has one that is known. */
static void hardware_add_link(struct to_hardware *hardware, const char *path)
{
	struct to_hardware_link *link = &hardware->links[hardware->n_links];
	unsigned int domain, bus, device, function;
	char speed[32], width[16];

	if (hardware->n_links == TO_HARDWARE_LINKS ||
	    sscanf(strrchr(path, '/') + 1, PCI_ADDRESS, &domain, &bus, &device, &function) != 4)
		return;
	to_sysfs_line(speed, sizeof(speed), "%s/current_link_speed", path);
	to_sysfs_line(width, sizeof(width), "%s/current_link_width", path);
	link->rate = to_hardware_link_rate(speed, width);
	if (!link->rate)
		return;
	snprintf(link->name, sizeof(link->name), "%04x.%02x.%02x", domain & 0xffff, bus, device);
	hardware->n_links++;
}

/*
 * From the root down, ports at the upper and at the lower end of a link take turns in @path:
 * root port and upstream port of a switch, downstream port and NIC.
 */
static void hardware_add_links(struct to_hardware *hardware, char *path)
{
	unsigned int depth = 0, domain, bus, device, function;

	for (char *at = path; (at = strchr(at + 1, '/'));) {
		char *end;

		if (sscanf(at + 1, PCI_ADDRESS, &domain, &bus, &device, &function) != 4)
			continue;
		if (depth++ % 2 == 0)
			continue;
		end = strchr(at + 1, '/');
		if (end)
			*end = '\0';
		hardware_add_link(hardware, path);
		if (end)
			*end = '/';
	}
}

/* The first line of attribute @attribute, if it could be a name in a file. */
static void hardware_attribute(char *to, size_t size, const char *name, const char *attribute)
{
	to_sysfs_line(to, size, "/sys/class/net/%s/%s", name, attribute);
	if (!to_names_is_label(to))
		to[0] = '\0';
}

void to_hardware_read(struct to_hardware *hardware, const char *name)
{
	unsigned int domain, bus, device, function;
	char link[64], path[PATH_MAX];

	memset(hardware, 0, sizeof(*hardware));
	hardware_attribute(hardware->card, sizeof(hardware->card), name, "phys_switch_id");
	hardware_attribute(hardware->connector, sizeof(hardware->connector), name, "phys_port_name");
	snprintf(link, sizeof(link), "/sys/class/net/%s/device", name);
	if (!realpath(link, path) ||
	    sscanf(strrchr(path, '/') + 1, PCI_ADDRESS, &domain, &bus, &device, &function) != 4)
		return;
	snprintf(hardware->pci, sizeof(hardware->pci), "%04x:%02x:%02x.%x", domain & 0xffff, bus,
		 device, function);
	hardware_add_links(hardware, path);
}

void to_hardware_json(const struct to_hardware *hardware, json_t *to)
{
	json_t *pcie = json_array();

	for (unsigned int i = 0; i < hardware->n_links; i++)
		json_array_append_new(pcie, json_pack("{ss sI}", "name", hardware->links[i].name,
						      "rate", (json_int_t)hardware->links[i].rate));
	json_object_set_new(to, "pci", json_string(hardware->pci));
	json_object_set_new(to, "card", json_string(hardware->card));
	json_object_set_new(to, "connector", json_string(hardware->connector));
	json_object_set_new(to, "pcie", pcie);
}

bool to_hardware_share_connector(const struct to_hardware *a, const struct to_hardware *b)
{
	return a->card[0] && a->connector[0] && !strcmp(a->card, b->card) &&
	       !strcmp(a->connector, b->connector);
}

bool to_hardware_takes_roce(const char *rdma)
{
	char type[64];

	to_sysfs_line(type, sizeof(type), "/sys/class/infiniband/%s/hca_type", rdma);
	return type[0];
}
