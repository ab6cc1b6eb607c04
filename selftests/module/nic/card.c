// SPDX-License-Identifier: GPL-2.0
/* Cards: made by a command, found by name. */

#include <linux/slab.h>

#include "nic.h"

static LIST_HEAD(nic_cards);	/* under main.c's lock */

static struct nic_card *nic_card_find(const char *name)
{
	struct nic_card *card;

	list_for_each_entry(card, &nic_cards, list)
		if (!strcmp(card->name, name))
			return card;
	return NULL;
}

/**
 * nic_card_port() - find a port
 * @name: NAME:PORT, or NULL
 *
 * Return: the port, or NULL.
 */
struct nic_port *nic_card_port(const char *name)
{
	const char *colon = name ? strchr(name, ':') : NULL;
	struct nic_card *card;
	unsigned int port;

	if (!colon || kstrtouint(colon + 1, 10, &port))
		return NULL;
	list_for_each_entry(card, &nic_cards, list)
		if (strlen(card->name) == colon - name &&
		    !strncmp(card->name, name, colon - name))
			return port < card->ports ? &card->port[port] : NULL;
	return NULL;
}

/* Parse "16,18". */
static int nic_card_domains(struct nic_card *card, char *text, int *domains)
{
	char *word;

	card->links = 0;
	while ((word = strsep(&text, ",")))
		if (card->links == NIC_LINKS ||
		    kstrtoint(word, 0, &domains[card->links++]))
			return -EINVAL;
	return 0;
}

static int nic_card_parse(struct nic_card *card, char *arguments, int *domains, u32 *speed)
{
	char *word, *name = strsep(&arguments, " ");

	if (strscpy(card->name, name, sizeof(card->name)) < 1 || strchr(name, ':'))
		return -EINVAL;
	while ((word = strsep(&arguments, " "))) {
		const char *key = strsep(&word, "=");
		int err;

		if (!word)
			return -EINVAL;
		if (!strcmp(key, "ports"))
			err = kstrtouint(word, 0, &card->ports);
		else if (!strcmp(key, "domains"))
			err = nic_card_domains(card, word, domains);
		else if (!strcmp(key, "speed"))
			err = kstrtou32(word, 0, speed);
		else if (!strcmp(key, "generation"))
			err = kstrtouint(word, 0, &card->generation);
		else if (!strcmp(key, "width"))
			err = kstrtouint(word, 0, &card->width);
		else
			err = -EINVAL;
		if (err)
			return err;
	}
	if (!card->ports || card->ports > NIC_PORTS || card->width > 32 ||
	    !card->generation || card->generation > 5)
		return -EINVAL;
	return nic_card_find(card->name) ? -EEXIST : 0;
}

static void nic_card_free(struct nic_card *card)
{
	unsigned int p, l;

	for (p = 0; p < card->ports; p++)
		nic_cable_cut(&card->port[p]);
	for (l = 0; l < card->links; l++)
		nic_pci_remove(&card->link[l]);
	/* Senders on the other end of a cable may still see the ports. */
	synchronize_net();
	for (p = 0; p < card->ports; p++) {
		for (l = 0; l < card->links; l++)
			nic_traits_remove(&card->port[p].traits[l]);
		free_percpu(card->port[p].stats);
	}
	for (l = 0; l < card->links; l++)
		nic_pcie_remove(&card->link[l].pcie);
	nic_pcie_remove(&card->pcie);
	kfree(card);
}

static int nic_card_ports(struct nic_card *card, u32 speed)
{
	unsigned int p;

	for (p = 0; p < card->ports; p++) {
		struct nic_port *port = &card->port[p];

		port->card = card;
		port->index = p;
		port->speed = speed;
		port->stats = alloc_percpu(struct nic_phy_percpu);
		if (!port->stats)
			return -ENOMEM;
	}
	return 0;
}

static int nic_card_links(struct nic_card *card, const int *domains)
{
	unsigned int l;
	int err;

	for (l = 0; l < card->links; l++) {
		struct nic_link *link = &card->link[l];

		link->card = card;
		link->index = l;
		err = nic_pci_add(link, domains[l]);
		if (err)
			return err;
	}
	return 0;
}

/**
 * nic_card_add() - make a card
 * @arguments: of the command, see main.c; overwritten
 *
 * Return: 0 or an error.
 */
int nic_card_add(char *arguments)
{
	int domains[NIC_LINKS] = { 1 };
	u32 speed = 200000;
	struct nic_card *card;
	int err;

	card = kzalloc(sizeof(*card), GFP_KERNEL);
	if (!card)
		return -ENOMEM;
	card->ports = 2;
	card->links = 1;
	card->generation = 5;
	card->width = 4;
	err = nic_card_parse(card, arguments, domains, &speed);
	if (err) {
		kfree(card);
		return err;
	}
	card->id = domains[0];
	nic_pcie_add_card(card);
	err = nic_card_ports(card, speed);
	if (!err)
		err = nic_card_links(card, domains);
	if (err) {
		nic_card_free(card);
		return err;
	}
	list_add(&card->list, &nic_cards);
	return 0;
}

int nic_card_remove(const char *name)
{
	struct nic_card *card = nic_card_find(name);

	if (!card)
		return -ENOENT;
	list_del(&card->list);
	nic_card_free(card);
	return 0;
}

/* When the module goes; nobody gives commands any more. */
void nic_card_remove_all(void)
{
	struct nic_card *card, *next;

	list_for_each_entry_safe(card, next, &nic_cards, list) {
		list_del(&card->list);
		nic_card_free(card);
	}
}
