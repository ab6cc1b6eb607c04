/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_RTNL_H
#define TOPOOPT_RTNL_H

/* rtnetlink: links, and the addresses, neighbours, routes and rules of a plan. */

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/netlink.h"

/*
 * Marks what toctl made (`ip route show proto 116`), so that toctl clear removes
 * that and nothing else. 116 is 't'; free in iproute2's rt_protos.
 */
#define TO_RTNL_PROTOCOL 116

/* Routing table of the port with ifindex i: 0x746f0000 ("to") + i. */
#define TO_RTNL_TABLE(ifindex) (0x746f0000u + (ifindex))
#define TO_RTNL_RULE_PRIORITY 1160

/**
 * struct to_nic - a network interface
 * @kind: "topoopt", "veth", ... or ""
 * @alias: what `ip link set alias` wrote
 * @lower: the interface of this namespace that a macvlan device is on, else 0
 * @owner: another topoopt device that uses it, set by to_resolve_nics() alone, else 0
 */
struct to_nic {
	uint32_t ifindex, master, lower, mtu, flags, owner;
	char name[IFNAMSIZ], kind[IFNAMSIZ], alias[64];
	uint8_t mac[6];
	bool carrier;
};

/**
 * enum to_entry_kind - what an entry is; in the order they are added
 */
enum to_entry_kind {
	TO_ENTRY_ADDRESS,
	TO_ENTRY_NEIGHBOUR,
	TO_ENTRY_ROUTE,
	TO_ENTRY_RULE,
};

/**
 * struct to_entry - an address, neighbour, route or rule
 * @table: routing table of a route; table that a rule leads to
 * @key_ifindex: interface of an address or neighbour, 0 for the others
 * @dst: address, neighbour's address, destination; source that a rule matches
 * @dst_len: prefix length
 * @ifindex: interface of a route
 * @via: gateway of a route, when @has_via
 * @source: preferred source of a route, when @has_source
 * @mac: of a neighbour
 *
 * Two entries are the same one when all up to @dst_len are equal, and say the
 * same when the rest is too: compared as bytes, so without padding.
 */
struct to_entry {
	uint32_t kind;
	uint32_t family;
	uint32_t table;
	uint32_t key_ifindex;
	uint8_t dst[16];
	uint32_t dst_len;
	/* the rest is what it says */
	uint32_t ifindex;
	uint8_t via[16];
	uint8_t source[16];
	uint8_t has_via, has_source, mac[6];
};

#define TO_ENTRY_KEY offsetof(struct to_entry, ifindex)

/** to_entry_interface() - ifindex of its interface; of a rule, the one it is for */
uint32_t to_entry_interface(const struct to_entry *entry);

/** struct to_entries - a growing array of entries */
struct to_entries {
	struct to_entry *items;
	unsigned int n, room;
};

/** to_entries_add() - room for one more, zeroed; NULL when out of memory */
struct to_entry *to_entries_add(struct to_entries *entries);
void to_entries_free(struct to_entries *entries);

/** to_entries_sort() - by key, so that two lists can be merged */
void to_entries_sort(struct to_entries *entries);

/** to_entry_text() - @entry as `ip` would write it; @name is its interface */
void to_entry_text(const struct to_entry *entry, const char *name, char *text,
		   size_t size);

/** to_rtnl_nics() - all interfaces of the namespace; caller frees */
int to_rtnl_nics(struct to_netlink *nl, struct to_nic **nics, unsigned int *n,
		 struct to_error *err);

/** to_rtnl_nic_find() - the one called @name, or NULL */
const struct to_nic *to_rtnl_nic_find(const struct to_nic *nics, unsigned int n,
				      const char *name);
const struct to_nic *to_rtnl_nic_by_index(const struct to_nic *nics,
					  unsigned int n, uint32_t ifindex);

/** to_rtnl_create() - make the topoopt device @name, @alias says whose it is */
int to_rtnl_create(struct to_netlink *nl, const char *name, const char *alias,
		   struct to_error *err);
int to_rtnl_delete(struct to_netlink *nl, uint32_t ifindex,
		   struct to_error *err);
int to_rtnl_set_master(struct to_netlink *nl, uint32_t ifindex, uint32_t master,
		       struct to_error *err);
int to_rtnl_set_up(struct to_netlink *nl, uint32_t ifindex, bool up,
		   struct to_error *err);

/**
 * to_rtnl_entries() - entries that toctl made, and all addresses
 * @foreign: gets addresses that others made, may be NULL
 */
int to_rtnl_entries(struct to_netlink *nl, struct to_entries *own,
		    struct to_entries *foreign, struct to_error *err);

/** enum to_change_verb - what to do with an entry */
enum to_change_verb { TO_CHANGE_ADD, TO_CHANGE_REPLACE, TO_CHANGE_DELETE };

/**
 * struct to_change - one step of a change
 * @old: what is replaced or deleted, to undo it
 * @done: the kernel did it
 */
struct to_change {
	enum to_change_verb verb;
	struct to_entry entry, old;
	bool done;
};

/**
 * to_rtnl_change() - carry out @n changes in few large messages
 *
 * Stops after the first batch with an error; what was done is marked. Deleting
 * what is gone already is no error.
 */
int to_rtnl_change(struct to_netlink *nl, struct to_change *changes,
		   unsigned int n, struct to_error *err);

/** to_rtnl_undo() - take back what is marked done, last first */
void to_rtnl_undo(struct to_netlink *nl, struct to_change *changes,
		  unsigned int n);

#endif
