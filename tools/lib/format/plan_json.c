// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading of plan.json. */

#include "format/plan_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/set.h"
#include "data/allreduce.h"
#include "data/down.h"
#include "data/plan.h"
#include "format/cluster_json.h"
#include "format/continuity_json.h"
#include "format/demand_json.h"
#include "format/names.h"
#include "format/packet_switches_json.h"
#include "format/plan_tables_json.h"

#define PLAN_LATENCY_MAX 1	/* seconds */

static int plan_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-plan");
}

/* Readers with a struct to_plan at offset 0; its parts exist already. */

static int plan_read_job(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_names_read_label(at, plan->demand->name);
}

static int plan_read_link_mode(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_cluster_read_link_mode(at, plan->cluster);
}

static int plan_read_switches(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_cluster_read_switches(at, plan->cluster);
}

static int plan_read_packet_switches(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_packet_switches_read(at, plan->cluster);
}

static int plan_read_servers(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret = to_cluster_read_servers(at, plan->cluster);

	if (!ret && to_plan_alloc_tables(plan))
		ret = to_json_error(at, -ENOMEM, "out of memory");
	return ret;
}

static int plan_read_continuity(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	return to_continuity_read(at, plan->cluster);
}

static int plan_read_demand(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	const struct to_json servers = to_json_member(at, "servers");
	int ret = 0;

	/* before the matrix is allocated */
	if (json_is_integer(servers.value) &&
	    json_integer_value(servers.value) != plan->cluster->n_servers)
		ret = to_json_error(&servers, -EINVAL, "expected %u, the plan's servers",
				    plan->cluster->n_servers);
	ret = ret ? ret : to_demand_read(at, plan->demand, TO_SERVERS_MAX);
	if (!ret && plan->demand->n != plan->cluster->n_servers)
		ret = to_json_error_at(at, "servers", -EINVAL,
				       "expected %u, the plan's servers",
				       plan->cluster->n_servers);
	return ret;
}

struct ring_in {
	unsigned int group, jump;
	bool reverse;
	const char *order;
};

static const struct to_json_field ring_fields[] = {
	{ "group", to_json_u32, offsetof(struct ring_in, group), false },
	{ "jump", to_json_u32, offsetof(struct ring_in, jump), false },
	{ "reverse", to_json_bool, offsetof(struct ring_in, reverse), true },
	{ "order", to_json_string, offsetof(struct ring_in, order), false },
	{}
};

/* Are @order and @members, both without repetition, the same set? */
static bool plan_same_members(const uint32_t *order, const uint32_t *members,
			      unsigned int n, unsigned int n_servers)
{
	bool *seen = calloc(n_servers, sizeof(*seen));
	bool same = seen;

	for (unsigned int i = 0; i < n && same; i++)
		seen[members[i]] = true;
	for (unsigned int i = 0; i < n && same; i++)
		same = seen[order[i]];
	free(seen);
	return same;
}

static int plan_read_ring(const struct to_json *at, struct to_plan *plan)
{
	struct to_ring *ring = &plan->rings[plan->n_rings];
	const struct to_allreduce *group;
	struct ring_in in = {};
	struct to_error err;
	int ret;

	ret = to_json_object(at, ring_fields, &in);
	if (ret)
		return ret;
	if (in.group >= plan->demand->n_groups)
		return to_json_error_at(at, "group", -ENOENT,
					"the demand has %u AllReduce groups",
					plan->demand->n_groups);
	group = &plan->demand->groups[in.group];
	if (in.jump >= group->n_members)
		return to_json_error_at(at, "jump", -ERANGE,
					"expected less than %u, the members of the group",
					group->n_members);
	if (in.reverse && plan->cluster->link_mode == TO_LINKS_SIMPLEX)
		return to_json_error_at(at, "reverse", -EINVAL,
					"simplex links carry no ring backwards");
	ret = to_set_parse(in.order, plan->demand->n, &ring->order, &ring->n, &err);
	if (ret)
		return to_json_error_at(at, "order", ret, "%s", err.text);
	plan->n_rings++;
	ring->group = in.group;
	ring->jump = in.jump;
	ring->reverse = in.reverse;
	if (ring->n != group->n_members ||
	    !plan_same_members(ring->order, group->members, ring->n, plan->demand->n))
		return to_json_error_at(at, "order", -EINVAL,
					"expected every member of AllReduce group %u once",
					in.group);
	return 0;
}

