// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/link_losses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int losses_compare_ports(struct to_port_ref a, struct to_port_ref b)
{
	if (a.server != b.server)
		return a.server < b.server ? -1 : 1;
	return a.port < b.port ? -1 : a.port > b.port;
}

static int losses_compare(const void *a, const void *b)
{
	const struct to_link *x = a, *y = b;
	const int order = losses_compare_ports(x->a, y->a);

	return order ? order : losses_compare_ports(x->b, y->b);
}

void to_link_losses_free(struct to_link_losses *l)
{
	free(l->links);
	free(l->ways);
	l->links = NULL;
	l->ways = NULL;
	l->n_links = 0;
}

int to_link_losses_follow(struct to_link_losses *l, const struct to_cluster *cluster)
{
	struct to_link_losses next = {
		.config = l->config, .n_links = cluster->n_links,
		.links = calloc(cluster->n_links + 1, sizeof(*next.links)),
		.ways = calloc(cluster->n_links + 1, sizeof(*next.ways)),
	};

	if (!next.links || !next.ways) {
		to_link_losses_free(&next);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < cluster->n_links; i++)
		next.links[i] = cluster->links[i];
	qsort(next.links, next.n_links, sizeof(*next.links), losses_compare);
	for (unsigned int i = 0; i < next.n_links; i++) {
		const struct to_link *link = &next.links[i];
		const struct to_link_loss *there = to_link_losses_find(l, link->a, link->b);
		const struct to_link_loss *back = to_link_losses_find(l, link->b, link->a);

		if (there)
			next.ways[i][0] = *there;
		if (back)
			next.ways[i][1] = *back;
	}
	to_link_losses_free(l);
	*l = next;
	return 0;
}

/* Return the index of the link from port @a to port @b, or -1. */
static int losses_index(const struct to_link_losses *l, struct to_port_ref a, struct to_port_ref b)
{
	const struct to_link key = { .a = a, .b = b };
	const struct to_link *link = l->links ? bsearch(&key, l->links, l->n_links,
							 sizeof(*l->links), losses_compare) : NULL;

	return link ? link - l->links : -1;
}

const struct to_link_loss *to_link_losses_find(const struct to_link_losses *l,
					       struct to_port_ref from, struct to_port_ref to)
{
	int i = losses_index(l, from, to);

	if (i >= 0)
		return &l->ways[i][0];
	i = losses_index(l, to, from);
	return i >= 0 ? &l->ways[i][1] : NULL;
}

void to_link_losses_reset(struct to_link_losses *l, struct to_port_ref a, struct to_port_ref b)
{
	int i = losses_index(l, a, b);

	i = i >= 0 ? i : losses_index(l, b, a);
	if (i < 0)
		return;
	to_link_loss_reset(&l->ways[i][0]);
	to_link_loss_reset(&l->ways[i][1]);
}

static const json_t *losses_named(const json_t *array, const char *name)
{
	const json_t *object;
	size_t i;

	json_array_foreach(array, i, object) {
		const char *called = json_string_value(json_object_get(object, "name"));

		if (called && !strcmp(called, name))
			return object;
	}
	return NULL;
}

static bool losses_has(const json_t *object, const char *key, const char *value)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text && !strcmp(text, value);
}

static uint64_t losses_number(const json_t *object, const char *key)
{
	const json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 ? n : 0;
}

/* Find what the server of @to says of checks that @from sends; NULL without them. */
static const json_t *losses_checks(const struct to_cluster *c, const json_t *reply,
				   struct to_port_ref from, struct to_port_ref to)
{
	const struct to_server *sender = &c->servers[from.server];
	const json_t *peer;
	size_t i;

	json_array_foreach(json_object_get(reply, "peers"), i, peer)
		if (losses_has(peer, "port", c->servers[to.server].ports[to.port].name) &&
		    losses_has(peer, "server", sender->name) &&
		    losses_has(peer, "server_port", sender->ports[from.port].name))
			return peer;
	return NULL;
}

/* Read the counters of port @at. Return: whether it has any. */
static bool losses_end(const struct to_cluster *c, const json_t *reply, struct to_port_ref at,
		       struct to_link_end *end)
{
	const json_t *port = losses_named(json_object_get(reply, "ports"),
					  c->servers[at.server].ports[at.port].name);

	return to_link_end_take(end, json_object_get(port, "link"));
}

static void losses_look(struct to_link_losses *l, struct to_link_loss *way,
			const struct to_cluster *c, const json_t *const *replies,
			struct to_port_ref from, struct to_port_ref to, bool shared,
			uint64_t time_ns, uint64_t span_ns)
{
	const json_t *checks = losses_checks(c, replies[to.server], from, to);
	struct to_link_end sender = {}, receiver = {};
	struct to_link_point point;

	if (!shared && (!losses_end(c, replies[from.server], from, &sender) ||
			!losses_end(c, replies[to.server], to, &receiver)))
		return;
	point = to_link_point(&sender, &receiver, losses_number(checks, "received"),
			      losses_number(checks, "missing"), time_ns, span_ns);
	to_link_loss_add(way, &l->config, &point);
}

void to_link_losses_look(struct to_link_losses *l, const struct to_cluster *c,
			 const json_t *const *replies, uint64_t time_ns, uint64_t span_ns)
{
	for (unsigned int i = 0; i < l->n_links; i++) {
		const struct to_link *link = &l->links[i];
		const bool shared = to_link_is_shared(c, link);

		losses_look(l, &l->ways[i][0], c, replies, link->a, link->b, shared, time_ns, span_ns);
		if (c->link_mode == TO_LINKS_DUPLEX)
			losses_look(l, &l->ways[i][1], c, replies, link->b, link->a, shared,
				    time_ns, span_ns);
	}
}
