// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/diff.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Name of an interface, or "if<index>". */
static const char *diff_ifname(const struct to_diff_names *names, uint32_t ifindex,
			       char name[IFNAMSIZ])
{
	const struct to_nic *nic = to_rtnl_nic_by_index(names->nics, names->n, ifindex);

	if (nic)
		return nic->name;
	snprintf(name, IFNAMSIZ, "if%u", ifindex);
	return name;
}

/* "eth0 02:54:4f:00:00:02 weight 2 backup", or "... ingress eth1" */
static void diff_nexthop_text(const struct to_kernel_nexthop *nh,
			      const struct to_diff_names *names, char *text, size_t size)
{
	char name[IFNAMSIZ], how[32] = "";

	if (nh->ingress)
		snprintf(how, sizeof(how), " ingress %s", diff_ifname(names, nh->ingress, name));
	else if (nh->weight != 1)
		snprintf(how, sizeof(how), " weight %u", nh->weight);
	snprintf(text, size, "%s %02x:%02x:%02x:%02x:%02x:%02x%s%s",
		 diff_ifname(names, nh->port, name), nh->mac[0], nh->mac[1],
		 nh->mac[2], nh->mac[3], nh->mac[4], nh->mac[5], how,
		 nh->backup ? " backup" : "");
}

void to_route_text(const struct to_kernel_route *route,
		   const struct to_kernel_group *group,
		   const struct to_diff_names *names, char *text, size_t size)
{
	char address[INET6_ADDRSTRLEN];
	size_t len;

	inet_ntop(route->family, route->dst, address, sizeof(address));
	len = snprintf(text, size, "%s/%u", address, route->dst_len);
	if (route->src_len) {
		inet_ntop(route->family, route->src, address, sizeof(address));
		len += snprintf(text + len, size - len, " from %s/%u", address,
				route->src_len);
	}
	if (route->type != TOPOOPT_ROUTE_TYPE_UNICAST)
		len += snprintf(text + len, size - len, " %s",
				route->type == TOPOOPT_ROUTE_TYPE_NODE ? "node" : "local");
	for (unsigned int i = 0; group && i < group->n && len < size; i++) {
		char nh[64];

		diff_nexthop_text(&group->nexthops[i], names, nh, sizeof(nh));
		len += snprintf(text + len, size - len, "%s%s",
				i ? ", " : " via ", nh);
	}
}

static json_t *diff_nexthop_json(const struct to_kernel_nexthop *nh,
				 const struct to_diff_names *names)
{
	char name[IFNAMSIZ], mac[18];
	json_t *object;

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", nh->mac[0],
		 nh->mac[1], nh->mac[2], nh->mac[3], nh->mac[4], nh->mac[5]);
	object = json_pack("{s:s, s:s, s:i, s:b, s:b}", "port",
			   diff_ifname(names, nh->port, name), "mac", mac, "weight",
			   nh->weight, "backup", nh->backup, "live", nh->live);
	if (nh->ingress)
		json_object_set_new(object, "ingress",
				    json_string(diff_ifname(names, nh->ingress, name)));
	return object;
}

json_t *to_route_json(const struct to_kernel_route *route,
		      const struct to_kernel_group *group,
		      const struct to_diff_names *names)
{
	static const char *const types[] = {
		[TOPOOPT_ROUTE_TYPE_UNICAST] = "unicast",
		[TOPOOPT_ROUTE_TYPE_LOCAL] = "local",
		[TOPOOPT_ROUTE_TYPE_NODE] = "node",
	};
	char text[INET6_ADDRSTRLEN];
	json_t *object = json_object(), *nexthops;

	inet_ntop(route->family, route->dst, text, sizeof(text));
	json_object_set_new(object, "dst",
			    json_sprintf("%s/%u", text, route->dst_len));
	if (route->src_len) {
		inet_ntop(route->family, route->src, text, sizeof(text));
		json_object_set_new(object, "src",
				    json_sprintf("%s/%u", text, route->src_len));
	}
	json_object_set_new(object, "type",
			    json_string(route->type < 3 ? types[route->type] : "unknown"));
	if (route->server != TOPOOPT_SERVER_NONE)
		json_object_set_new(object, "server", json_integer(route->server));
	if (group) {
		nexthops = json_array();
		for (unsigned int i = 0; i < group->n; i++)
			json_array_append_new(nexthops,
					      diff_nexthop_json(&group->nexthops[i], names));
		json_object_set_new(object, "nexthops", nexthops);
		json_object_set_new(object, "backup_in_use",
				    json_boolean(group->backup_in_use));
	}
	return object;
}