static int plan_read_rings(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	unsigned int n;
	int ret;

	ret = to_json_array(at, sizeof(*plan->rings), &plan->rings, &n);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_ring(&child, plan);
	}
	return ret;
}

static int plan_read_parent(const struct to_json *at, uint32_t *parent)
{
	int ret;

	if (json_is_null(at->value)) {
		*parent = TO_SERVER_NONE;
		return 0;
	}
	ret = to_json_u32(at, parent);
	if (!ret && *parent >= TO_SERVERS_MAX)
		ret = to_json_error(at, -ERANGE, "expected less than %u", TO_SERVERS_MAX);
	return ret;
}

static int plan_read_parents(const struct to_json *at, void *to)
{
	struct to_allreduce_tree *tree = to;
	int ret = to_json_array(at, sizeof(*tree->parents), &tree->parents, &tree->n);

	for (unsigned int i = 0; i < tree->n && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_parent(&child, &tree->parents[i]);
	}
	return ret;
}

static int plan_read_share(const struct to_json *at, void *to)
{
	double *share = to;
	int ret = to_json_real(at, share);

	if (!ret && !(*share > 0 && *share <= 1))
		ret = to_json_error(at, -ERANGE, "expected a part of the buffer, above 0 and up to 1");
	return ret;
}

/* Trees of a group of which none has a share, share alike. */
static void plan_share_alike(struct to_plan *plan, unsigned int group)
{
	unsigned int trees = 0, i;

	for (i = 0; i < plan->n_trees; i++) {
		if (plan->trees[i].group != group)
			continue;
		if (plan->trees[i].share > 0)
			return;
		trees++;
	}
	for (i = 0; i < plan->n_trees; i++)
		if (plan->trees[i].group == group)
			plan->trees[i].share = 1.0 / trees;
}

static const struct to_json_field tree_fields[] = {
	{ "group", to_json_u32, offsetof(struct to_allreduce_tree, group), false },
	{ "share", plan_read_share, offsetof(struct to_allreduce_tree, share), true },
	{ "parents", plan_read_parents, 0, false },
	{}
};

/* Their shares, where the file says them or not. */
static int plan_share_trees(const struct to_json *at, struct to_plan *plan)
{
	struct to_rings rings = to_allreduce_of(plan);
	struct to_error err;
	int ret = 0;

	for (unsigned int g = 0; g < plan->demand->n_groups && !ret; g++) {
		plan_share_alike(plan, g);
		ret = to_allreduce_shares_check(&rings, g, &err);
		if (ret)
			to_json_error(at, ret, "%s", err.text);
	}
	return ret;
}

static int plan_read_trees(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret = to_json_array(at, sizeof(*plan->trees), &plan->trees, &plan->n_trees);

	for (unsigned int i = 0; i < plan->n_trees && !ret; i++) {
		struct to_allreduce_tree *tree = &plan->trees[i];
		struct to_json child = to_json_element(at, i);
		struct to_error err;

		ret = to_json_object(&child, tree_fields, tree);
		if (!ret && tree->group >= plan->demand->n_groups)
			ret = to_json_error_at(&child, "group", -ENOENT,
					       "the demand has %u AllReduce groups",
					       plan->demand->n_groups);
		if (!ret) {
			ret = to_allreduce_tree_check(tree, plan->demand, &err);
			if (ret)
				to_json_error_at(&child, "parents", ret, "%s", err.text);
		}
	}
	return ret ? ret : plan_share_trees(at, plan);
}

static int plan_read_use(const struct to_json *at, void *to)
{
	int use = to_json_choice(at, to_plan_link_uses);

	if (use < 0)
		return use;
	*(enum to_link_use *)to = use;
	return 0;
}

static int plan_read_link_owner(const struct to_json *at, void *to)
{
	unsigned int owner;
	int ret = to_json_u32(at, &owner);

	if (!ret && owner > INT32_MAX)
		return to_json_error(at, -ERANGE, "no such %s", at->key);
	*(int *)to = owner;
	return ret;
}

