// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/controller_lossy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

#define LOSSY_LOOK_NS TO_NS_PER_S	/* time between two looks */

/* Log a link that is held from now on, or used again. */
static void controller_lossy_note(const struct controller *c, const struct to_lossy_link *link)
{
	const struct to_cluster *cluster = to_controller_state_asked(c)->cluster;
	const double hold = link->hold.hold_ns / (double)TO_NS_PER_S;
	char from[TO_DOWN_NAME_MAX], to[TO_DOWN_NAME_MAX];

	to_down_name(cluster, link->from, from);
	to_down_name(cluster, link->to, to);
	to_run_log(c->config->log, "lossy",
		   json_pack("{s:s, s:s, s:b, s:s, s:f}", "from", from, "to", to, "held",
			     link->hold.held, "text", link->why, "hold_s", hold),
		   link->hold.held ? "%s to %s %s: held down until it has lost nothing for %g s" :
				"%s to %s is used again: it %s, and has lost nothing for %g s",
		   from, to, link->why, hold);
}

/* Forget what links lost that are down as it is: all that was sent, which says no more of them. */
static void controller_lossy_forget(struct controller *c)
{
	for (unsigned int i = 0; i < c->lossy.n_links; i++) {
		const struct to_lossy_link *link = &c->lossy.links[i];

		if (to_carrier_port(&c->carrier, link->a)->down ||
		    to_carrier_port(&c->carrier, link->b)->down)
			to_link_losses_reset(&c->lossy.losses, link->a, link->b);
	}
}

static void controller_lossy_judge(struct controller *c, const json_t *const *replies,
				   uint64_t begin_ns)
{
	const struct to_plan *asked = to_controller_state_asked(c);
	const uint64_t now = to_clock_monotonic_ns();
	bool *held = calloc(c->lossy.n_links + 1, sizeof(*held));

	controller_lossy_forget(c);
	for (unsigned int i = 0; held && i < c->lossy.n_links; i++)
		held[i] = c->lossy.links[i].hold.held;
	if (held && to_lossy_look(&c->lossy, asked->cluster, replies, now, now - begin_ns)) {
		c->since_ns = now;
		for (unsigned int i = 0; i < c->lossy.n_links; i++)
			if (held[i] != c->lossy.links[i].hold.held)
				controller_lossy_note(c, &c->lossy.links[i]);
	}
	free(held);
}

/* Log a port that is held from now on, is as planned again, or runs at another rate. */
static void controller_slow_note(const struct controller *c, struct to_port_ref at)
{
	const struct to_cluster *cluster = to_controller_state_asked(c)->cluster;
	const struct to_slow_port *port = to_slow_port(&c->slow, at);
	const uint64_t planned = cluster->servers[at.server].ports[at.port].bandwidth;
	const double hold = port->hold.hold_ns / (double)TO_NS_PER_S;
	char name[TO_DOWN_NAME_MAX];

	to_down_name(cluster, at, name);
	to_run_log(c->config->log, "slow",
		   json_pack("{s:s, s:b, s:I, s:I, s:f}", "port", name, "held", port->hold.held,
			     "bandwidth", (json_int_t)port->bandwidth, "planned",
			     (json_int_t)planned, "hold_s", hold),
		   port->hold.held ?
		   "%s has %.4g Gbit/s, the plan says %.4g: planned for until it has had that for %g s" :
		   "%s had %.4g Gbit/s; it has had the %.4g of the plan for %g s",
		   name, port->bandwidth * 1e-9, planned * 1e-9, hold);
}

/* Judge the rates of one server's ports by its reply. */
static void controller_slow_judge(struct controller *c, unsigned int s, const json_t *reply)
{
	const uint64_t now = to_clock_monotonic_ns();
	const struct to_cluster *cluster = to_controller_state_asked(c)->cluster;
	const json_t *port;
	size_t i;

	json_array_foreach(json_object_get(reply, "ports"), i, port) {
		const char *name = json_string_value(json_object_get(port, "name"));
		const int p = name ? to_cluster_find_port(&cluster->servers[s], name) : -1;
		const json_int_t mbits = json_integer_value(json_object_get(port, "mbits"));
		const struct to_port_ref at = { s, p };

		if (p < 0 || !to_slow_look(&c->slow, cluster, at, mbits > 0 ? mbits : 0, now))
			continue;
		controller_slow_note(c, at);
		c->since_ns = now;
	}
}

/* Begin anew with the links of another plan that is asked for. Return: 0 or -ENOMEM. */
static int controller_lossy_follow(struct controller *c)
{
	const struct to_plan *asked = to_controller_state_asked(c);
	struct to_lossy next;

	if (c->lossy_of == asked)
		return 0;
	if (to_lossy_init(&next, &c->config->lossy, asked->cluster))
		return -ENOMEM;
	to_lossy_free(&c->lossy);
	c->lossy = next;
	to_slow_free(&c->slow);
	if (to_slow_init(&c->slow, c->config->lossy.hold_ns, asked->cluster, c->plan->cluster,
			 to_clock_monotonic_ns()))
		return -ENOMEM;
	to_plan_free(c->lossy_of);
	c->lossy_of = to_plan_hold(asked);
	return 0;
}

void to_controller_lossy_look(struct controller *c)
{
	const unsigned int n = to_controller_state_asked(c)->cluster->n_servers;
	const uint64_t begin = to_clock_monotonic_ns();
	json_t **replies;

	if (!c->config->carrier.after_ns || begin < c->lossy_ns || controller_lossy_follow(c))
		return;
	c->lossy_ns = begin + LOSSY_LOOK_NS;
	replies = calloc(n, sizeof(*replies));
	if (replies && !to_fabric_look(c->fabric, replies, NULL))
		controller_lossy_judge(c, (const json_t *const *)replies, begin);
	for (unsigned int i = 0; replies && i < n; i++) {
		controller_slow_judge(c, i, replies[i]);
		json_decref(replies[i]);
	}
	free(replies);
}

int to_controller_lossy_add(const struct controller *c, struct to_down *down)
{
	const struct to_cluster *cluster = to_controller_state_asked(c)->cluster;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < c->lossy.n_links; i++) {
		const struct to_lossy_link *link = &c->lossy.links[i];

		if (!link->hold.held)
			continue;
		ret = to_down_add(down, cluster, link->a);
		ret = ret ? ret : to_down_add(down, cluster, link->b);
	}
	return ret;
}