static int diff_route_key_compare(const struct to_kernel_route *a,
				  const struct to_kernel_route *b)
{
	int ret = a->family - b->family;

	if (!ret)
		ret = memcmp(a->dst, b->dst, sizeof(a->dst));
	if (!ret)
		ret = a->dst_len - b->dst_len;
	if (!ret)
		ret = memcmp(a->src, b->src, sizeof(a->src));
	return ret ? ret : a->src_len - b->src_len;
}

static int diff_route_compare(const void *a, const void *b)
{
	return diff_route_key_compare(a, b);
}

/* A group and the class of equal groups that it is in. */
struct class {
	const struct to_kernel_group *group;
	unsigned int *number;
};

static int diff_nexthop_compare(const struct to_kernel_nexthop *a,
				const struct to_kernel_nexthop *b)
{
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->ingress != b->ingress)
		return a->ingress < b->ingress ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight - b->weight;
	if (a->backup != b->backup)
		return a->backup - b->backup;
	return memcmp(a->mac, b->mac, sizeof(a->mac));
}

static int diff_group_compare(const struct to_kernel_group *a,
			      const struct to_kernel_group *b)
{
	int ret = 0;

	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	for (unsigned int i = 0; !ret && i < a->n; i++)
		ret = diff_nexthop_compare(&a->nexthops[i], &b->nexthops[i]);
	return ret;
}

static int diff_class_compare(const void *a, const void *b)
{
	return diff_group_compare(((const struct class *)a)->group,
				  ((const struct class *)b)->group);
}

/* Groups of a table by id, with their classes. */
struct classes {
	uint32_t size;
	unsigned int *number;
	const struct to_kernel_group **group;
};

static int diff_classes_init(struct classes *c, const struct to_kernel_table *table)
{
	c->size = 1;
	for (unsigned int i = 0; i < table->n_groups; i++)
		if (table->groups[i].id >= c->size)
			c->size = table->groups[i].id + 1;
	c->number = calloc(c->size, sizeof(*c->number));
	c->group = calloc(c->size, sizeof(*c->group));
	if (!c->number || !c->group)
		return -ENOMEM;
	for (unsigned int i = 0; i < table->n_groups; i++)
		c->group[table->groups[i].id] = &table->groups[i];
	return 0;
}

static void diff_classes_free(struct classes *c)
{
	free(c->number);
	free(c->group);
}

/* Numbers equal groups of both tables alike. */
static int diff_classify(struct classes *a, struct classes *b)
{
	struct class *all = calloc((size_t)a->size + b->size, sizeof(*all));
	struct classes *both[] = { a, b };
	unsigned int n = 0, number = 0;

	if (!all)
		return -ENOMEM;
	for (int t = 0; t < 2; t++)
		for (uint32_t id = 0; id < both[t]->size; id++)
			if (both[t]->group[id])
				all[n++] = (struct class){ both[t]->group[id],
							   &both[t]->number[id] };
	if (n)
		qsort(all, n, sizeof(*all), diff_class_compare);
	for (unsigned int i = 0; i < n; i++) {
		if (!i || diff_class_compare(&all[i], &all[i - 1]))
			number++;
		*all[i].number = number;
	}
	free(all);
	return 0;
}

static bool diff_route_says_same(const struct to_kernel_route *a,
				 const struct classes *ca,
				 const struct to_kernel_route *b,
				 const struct classes *cb)
{
	if (a->type != b->type || a->server != b->server)
		return false;
	if (a->group == TO_KERNEL_GROUP_NONE || b->group == TO_KERNEL_GROUP_NONE)
		return a->group == b->group;
	return a->group < ca->size && b->group < cb->size &&
	       ca->number[a->group] == cb->number[b->group];
}

struct printer {
	to_diff_line line;
	const struct to_diff_names *names;
	void *arg;
};

static void diff_print_route(const struct printer *p, char sign,
			     const struct to_kernel_route *r, const struct classes *c)
{
	char text[TO_ROUTE_TEXT];

	if (!p->line)
		return;
	to_route_text(r, r->group < c->size ? c->group[r->group] : NULL, p->names, text,
		      sizeof(text));
	p->line(sign, "relay", text, p->arg);
}