static const struct to_json_field link_fields[] = {
	{ "a", to_cluster_read_port_ref, offsetof(struct to_link, a), false },
	{ "b", to_cluster_read_port_ref, offsetof(struct to_link, b), false },
	{ "use", plan_read_use, offsetof(struct to_link, use), false },
	{ "ring", plan_read_link_owner, offsetof(struct to_link, ring), true },
	{ "tree", plan_read_link_owner, offsetof(struct to_link, tree), true },
	{}
};

static int plan_read_links(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	struct to_cluster *c = plan->cluster;
	int ret = to_cluster_read_links(at, link_fields, c);

	for (unsigned int i = 0; i < c->n_links && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		const struct to_link *link = &c->links[i];

		if (link->ring >= 0 && link->use != TO_LINK_ALLREDUCE)
			ret = to_json_error_at(&child, "ring", -EINVAL,
					       "only a link for \"allreduce\" has a ring");
		else if (link->ring >= (int)plan->n_rings)
			ret = to_json_error_at(&child, "ring", -ENOENT,
					       "the plan has %u rings", plan->n_rings);
		else if (link->tree >= 0 && (link->use != TO_LINK_ALLREDUCE || link->ring >= 0))
			ret = to_json_error_at(&child, "tree", -EINVAL,
					       "only a link for \"allreduce\" without a ring has a tree");
		else if (link->tree >= (int)plan->n_trees)
			ret = to_json_error_at(&child, "tree", -ENOENT,
					       "the plan has %u trees", plan->n_trees);
	}
	if (!ret && to_plan_index(plan))
		ret = to_json_error(at, -ENOMEM, "out of memory");
	return ret;
}

static int plan_read_down(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	struct to_error err = { 0 };
	struct to_down down;
	unsigned int n;
	int ret = to_json_array(at, 0, NULL, &n);

	if (!ret && to_down_init(&down, plan->cluster))
		ret = to_json_error(at, -ENOMEM, "out of memory");
	if (ret)
		return ret;
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		const char *word;

		ret = to_json_string(&child, &word);
		if (!ret && to_down_parse(&down, plan->cluster, word, &err))
			ret = to_json_error(&child, -ENOENT, "%s", err.text);
	}
	if (!ret) {
		plan->down = down.list;
		plan->n_down = down.n;
		down.list = NULL;
	}
	to_down_free(&down);
	return ret;
}

static const struct to_json_field dark_fields[] = {
	{ "a", to_cluster_read_port_ref, offsetof(struct to_link, a), false },
	{ "b", to_cluster_read_port_ref, offsetof(struct to_link, b), false },
	{}
};

/* A port of a dark link waits for light. The other one, too, unless its cable leads elsewhere. */
int to_plan_read_dark(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	struct to_cluster c = *plan->cluster;
	struct to_port_ref peer;
	int ret;

	c.n_links = 0;
	c.links = NULL;
	ret = to_cluster_read_links(at, dark_fields, &c);
	plan->dark = c.links;
	plan->n_dark = c.n_links;
	for (unsigned int i = 0; i < plan->n_dark && !ret; i++) {
		struct to_json child = to_json_element(at, i);
		const struct to_link *link = &plan->dark[i];

		if (!to_plan_peer(plan, link->a, &peer) &&
		    (c.link_mode == TO_LINKS_SIMPLEX || !to_plan_peer(plan, link->b, &peer)))
			ret = to_json_error_at(&child, "a", -EEXIST,
					       "the port is on a link that is not dark%s",
					       c.link_mode == TO_LINKS_SIMPLEX ? "" : ", as is b");
	}
	return ret;
}

struct cross_connect_in {
	const char *optical_switch;
	unsigned int a, b;
};

static const struct to_json_field cross_connect_fields[] = {
	{ "optical_switch", to_json_string,
	  offsetof(struct cross_connect_in, optical_switch), false },
	{ "a", to_json_u32, offsetof(struct cross_connect_in, a), false },
	{ "b", to_json_u32, offsetof(struct cross_connect_in, b), false },
	{}
};

static int plan_read_cross_connect(const struct to_json *at, const struct to_cluster *c,
				   struct to_cross_connect *x)
{
	struct cross_connect_in in;
	unsigned int s;
	int ret;

