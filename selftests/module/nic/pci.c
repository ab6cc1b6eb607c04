// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI domain in software for each link of a card to the host: a root port, and behind it
 * a function for each port of the card, without registers or interrupts. The PCI core finds
 * them by reading config space, which is a table here, and so sysfs has addresses, speeds
 * and widths.
 *
 * x86 takes the number of a domain from sysdata; as drivers/pci/controller/vmd.c does it.
 */

#include "nic.h"

/* Nobody's: with NVIDIA's, mlx5_core would take the functions where it is loaded. */
#define NIC_PCI_VENDOR		0xfffd
#define NIC_PCI_FUNCTION	0x0001
#define NIC_PCI_ROOT_PORT	0x0002
#define NIC_PCI_EXPRESS		0x40	/* where the capability is */

const struct pci_device_id nic_pci_ids[] = {
	{ PCI_DEVICE(NIC_PCI_VENDOR, NIC_PCI_FUNCTION) },
	{ }
};

static void nic_pci_set16(struct nic_config *config, int at, u16 value)
{
	config->value[at] = value;
	config->value[at + 1] = value >> 8;
}

static void nic_pci_set32(struct nic_config *config, int at, u32 value)
{
	nic_pci_set16(config, at, value);
	nic_pci_set16(config, at + 2, value >> 16);
}

static void nic_pci_writable(struct nic_config *config, int at, int size)
{
	memset(&config->writable[at], 0xff, size);
}

/* What root ports and functions have in common: an express capability with link status. */
static void nic_pci_express(struct nic_config *config, const struct nic_card *card, u16 device,
			    u32 class, u8 header, int type, unsigned int number)
{
	u16 status = card->generation | card->width << 4;
	u32 capability = status | number << 24;

	nic_pci_set16(config, PCI_VENDOR_ID, NIC_PCI_VENDOR);
	nic_pci_set16(config, PCI_DEVICE_ID, device);
	nic_pci_writable(config, PCI_COMMAND, 2);
	nic_pci_set16(config, PCI_STATUS, PCI_STATUS_CAP_LIST);
	nic_pci_set32(config, PCI_CLASS_REVISION, class << 8);
	nic_pci_writable(config, PCI_CACHE_LINE_SIZE, 1);
	config->value[PCI_HEADER_TYPE] = header;
	config->value[PCI_CAPABILITY_LIST] = NIC_PCI_EXPRESS;
	config->value[NIC_PCI_EXPRESS] = PCI_CAP_ID_EXP;
	nic_pci_set16(config, NIC_PCI_EXPRESS + PCI_EXP_FLAGS, 2 | type << 4);
	nic_pci_writable(config, NIC_PCI_EXPRESS + PCI_EXP_DEVCTL, 2);
	nic_pci_set32(config, NIC_PCI_EXPRESS + PCI_EXP_LNKCAP, capability);
	nic_pci_writable(config, NIC_PCI_EXPRESS + PCI_EXP_LNKCTL, 1);
	nic_pci_set16(config, NIC_PCI_EXPRESS + PCI_EXP_LNKSTA, status);
	/* all speeds up to this one */
	nic_pci_set32(config, NIC_PCI_EXPRESS + PCI_EXP_LNKCAP2, (2 << card->generation) - 2);
	nic_pci_set16(config, NIC_PCI_EXPRESS + PCI_EXP_LNKCTL2, card->generation);
}

static void nic_pci_root_port(struct nic_link *link)
{
	struct nic_config *config = &link->root_port;

	nic_pci_express(config, link->card, NIC_PCI_ROOT_PORT, PCI_CLASS_BRIDGE_PCI << 8,
			PCI_HEADER_TYPE_BRIDGE, PCI_EXP_TYPE_ROOT_PORT, 1);
	config->value[PCI_SECONDARY_BUS] = 1;
	config->value[PCI_SUBORDINATE_BUS] = 1;
	nic_pci_writable(config, PCI_PRIMARY_BUS, 3);
	nic_pci_writable(config, PCI_BRIDGE_CONTROL, 2);
	/* windows that end before they begin are none */
	config->value[PCI_IO_BASE] = PCI_IO_RANGE_MASK & 0xff;
	nic_pci_set16(config, PCI_MEMORY_BASE, PCI_MEMORY_RANGE_MASK & 0xffff);
	nic_pci_set16(config, PCI_PREF_MEMORY_BASE, PCI_PREF_RANGE_MASK & 0xffff);
}