static bool diff_same_order(const struct to_kernel_table *a,
			    const struct to_kernel_table *b)
{
	if (a->n_routes != b->n_routes)
		return false;
	for (unsigned int i = 0; i < a->n_routes; i++)
		if (diff_route_key_compare(&a->routes[i], &b->routes[i]))
			return false;
	return true;
}

static void diff_sort_routes(struct to_kernel_table *table)
{
	if (table->n_routes)
		qsort(table->routes, table->n_routes, sizeof(*table->routes),
		      diff_route_compare);
}

int to_diff_tables(struct to_kernel_table *have, struct to_kernel_table *want,
		   struct to_diff_count *count, to_diff_line line,
		   const struct to_diff_names *names, void *arg,
		   struct to_error *err)
{
	const struct printer p = { line, names, arg };
	struct classes ch = {}, cw = {};
	unsigned int h = 0, w = 0;

	memset(count, 0, sizeof(*count));
	if (diff_classes_init(&ch, have) || diff_classes_init(&cw, want) ||
	    diff_classify(&ch, &cw)) {
		diff_classes_free(&ch);
		diff_classes_free(&cw);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	/* Against nothing, any order will do. */
	if (have->n_routes && want->n_routes && !diff_same_order(have, want)) {
		diff_sort_routes(have);
		diff_sort_routes(want);
	}
	while (h < have->n_routes || w < want->n_routes) {
		const struct to_kernel_route *a = &have->routes[h];
		const struct to_kernel_route *b = &want->routes[w];
		int order = h == have->n_routes ? 1 : w == want->n_routes ? -1 :
			    diff_route_key_compare(a, b);

		if (!order) {
			if (!diff_route_says_same(a, &ch, b, &cw)) {
				diff_print_route(&p, '-', a, &ch);
				diff_print_route(&p, '+', b, &cw);
				count->changed++;
			}
			h++;
			w++;
		} else if (order < 0) {
			diff_print_route(&p, '-', a, &ch);
			count->removed++;
			h++;
		} else {
			diff_print_route(&p, '+', b, &cw);
			count->added++;
			w++;
		}
	}
	diff_classes_free(&ch);
	diff_classes_free(&cw);
	return 0;
}

/* By port and MAC address, of which a table has each pair once. */
static int diff_peer_compare(const void *a, const void *b)
{
	const struct to_peer *x = a, *y = b;

	if (x->ifindex != y->ifindex)
		return x->ifindex < y->ifindex ? -1 : 1;
	return memcmp(x->mac, y->mac, sizeof(x->mac));
}

static bool diff_peer_same(const struct to_peer *a, const struct to_peer *b)
{
	return a->index == b->index && !strcmp(a->server, b->server) &&
	       !strcmp(a->server_port, b->server_port);
}

struct printer_count {
	struct printer to;
	unsigned int lines;
};

static void diff_print_check(struct printer_count *p, char sign, const char *text)
{
	p->lines++;
	if (p->to.line)
		p->to.line(sign, "check", text, p->to.arg);
}

/* "eth0 of s1:eth1 02:54:4f:01:00:02" */
static void diff_print_peer(struct printer_count *p, char sign, const struct to_peer *peer)
{
	char name[IFNAMSIZ], text[160];

	/* nobody to tell, and no names to tell it with */
	if (!p->to.line) {
		p->lines++;
		return;
	}
	snprintf(text, sizeof(text), "%s of %s:%s %02x:%02x:%02x:%02x:%02x:%02x",
		 diff_ifname(p->to.names, peer->ifindex, name), peer->server, peer->server_port,
		 peer->mac[0], peer->mac[1], peer->mac[2], peer->mac[3], peer->mac[4],
		 peer->mac[5]);
	diff_print_check(p, sign, text);
}

/* "every 100ms as s1, fabric 8d1e..., grace 5000 ms" */
static void diff_print_settings(struct printer_count *p, char sign,
				const struct to_kernel_check *check)
{
	static const uint8_t none[TO_KERNEL_KEY];
	static const char *const intervals[] = {
		[TOPOOPT_CHECK_INTERVAL_3MS] = "3ms", [TOPOOPT_CHECK_INTERVAL_10MS] = "10ms",
		[TOPOOPT_CHECK_INTERVAL_100MS] = "100ms", [TOPOOPT_CHECK_INTERVAL_1S] = "1s",
	};
	char text[160];

	if (check->interval == TOPOOPT_CHECK_INTERVAL_OFF)
		return;
	snprintf(text, sizeof(text), "every %s as %s, fabric %016" PRIx64 ", grace %u ms%s",
		 check->interval < 5 ? intervals[check->interval] : "?", check->server,
		 check->fabric, check->grace_ms,
		 memcmp(check->key, none, sizeof(none)) ? ", with a key" : "");
	diff_print_check(p, sign, text);
}

static void diff_sort_peers(struct to_kernel_table *table)
{
	if (table->n_peers)
		qsort(table->peers, table->n_peers, sizeof(*table->peers), diff_peer_compare);
}

static bool diff_check_same(const struct to_kernel_check *a, const struct to_kernel_check *b)
{
	return a->interval == b->interval && a->fabric == b->fabric &&
	       a->grace_ms == b->grace_ms &&
	       (a->hidden || b->hidden || !memcmp(a->key, b->key, sizeof(a->key))) &&
	       !strcmp(a->server, b->server);
}

unsigned int to_diff_checks(struct to_kernel_table *have, struct to_kernel_table *want,
			    to_diff_line line, const struct to_diff_names *names, void *arg)
{
	struct printer_count p = { .to = { line, names, arg } };
	unsigned int h = 0, w = 0;

	if (!diff_check_same(&have->check, &want->check)) {
		diff_print_settings(&p, '-', &have->check);
		diff_print_settings(&p, '+', &want->check);
	}
	diff_sort_peers(have);
	diff_sort_peers(want);
	while (h < have->n_peers || w < want->n_peers) {
		int order = h == have->n_peers ? 1 : w == want->n_peers ? -1 :
			    diff_peer_compare(&have->peers[h], &want->peers[w]);

		if (order || !diff_peer_same(&have->peers[h], &want->peers[w])) {
			if (order <= 0)
				diff_print_peer(&p, '-', &have->peers[h]);
			if (order >= 0)
				diff_print_peer(&p, '+', &want->peers[w]);
		}
		h += order <= 0;
		w += order >= 0;
	}
	return p.lines;
}

static bool diff_has_address(const struct to_entries *list, const struct to_entry *e)
{
	for (unsigned int i = 0; i < list->n; i++)
		if (list->items[i].key_ifindex == e->key_ifindex &&
		    list->items[i].family == e->family &&
		    !memcmp(list->items[i].dst, e->dst, sizeof(e->dst)))
			return true;
	return false;
}

static void diff_change_add(struct to_change *changes, unsigned int *n,
			    enum to_change_verb verb, const struct to_entry *entry,
			    const struct to_entry *old)
{
	changes[*n] = (struct to_change){ .verb = verb, .entry = *entry };
	if (old)
		changes[*n].old = *old;
	++*n;
}

int to_diff_entries(struct to_entries *have, struct to_entries *foreign,
		    struct to_entries *want, struct to_change **changes,
		    unsigned int *n, unsigned int *n_added, struct to_error *err)
{
	unsigned int h = 0, w = 0, gone = 0, left = 0;
	struct to_change *list = calloc((size_t)have->n + want->n + 1, sizeof(*list));
	const struct to_entry **stale = calloc((size_t)have->n + 1, sizeof(*stale));

	if (!list || !stale) {
		free(list);
		free(stale);
		return to_error_set(err, -ENOMEM, "out of memory");
	}
	*n = 0;
	to_entries_sort(have);
	to_entries_sort(want);
	while (h < have->n || w < want->n) {
		const struct to_entry *a = &have->items[h], *b = &want->items[w];
		int order = h == have->n ? 1 : w == want->n ? -1 :
			    memcmp(a, b, TO_ENTRY_KEY);

		if (!order) {
			if (memcmp(a, b, sizeof(*a)))
				diff_change_add(list, n, TO_CHANGE_REPLACE, b, a);
			want->items[left++] = *b;
			h++;
			w++;
		} else if (order < 0) {
			stale[gone++] = a;
			h++;
		} else {
			if (b->kind != TO_ENTRY_ADDRESS || !diff_has_address(foreign, b)) {
				diff_change_add(list, n, TO_CHANGE_ADD, b, NULL);
				want->items[left++] = *b;
			}
			w++;
		}
	}
	want->n = left;
	*n_added = *n;
	while (gone--)
		diff_change_add(list, n, TO_CHANGE_DELETE, stale[gone], stale[gone]);
	free(stale);
	*changes = list;
	return 0;
}