	ret = to_json_object(at, cross_connect_fields, &in);
	if (ret)
		return ret;
	for (s = 0; s < c->n_switches; s++)
		if (!strcmp(c->switches[s].name, in.optical_switch))
			break;
	if (s == c->n_switches)
		return to_json_error_at(at, "optical_switch", -ENOENT,
					"no optical switch is called \"%s\"",
					in.optical_switch);
	if (!in.a || in.a > c->switches[s].n_ports)
		return to_json_error_at(at, "a", -ERANGE, "\"%s\" has the ports 1 to %u",
					c->switches[s].name, c->switches[s].n_ports);
	if (!in.b || in.b > c->switches[s].n_ports)
		return to_json_error_at(at, "b", -ERANGE, "\"%s\" has the ports 1 to %u",
					c->switches[s].name, c->switches[s].n_ports);
	*x = (struct to_cross_connect){ s, in.a, in.b };
	return 0;
}

static int plan_read_cross_connects(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret;

	ret = to_json_array(at, sizeof(*plan->cross_connects),
			    &plan->cross_connects, &plan->n_cross_connects);
	for (unsigned int i = 0; i < plan->n_cross_connects && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_cross_connect(&child, plan->cluster,
					      &plan->cross_connects[i]);
	}
	return ret;
}

static int plan_read_predictions(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	if (!json_is_object(at->value))
		return to_json_error(at, -EINVAL, "expected an object");
	plan->predictions = json_incref(at->value);
	return 0;
}

static const struct to_json_field candidate_fields[] = {
	{ "family", to_names_read, offsetof(struct to_candidate, family), false },
	{ "ports", to_json_u32, offsetof(struct to_candidate, ports), false },
	{ "estimated_time_s", to_json_real, offsetof(struct to_candidate, estimated_time), false },
	{ "comm_time_s", to_json_real, offsetof(struct to_candidate, comm_time), true },
	{ "chosen", to_json_bool, offsetof(struct to_candidate, chosen), true },
	{}
};

static int plan_read_candidates(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	int ret = to_json_array(at, sizeof(*plan->candidates), &plan->candidates,
				&plan->n_candidates);

	for (unsigned int i = 0; i < plan->n_candidates && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, candidate_fields, &plan->candidates[i]);
	}
	return ret;
}

struct port_shares_in {
	unsigned int src, dst, n;
	uint32_t *shares;
};

static int plan_read_shares(const struct to_json *at, void *to)
{
	struct port_shares_in *in = to;
	int ret = to_json_array(at, sizeof(*in->shares), &in->shares, &in->n);

	for (unsigned int q = 0; q < in->n && !ret; q++) {
		struct to_json child = to_json_element(at, q);

		ret = to_json_u32(&child, &in->shares[q]);
		if (!ret && in->shares[q] > TO_PORT_SHARES)
			ret = to_json_error(&child, -ERANGE, "expected 0 to %u", TO_PORT_SHARES);
	}
	return ret;
}

static const struct to_json_field port_shares_fields[] = {
	{ "src", to_json_u32, offsetof(struct port_shares_in, src), false },
	{ "dst", to_json_u32, offsetof(struct port_shares_in, dst), false },
	{ "shares", plan_read_shares, 0, false },
	{}
};

static int plan_read_pair_shares(const struct to_json *at, struct to_plan *plan)
{
	unsigned int n = plan->cluster->n_servers;
	struct port_shares_in in = {};
	int ret = to_json_object(at, port_shares_fields, &in);

	if (!ret && (in.src >= n || in.dst >= n))
		ret = to_json_error_at(at, in.src >= n ? "src" : "dst", -ERANGE,
				       "expected a server, 0 to %u", n - 1);
	else if (!ret && in.n != plan->cluster->servers[in.dst].n_ports)
		ret = to_json_error_at(at, "shares", -EINVAL, "expected %u, the ports of server %u",
				       plan->cluster->servers[in.dst].n_ports, in.dst);
	for (unsigned int q = 0; q < in.n && !ret; q++)
		plan->port_shares[((size_t)in.src * n + in.dst) * (plan->slots - 1) + q] =
			in.shares[q];
	free(in.shares);
	return ret;
}

