/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_INVENTORIES_H
#define TOCTL_INVENTORIES_H

/* What toctl discover finds on every server of a fabric. */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/error.h"
#include "control/etcd.h"
#include "doctor/discovery.h"

/** struct to_inventories - @n servers, their names given, what was found on them */
struct to_inventories {
	unsigned int n;
	struct to_discovery_server *servers;
};

/**
 * struct to_inventories_question - what every server is asked
 * @command: runs toctl discover on server {}
 * @etcd: if it has endpoints: through the agents there instead
 * @ports: see to_inventory_read(), NULL for the usual ones
 * @ask: addresses to ask for, with commas between them, NULL: only look
 * @up: set those up that are down
 * @timeout_ns: for all servers
 */
struct to_inventories_question {
	const char *command, *ports, *ask;
	const struct to_etcd_options *etcd;
	bool up;
	uint64_t timeout_ns;
};

/** to_inventories_init() - @n servers without a name; 0 or -ENOMEM */
int to_inventories_init(struct to_inventories *all, unsigned int n);
void to_inventories_free(struct to_inventories *all);

/** to_inventories_is_plain() - whether patterns or addresses may go through a shell */
bool to_inventories_is_plain(const char *text);

/**
 * to_inventories_ask() - run the command for all servers, or ask all agents, at once
 *
 * However many cores there are: servers hear each other ask. Return: 0, or a negative
 * errno with @err of the first server that failed.
 */
int to_inventories_ask(const struct to_inventories *all,
		       const struct to_inventories_question *question, struct to_error *err);

/**
 * to_inventories_take() - find what this server has, LLDP included
 * @ports, @ask, @up: as of struct to_inventories_question
 *
 * Return: 0 or a negative errno with @err; nothing is to be freed then.
 */
int to_inventories_take(struct to_inventory *inventory, const char *ports, const char *ask,
			bool up, struct to_error *err);

/**
 * to_inventories_answer() - what an agent replies to the request "inventory"
 *
 * Return: the reply, see agent_etcd.h; NULL: out of memory.
 */
json_t *to_inventories_answer(const json_t *request);

#endif