static void nic_pci_function(struct nic_link *link, unsigned int port)
{
	u8 header = PCI_HEADER_TYPE_NORMAL | (link->card->ports > 1 ? 0x80 : 0);

	nic_pci_express(&link->function[port], link->card, NIC_PCI_FUNCTION,
			PCI_CLASS_NETWORK_ETHERNET << 8, header, PCI_EXP_TYPE_ENDPOINT, 0);
}

/* Config space of what is at an address, or NULL. */
static struct nic_config *nic_pci_config(struct pci_bus *bus, unsigned int devfn)
{
	struct nic_link *link = container_of(bus->sysdata, struct nic_link, sysdata);

	if (PCI_SLOT(devfn))
		return NULL;
	if (pci_is_root_bus(bus))
		return devfn ? NULL : &link->root_port;
	return devfn < link->card->ports ? &link->function[devfn] : NULL;
}

static int nic_pci_read(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 *value)
{
	const struct nic_config *config = nic_pci_config(bus, devfn);
	int i;

	*value = ~0;
	if (!config)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (at + size > PCI_CFG_SPACE_SIZE)
		return PCIBIOS_BAD_REGISTER_NUMBER;
	*value = 0;
	for (i = 0; i < size; i++)
		*value |= config->value[at + i] << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int nic_pci_write(struct pci_bus *bus, unsigned int devfn, int at, int size, u32 value)
{
	struct nic_config *config = nic_pci_config(bus, devfn);
	int i;

	if (!config)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (at + size > PCI_CFG_SPACE_SIZE)
		return PCIBIOS_BAD_REGISTER_NUMBER;
	for (i = 0; i < size; i++) {
		u8 mask = config->writable[at + i];

		config->value[at + i] = (config->value[at + i] & ~mask) |
					((value >> (8 * i)) & mask);
	}
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops nic_pci_ops = {
	.read = nic_pci_read,
	.write = nic_pci_write,
};

/**
 * nic_pci_link() - find the link that a function is on
 * @pdev: PCI device
 *
 * Return: the link, or NULL if the device is not one of these.
 */
struct nic_link *nic_pci_link(struct pci_dev *pdev)
{
	if (pdev->bus->ops != &nic_pci_ops)
		return NULL;
	return container_of(pdev->bus->sysdata, struct nic_link, sysdata);
}

/* Make a PCI domain with the link's functions, which the driver takes at once. */
int nic_pci_add(struct nic_link *link, int domain)
{
	struct pci_host_bridge *bridge;
	char name[16];
	unsigned int p;
	int err;

	if (domain < 0 || domain > NIC_DOMAIN_MAX)
		return -EINVAL;
	if (pci_find_bus(domain, 0))
		return -EEXIST;
	bridge = pci_alloc_host_bridge(0);
	if (!bridge)
		return -ENOMEM;
	nic_pcie_add_link(link, domain);
	nic_pci_root_port(link);
	for (p = 0; p < link->card->ports; p++) {
		nic_pci_function(link, p);
		scnprintf(name, sizeof(name), "%04x:01:00.%u", domain, p);
		nic_traits_add(&link->card->port[p], link->index, name);
	}
	link->sysdata.domain = domain;
	link->sysdata.node = NUMA_NO_NODE;
	bridge->sysdata = &link->sysdata;
	bridge->ops = &nic_pci_ops;

	pci_lock_rescan_remove();
	err = pci_scan_root_bus_bridge(bridge);
	if (err) {
		pci_free_host_bridge(bridge);
	} else {
		link->bridge = bridge;
		pci_bus_add_devices(bridge->bus);
	}
	pci_unlock_rescan_remove();
	return err;
}

void nic_pci_remove(struct nic_link *link)
{
	if (!link->bridge)
		return;
	pci_lock_rescan_remove();
	pci_stop_root_bus(link->bridge->bus);
	pci_remove_root_bus(link->bridge->bus);
	pci_unlock_rescan_remove();
	pci_free_host_bridge(link->bridge);
}