static int plan_read_port_shares(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;
	size_t n = plan->cluster->n_servers;
	unsigned int pairs;
	int ret = to_json_array(at, 0, NULL, &pairs);

	if (ret)
		return ret;
	plan->port_shares = calloc(n * n * (plan->slots - 1) + 1, sizeof(*plan->port_shares));
	if (!plan->port_shares)
		return to_json_error(at, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < pairs && !ret; i++) {
		struct to_json child = to_json_element(at, i);

		ret = plan_read_pair_shares(&child, plan);
	}
	return ret;
}

static int plan_read_stretch(const struct to_json *at, void *to)
{
	struct to_plan *plan = to;

	plan->max_stretch = json_number_value(at->value);
	if (!(plan->max_stretch >= 1))
		return to_json_error(at, -ERANGE, "expected a number, 1 or more");
	return 0;
}

/* Seconds, in a double. */
static int plan_read_latency(const struct to_json *at, void *to)
{
	double *seconds = to;

	*seconds = json_number_value(at->value);
	if (!json_is_number(at->value) || !(*seconds >= 0 && *seconds <= PLAN_LATENCY_MAX))
		return to_json_error(at, -ERANGE, "expected seconds, 0 to %d", PLAN_LATENCY_MAX);
	return 0;
}

static int plan_read_collective(const struct to_json *at, void *to)
{
	int collective = to_json_choice(at, to_collective_algorithms);

	if (collective < 0)
		return collective;
	*(enum to_collective_algorithm *)to = collective;
	return 0;
}

/* In reading order: later ones refer to earlier ones. */
static const struct to_json_field plan_fields[] = {
	{ "format", plan_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "comment", to_json_comment, 0, true },
	{ "job", plan_read_job, 0, false },
	{ "seed", to_json_u64, offsetof(struct to_plan, seed), true },
	{ "max_stretch", plan_read_stretch, 0, true },
	{ "no_buffer_cycles", to_json_bool, offsetof(struct to_plan, no_buffer_cycles), true },
	{ "step_latency_s", plan_read_latency, offsetof(struct to_plan, latency.step), true },
	{ "relay_latency_s", plan_read_latency, offsetof(struct to_plan, latency.relay), true },
	{ "collective", plan_read_collective, offsetof(struct to_plan, collective), true },
	{ "link_mode", plan_read_link_mode, 0, false },
	{ "optical_switches", plan_read_switches, 0, true },
	{ "packet_switches", plan_read_packet_switches, 0, true },
	{ "servers", plan_read_servers, 0, false },
	{ "checks", plan_read_continuity, 0, true },
	{ "demand", plan_read_demand, 0, false },
	{ "rings", plan_read_rings, 0, true },
	{ "trees", plan_read_trees, 0, true },
	{ "links", plan_read_links, 0, false },
	{ "down", plan_read_down, 0, true },
	{ "dark", to_plan_read_dark, 0, true },
	{ "cross_connects", plan_read_cross_connects, 0, true },
	{ "tables", to_plan_read_tables, 0, false },
	{ "port_shares", plan_read_port_shares, 0, true },
	{ "candidates", plan_read_candidates, 0, true },
	{ "predictions", plan_read_predictions, 0, true },
	{}
};

struct to_plan *to_plan_parse(const char *data, size_t len, const char *name,
			      struct to_error *err)
{
	struct to_plan *plan = calloc(1, sizeof(*plan));
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (plan) {
		plan->cluster = calloc(1, sizeof(*plan->cluster));
		plan->demand = calloc(1, sizeof(*plan->demand));
	}
	if (!plan || !plan->cluster || !plan->demand) {
		to_error_set(err, -ENOMEM, "%s: out of memory", name);
		to_plan_free(plan);
		return NULL;
	}
	ret = to_json_open_deferred(&doc, &at, data, len, name, "tables",
				    plan->cluster, err);
	if (!ret)
		ret = to_json_object(&at, plan_fields, plan);
	to_json_close(&doc);
	if (ret) {
		to_plan_free(plan);
		return NULL;
	}
	return plan;
}

struct to_plan *to_plan_load_shared(const char *path, struct to_error *err)
{
	struct to_plan *plan;
	char *data;
	size_t len;

	if (to_file_read(path, TO_FILE_MAX, &data, &len, err))
		return NULL;
	plan = to_plan_parse(data, len, path, err);
	free(data);
	return plan;
}
