// SPDX-License-Identifier: GPL-2.0
/*
 * Loading, unloading, and commands, which are written to the debugfs file
 * topoopt_nic/command:
 *
 *	card NAME [ports=2] [domains=D[,D]] [speed=MBITS] [generation=5] [width=4]
 *					a card, with a PCIe link to each PCI domain
 *	remove NAME			and away with it
 *	cable NAME:PORT NAME:PORT	join two ports
 *	cut NAME:PORT			take a port's cable out
 *
 * A function is at DOMAIN:01:00.PORT, and its network device has the name that systemd
 * would give it: enP16p1s0f0np0 is port 0 of PCI domain 16 (0x10).
 */

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "nic.h"

static DEFINE_MUTEX(nic_main_lock);	/* one command at a time */

static int nic_main_cable(char *arguments)
{
	struct nic_port *a = nic_card_port(strsep(&arguments, " "));
	struct nic_port *b = nic_card_port(arguments);

	if (!a || !b)
		return -ENOENT;
	return nic_cable_connect(a, b);
}

static int nic_main_cut(const char *name)
{
	struct nic_port *port = nic_card_port(name);

	if (!port)
		return -ENOENT;
	nic_cable_cut(port);
	return 0;
}

static int nic_main_command(char *line)
{
	const char *verb = strsep(&line, " ");

	if (!line)
		return -EINVAL;
	if (!strcmp(verb, "card"))
		return nic_card_add(line);
	if (!strcmp(verb, "remove"))
		return nic_card_remove(line);
	if (!strcmp(verb, "cable"))
		return nic_main_cable(line);
	if (!strcmp(verb, "cut"))
		return nic_main_cut(line);
	return -EINVAL;
}

static ssize_t nic_main_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	char *line;
	int err;

	if (size > PAGE_SIZE)
		return -EINVAL;
	line = memdup_user_nul(from, size);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&nic_main_lock);
	err = nic_main_command(strim(line));
	mutex_unlock(&nic_main_lock);
	kfree(line);
	return err ?: size;
}

static const struct file_operations nic_main_file = {
	.owner = THIS_MODULE,
	.write = nic_main_write,
};

static int __init nic_main_init(void)
{
	int err;

	nic_traits_root = debugfs_create_dir(NIC_DRIVER, NULL);
	err = pci_register_driver(&nic_function_driver);
	if (err) {
		debugfs_remove(nic_traits_root);
		return err;
	}
	debugfs_create_file("command", 0200, nic_traits_root, NULL, &nic_main_file);
	return 0;
}

static void __exit nic_main_exit(void)
{
	nic_card_remove_all();
	pci_unregister_driver(&nic_function_driver);
	debugfs_remove(nic_traits_root);
}

module_init(nic_main_init);
module_exit(nic_main_exit);

MODULE_DESCRIPTION("Network cards in software, which behave as real ones");
MODULE_LICENSE("GPL");
