// SPDX-License-Identifier: GPL-2.0-or-later
/* Verify must name what is wrong, and count what it claims. */

#include "job.h"

/* What breaks a plan, and the line that must say so. */
typedef void breaker(struct to_plan *plan);

static struct to_plan *good(void)
{
	struct to_demand *demand = job_new(12);
	struct to_error err = { "" };
	struct to_plan *plan;

	job_group(demand, 0, 1, 12, 400 * MIB);
	job_hot(demand, 6, MIB);
	plan = job_plan_family(demand, 4, TO_LINKS_DUPLEX, &to_family_totient, &err);
	assert_string_equal(err.text, "");
	return plan;
}

/* The first violation, or "" */
static const char *verdict(const struct to_plan *plan)
{
	static struct job_lines lines;
	struct to_verify_report report;

	lines = (struct job_lines){ 0 };
	assert_int_equal(to_verify(plan, job_line, &lines, &report), 0);
	assert_int_equal(report.violations, lines.n);
	return lines.first;
}

static struct to_nexthop *first_hop(struct to_plan *plan, uint32_t server, uint32_t dst,
				    unsigned int slot)
{
	struct to_table *table = &plan->tables[server];
	uint16_t group = table->route[dst * plan->slots + slot];

	assert_int_not_equal(group, TO_GROUP_NONE);
	return table->groups[group].nexthops;
}

/* Route of @server to @dst out of @port alone. */
static void reroute(struct to_plan *plan, uint32_t server, uint32_t dst, unsigned int slot,
		    unsigned int port, int backup)
{
	struct to_nexthop hops[2] = { { .port = port, .weight = 1 }, { .port = backup, .weight = 1, .backup = true } };
	int group = to_plan_add_group(&plan->tables[server], hops, backup < 0 ? 1 : 2);

	assert_true(group >= 0);
	plan->tables[server].route[dst * plan->slots + slot] = group;
}

/* Port of @from on a link to @to, which may also be a distance on the ring. */
static unsigned int port_towards(const struct to_plan *plan, uint32_t from, uint32_t to)
{
	for (unsigned int q = 0; q < plan->slots - 1; q++) {
		struct to_port_ref peer;

		if (!to_plan_peer(plan, (struct to_port_ref){ from, q }, &peer) && peer.server == to)
			return q;
	}
	fail_msg("no link from %u to %u", from, to);
	return 0;
}

static void drop_route(struct to_plan *plan)
{
	plan->tables[3].route[7 * plan->slots] = TO_GROUP_NONE;
}

static void drop_port_route(struct to_plan *plan)
{
	plan->tables[3].route[7 * plan->slots + 2] = TO_GROUP_NONE;
}

static void loop(struct to_plan *plan)
{
	/* 3 and 4 are neighbours, 9 is far from both */
	reroute(plan, 3, 9, 0, port_towards(plan, 3, 4), -1);
	reroute(plan, 4, 9, 0, port_towards(plan, 4, 3), -1);
}

/* One branch of two is enough. */
static void loop_on_one_branch(struct to_plan *plan)
{
	struct to_nexthop hops[2] = { *first_hop(plan, 4, 9, 0), { .port = port_towards(plan, 4, 3), .weight = 1 } };
	int group;

	reroute(plan, 3, 9, 0, port_towards(plan, 3, 4), -1);
	hops[0].backup = false;
	group = to_plan_add_group(&plan->tables[4], hops, 2);
	plan->tables[4].route[9 * plan->slots] = group;
}

static void wrong_port(struct to_plan *plan)
{
	/* 3 is the peer of a port of 4: send for that port's address elsewhere */
	unsigned int q = port_towards(plan, 4, 3) ? 0 : 1;

	reroute(plan, 3, 4, 1 + q, port_towards(plan, 3, 4), -1);
}

static void wrong_port_as_backup(struct to_plan *plan)
{
	unsigned int own = port_towards(plan, 4, 3), q = own ? 0 : 1;

	reroute(plan, 3, 4, 1 + q, first_hop(plan, 3, 4, 1 + q)->port, port_towards(plan, 3, 4));
}

/* 3's neighbour 4 goes back to 3 for 2, which 3 is next to. */
static void looping_backup(struct to_plan *plan)
{
	reroute(plan, 4, 2, 0, port_towards(plan, 4, 3), -1);
	reroute(plan, 3, 2, 0, port_towards(plan, 3, 2), port_towards(plan, 3, 4));
}

static void only_backups(struct to_plan *plan)
{
	struct to_nexthop hop = { .port = 1, .weight = 1, .backup = true };
	int group = to_plan_add_group(&plan->tables[3], &hop, 1);

	plan->tables[3].route[9 * plan->slots] = group;
}

static void no_weight(struct to_plan *plan)
{
	first_hop(plan, 3, 9, 0)->weight = 0;
}

/* Routes of 3 to 9, both ways round, weighing @first and @second; on a backup when @backup. */
static void weigh(struct to_plan *plan, unsigned int first, unsigned int second, bool backup)
{
	unsigned int primary = first_hop(plan, 3, 9, 0)->port;
	struct to_nexthop hops[3] = { { .port = primary, .weight = 1 } };
	unsigned int n = backup, group;

	hops[n++] = (struct to_nexthop){ .port = (primary + 1) % 4, .weight = first, .backup = backup };
	hops[n++] = (struct to_nexthop){ .port = (primary + 2) % 4, .weight = second, .backup = backup };
	group = to_plan_add_group(&plan->tables[3], hops, n);
	assert_true((int)group >= 0);
}

static void least_share(struct to_plan *plan)
{
	weigh(plan, 255, 1, false);
}

static void too_small_share(struct to_plan *plan)
{
	weigh(plan, 1, 256, false);
}

static void least_share_of_backups(struct to_plan *plan)
{
	weigh(plan, 1, 255, true);
}

static void too_small_share_of_backups(struct to_plan *plan)
{
	weigh(plan, 65535, 257, true);
	weigh(plan, 65535, 256, true);
}

static void own_route(struct to_plan *plan)
{
	plan->tables[5].route[5 * plan->slots + 1] = 0;
}

static void link_twice(struct to_plan *plan)
{
	plan->cluster->links[1].a = plan->cluster->links[0].a;
}

static void self_link(struct to_plan *plan)
{
	plan->cluster->links[0].b.server = plan->cluster->links[0].a.server;
}

static void no_such_port(struct to_plan *plan)
{
	plan->cluster->links[0].b.port = 9;
}

static void lose_link(struct to_plan *plan)
{
	plan->cluster->n_links--;
	assert_int_equal(to_plan_index(plan), 0);
}

static void lose_cross_connect(struct to_plan *plan)
{
	plan->n_cross_connects--;
}

static void cross_twice(struct to_plan *plan)
{
	plan->cross_connects[1].a = plan->cross_connects[0].a;
}

static void two_switches(struct to_plan *plan)
{
	struct to_cluster *c = plan->cluster;
	const struct to_port_ref *a = &c->links[0].a;

	c->switches = realloc(c->switches, 2 * sizeof(*c->switches));
	c->switches[1] = c->switches[0];
	c->n_switches = 2;
	c->servers[a->server].ports[a->port].optical_switch = 1;
}

static void ring_twice(struct to_plan *plan)
{
	plan->rings[0].order[3] = plan->rings[0].order[2];
}

static void ring_other_order(struct to_plan *plan)
{
	uint32_t *order = plan->rings[0].order, other = order[3];

	order[3] = order[2];
	order[2] = other;
}

static void ring_other_jump(struct to_plan *plan)
{
	plan->rings[0].jump = 7;
}

static void ring_of_another(struct to_plan *plan)
{
	plan->cluster->links[0].ring = 1;
}

/* The path 0 - 1 - .. - 11 of ring 0 becomes a tree, and reduces alone. */
static void tree(struct to_plan *plan)
{
	struct to_cluster *c = plan->cluster;
	struct to_allreduce_tree *tree = calloc(1, sizeof(*tree));

	*tree = (struct to_allreduce_tree){ .n = 12, .share = 1, .parents = calloc(12, sizeof(uint32_t)) };
	for (unsigned int i = 0; i < 12; i++)
		tree->parents[i] = i - 1;	/* TO_SERVER_NONE at 0 */
	for (unsigned int i = 0; i < c->n_links; i++) {
		struct to_link *l = &c->links[i];

		l->tree = l->ring == 0 && l->b.server == l->a.server + 1 ? 0 : -1;
		l->use = l->tree < 0 ? TO_LINK_MP : TO_LINK_ALLREDUCE;
		l->ring = -1;
	}
	while (plan->n_rings)
		free(plan->rings[--plan->n_rings].order);
	plan->trees = tree;
	plan->n_trees = 1;
	json_object_clear(plan->predictions);
}

static void tree_cycle(struct to_plan *plan)
{
	tree(plan);
	plan->trees[0].parents[5] = 7;
}

static void tree_two_roots(struct to_plan *plan)
{
	tree(plan);
	plan->trees[0].parents[5] = TO_SERVER_NONE;
}

static void tree_outside(struct to_plan *plan)
{
	tree(plan);
	plan->demand->groups[0].n_members = plan->trees[0].n = 11;
	plan->trees[0].parents[5] = 11;
}

static void tree_short(struct to_plan *plan)
{
	tree(plan);
	plan->trees[0].n = 11;
}

static void tree_other_parent(struct to_plan *plan)
{
	tree(plan);
	plan->trees[0].parents[5] = 3;
}

static void tree_lacks_link(struct to_plan *plan)
{
	tree(plan);
	for (unsigned int i = 0; i < plan->cluster->n_links; i++)
		if (plan->cluster->links[i].a.server == 6)
			plan->cluster->links[i].tree = -1;
}

static void tree_shares(struct to_plan *plan)
{
	tree(plan);
	plan->trees[0].share = 0.75;
}

static void tree_without_share(struct to_plan *plan)
{
	tree(plan);
	plan->trees[0].share = 0;
}

static void tree_and_ring(struct to_plan *plan)
{
	uint32_t *order = memcpy(calloc(12, sizeof(*order)), plan->rings[0].order, 12 * sizeof(*order));

	tree(plan);
	plan->rings[plan->n_rings++].order = order;
}

static void no_ring(struct to_plan *plan)
{
	plan->demand->groups = realloc(plan->demand->groups, 2 * sizeof(*plan->demand->groups));
	plan->demand->groups[1] = plan->demand->groups[0];
	plan->demand->groups[1].members = calloc(12, sizeof(uint32_t));
	memcpy(plan->demand->groups[1].members, plan->demand->groups[0].members,
	       12 * sizeof(uint32_t));
	plan->demand->n_groups = 2;
}

static void wishful_prediction(struct to_plan *plan)
{
	json_object_set_new(plan->predictions, "comm_time_s", json_real(1e-3));
}

static uint16_t *shares_of(struct to_plan *plan, uint32_t src, uint32_t dst)
{
	assert_non_null(plan->port_shares);
	return &plan->port_shares[(src * 12 + dst) * (plan->slots - 1)];
}

static void more_than_all(struct to_plan *plan)
{
	shares_of(plan, 6, 0)[2] += 1;
}

static void no_share(struct to_plan *plan)
{
	memset(shares_of(plan, 6, 0), 0, (plan->slots - 1) * sizeof(uint16_t));
}

static void share_without_route(struct to_plan *plan)
{
	shares_of(plan, 0, 0)[1] = TO_PORT_SHARES;
}

static void too_long(struct to_plan *plan)
{
	plan->max_stretch = 0.9;	/* floor(2 * 0.9) */
}

/* Packets from 3 arrive at 4 by a port that has an alternate. */
static void alternate_in_use(struct to_plan *plan)
{
	unsigned int in = port_towards(plan, 4, 3);
	struct to_nexthop hops[2] = { { .port = port_towards(plan, 4, 9), .weight = 1 },
				      { .port = in, .weight = 1, .ingress = 1 + in } };

	reroute(plan, 3, 9, 0, port_towards(plan, 3, 4), -1);
	plan->tables[4].route[9 * plan->slots] = to_plan_add_group(&plan->tables[4], hops, 2);
}

/* All that 3 sends to 4 for a port of 9 is sent back to 3, and back to 4. */
static void queue_pair_loop(struct to_plan *plan)
{
	unsigned int slot;
	int group;

	for (slot = 1; ; slot++) {
		struct to_nexthop *three = first_hop(plan, 3, 9, slot), *four = first_hop(plan, 4, 9, slot);

		if (three->port != port_towards(plan, 3, 4) && four->port != port_towards(plan, 4, 3))
			break;
	}
	for (uint32_t x = 3; x <= 4; x++) {
		unsigned int to = port_towards(plan, x, 7 - x);
		struct to_nexthop hops[2] = { { .port = first_hop(plan, x, 9, slot)->port, .weight = 1 },
					      { .port = to, .weight = 1, .ingress = 1 + to } };

		group = to_plan_add_group(&plan->tables[x], hops, 2);
		plan->tables[x].route[9 * plan->slots + slot] = group;
	}
}

/* A source-qualified route that runs into the routes of the destination. */
static void pair_loop(struct to_plan *plan)
{
	struct to_table *table = &plan->tables[4];
	struct to_nexthop back = { .port = port_towards(plan, 4, 3), .weight = 1 };

	reroute(plan, 3, 9, 0, port_towards(plan, 3, 4), -1);
	reroute(plan, 4, 9, 0, port_towards(plan, 4, 9), -1);
	table->pairs = calloc(1, sizeof(*table->pairs));
	table->pairs[0] = (struct to_source_route){ 3, 9, 0, to_plan_add_group(table, &back, 1) };
	table->n_pairs = 1;
}

static void names_what_is_broken(void **state)
{
	static const struct {
		breaker *apply;
		const char *says;
	} cases[] = {
		{ drop_route, "s3 has no route to s7" },
		{ drop_port_route, "s3 has no route to s7:eth1" },
		{ loop, "packets for s9 loop: s" },
		{ loop_on_one_branch, "packets for s9 loop: s" },
		{ wrong_port, "s3 sends packets for s4:eth" },
		{ wrong_port_as_backup, "" },	/* s4 sends it on */
		{ looping_backup, "while link s3 - s2 is down, packets for s2 loop: s3 > s4 > ..." },
		{ only_backups, "of s3 has nothing but backups and alternates" },
		{ no_weight, "of s3 has a next hop of weight 0" },
		{ least_share, "" },
		{ too_small_share, "less than 1/256 of what its primaries carry" },
		{ least_share_of_backups, "" },
		{ too_small_share_of_backups, "less than 1/256 of what its backups carry" },
		{ own_route, "s5 has a route to its own address 1" },
		{ link_twice, "is on two links" },
		{ self_link, "a link joins s" },
		{ no_such_port, "a link ends at port 9 of server" },
		{ lose_link, "are joined for no link" },
		{ lose_cross_connect, "of optical switch ocs0 joined, and they are not" },
		{ cross_twice, "of optical switch ocs0 is on two cross-connects" },
		{ two_switches, "joins ports that are not on one optical switch" },
		{ ring_twice, "ring 0 visits server" },
		{ ring_other_order, "ring 0 does not follow its jump 1 after s" },
		{ ring_other_jump, "ring 0 does not follow its jump 7 after s0" },
		{ ring_of_another, "ring 0 has no link of its own from s" },
		{ tree, "" },
		{ tree_cycle, "tree 0: server 5 is on a cycle of parents" },
		{ tree_two_roots, "tree 0: servers 0 and 5 are both a root" },
		{ tree_outside, "tree 0: server 11 is no member of AllReduce group 0" },
		{ tree_short, "tree 0: expected 12 parents, for each member of AllReduce group 0" },
		{ tree_other_parent, "link s4 - s5 is no hop of its tree 0" },
		{ tree_lacks_link, "tree 0 has no link of its own between s7 and s6" },
		{ tree_shares,
		  "the shares of AllReduce group 0's trees add up to 0.75, not to 1" },
		{ tree_without_share, "a tree of AllReduce group 0 has no share" },
		{ tree_and_ring, "group 0 has rings and trees for its AllReduce" },
		{ no_ring, "group 1 has no ring or tree for its AllReduce" },
		{ more_than_all, "port shares from s6 to s0 add up to 257, not 256" },
		{ no_share, "the MP transfer from s6 to s0 has no port shares" },
		{ share_without_route, "s0 has a share for port 1 of s0 and no route to it" },
		{ too_long, "packets from s3 for s0 take up to 3 hops; max_stretch allows 2" },
		{ wishful_prediction, "predictions: comm_time_s is" },
		{ alternate_in_use, "s4 has an alternate for packets for s9 that arrive at eth" },
		{ queue_pair_loop, "that s3 sends through eth" },
		{ pair_loop, "packets from s3 for s9 loop: s" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct to_plan *plan = good();
		const char *line;

		assert_string_equal(verdict(plan), "");
		cases[i].apply(plan);
		line = verdict(plan);
		if (*cases[i].says ? !strstr(line, cases[i].says) : *line)
			fail_msg("case %u wants '%s', verify says '%s'", i, cases[i].says, line);
		to_plan_free(plan);
	}
}

/*
 * The oracle: every branch of the packets from one source for one address, as relays
 * and RDMA NICs see them.
 */
enum end { ARRIVE, LOST, LOOP };

struct packets {
	const struct to_plan *plan;
	uint32_t src, dst;
	unsigned int slot;
	const bool *down;		/* per link */
	const struct to_port_ref *dead;	/* function whose server alone sees that it is down */
	bool used[64], met[16];		/* links and servers, if wanted */
	bool on_path[16][16];		/* server, port that they arrived at */
};

#define NO_PORT 15

static int link_from(const struct to_plan *plan, uint32_t server, unsigned int port)
{
	const struct to_cluster *c = plan->cluster;

	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		if ((l->a.server == server && l->a.port == port) ||
		    (c->link_mode == TO_LINKS_DUPLEX && l->b.server == server && l->b.port == port))
			return i;
	}
	return -1;
}

/* The link that leads into a port. */
static int link_into(const struct to_plan *plan, uint32_t server, unsigned int port)
{
	const struct to_cluster *c = plan->cluster;

	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct to_link *l = &c->links[i];

		if ((l->b.server == server && l->b.port == port) ||
		    (c->link_mode == TO_LINKS_DUPLEX && l->a.server == server && l->a.port == port))
			return i;
	}
	return -1;
}

static bool is_dead(const struct packets *p, uint32_t server, unsigned int port)
{
	return p->dead && p->dead->server == server && p->dead->port == port;
}

static bool port_up(const struct packets *p, uint32_t server, unsigned int port)
{
	int link = link_from(p->plan, server, port);

	return link >= 0 && !p->down[link] && !is_dead(p, server, port);
}

static const struct to_group *group_of(const struct packets *p, uint32_t at)
{
	const struct to_table *table = &p->plan->tables[at];
	uint16_t route = table->route[p->dst * p->plan->slots + p->slot];

	for (unsigned int i = 0; i < table->n_pairs; i++)
		if (table->pairs[i].src == p->src && table->pairs[i].dst == p->dst &&
		    table->pairs[i].slot == p->slot)
			route = table->pairs[i].group;
	return route == TO_GROUP_NONE ? NULL : &table->groups[route];
}

/* Ports that packets leave by, as a mask. */
static unsigned int ports_out(const struct packets *p, uint32_t at, unsigned int in)
{
	const struct to_group *group;
	unsigned int out[2] = { 0 };

	if (at == p->dst)
		return port_up(p, at, p->slot - 1) ? 1u << (p->slot - 1) : 0;
	group = group_of(p, at);
	for (unsigned int k = 0; group && k < group->n; k++) {
		const struct to_nexthop *hop = &group->nexthops[k];

		if (!port_up(p, at, hop->port))
			continue;
		if (!hop->ingress)
			out[hop->backup] |= 1u << hop->port;
		else if (in != NO_PORT && hop->ingress == in + 1)
			return 1u << hop->port;
	}
	return out[0] ? out[0] : out[1];
}

static enum end follow(struct packets *p, uint32_t at, unsigned int in)
{
	enum end worst = ARRIVE;
	unsigned int out;

	if (in != NO_PORT && is_dead(p, at, in))
		return LOST;
	if (at == p->dst && (!p->slot || in == p->slot - 1))
		return ARRIVE;
	if (p->on_path[at][in])
		return LOOP;
	out = ports_out(p, at, in);
	p->met[at] = true;
	p->on_path[at][in] = true;
	for (unsigned int q = 0; q < NO_PORT; q++) {
		struct to_port_ref peer;
		enum end end;

		if (!(out >> q & 1))
			continue;
		p->used[link_from(p->plan, at, q)] = true;
		assert_int_equal(to_plan_peer(p->plan, (struct to_port_ref){ at, q }, &peer), 0);
		end = follow(p, peer.server, peer.port);
		worst = end > worst ? end : worst;
	}
	p->on_path[at][in] = false;
	return out ? worst : LOST;
}

/* Whether they arrive while nothing is broken. */
static bool follows(const struct to_plan *plan, uint32_t src, uint32_t dst, unsigned int slot)
{
	bool down[64] = { false };
	struct packets p = { .plan = plan, .src = src, .dst = dst, .slot = slot, .down = down };

	return follow(&p, src, NO_PORT) == ARRIVE;
}

/* Could any tables bring packets there? */
static bool could_arrive(struct packets *p, uint32_t at, unsigned int in, bool seen[16][16])
{
	if (in != NO_PORT && is_dead(p, at, in))
		return false;
	if (at == p->dst && (!p->slot || in == p->slot - 1))
		return true;
	if (seen[at][in])
		return false;
	seen[at][in] = true;
	for (unsigned int q = 0; q < p->plan->slots - 1; q++) {
		struct to_port_ref peer;

		if (!port_up(p, at, q) || (at == p->dst && q != p->slot - 1))
			continue;
		assert_int_equal(to_plan_peer(p->plan, (struct to_port_ref){ at, q }, &peer), 0);
		if (could_arrive(p, peer.server, peer.port, seen))
			return true;
	}
	return false;
}

static void count_failure(struct packets *p, const bool *down, const struct to_port_ref *dead,
			  struct to_failure_cases *c)
{
	struct packets broken = { .plan = p->plan, .src = p->src, .dst = p->dst,
				  .slot = p->slot, .down = down, .dead = dead };
	int last = p->slot ? link_into(p->plan, p->dst, p->slot - 1) : -1;
	bool seen[16][16] = { { false } };

	c->cases++;
	if (follow(&broken, p->src, NO_PORT) == ARRIVE)
		c->covered++;
	else if (p->slot && (down[last] ||
			     (dead && link_from(p->plan, dead->server, dead->port) == last)))
		c->last_hops++;
	else if (could_arrive(&broken, p->src, NO_PORT, seen))
		c->uncovered++;
	else
		c->disconnected++;
}

/* Whether one cut takes both. */
static bool on_one_cable(const struct to_cluster *c, const struct to_link *l, const struct to_link *m)
{
	const struct to_server *server = &c->servers[l->a.server];

	return l == m ||
	       (m->a.server == l->a.server && to_port_shares_cable(server, m->a.port, l->a.port)) ||
	       (m->b.server == l->a.server && to_port_shares_cable(server, m->b.port, l->a.port));
}

static void count_failures(struct packets *p, struct to_verify_report *report)
{
	const struct to_cluster *c = p->plan->cluster;
	bool down[64] = { false };

	for (unsigned int i = 0; i < c->n_links; i++) {
		bool used = false, earlier = false;

		for (unsigned int k = 0; k < c->n_links; k++) {
			down[k] = on_one_cable(c, &c->links[i], &c->links[k]);
			used |= down[k] && p->used[k];
			earlier |= down[k] && k < i;
		}
		if (used && !earlier)
			count_failure(p, down, NULL, &report->links);
		memset(down, 0, sizeof(down));
		for (unsigned int end = 0; end < 2; end++) {
			const struct to_port_ref *at = end ? &c->links[i].b : &c->links[i].a;

			if (p->used[i] && to_port_is_function(&c->servers[at->server], at->port))
				count_failure(p, down, at, &report->functions);
		}
	}
	for (uint32_t x = 0; x < c->n_servers; x++) {
		if (!p->met[x] || x == p->src || x == p->dst)
			continue;
		for (unsigned int i = 0; i < c->n_links; i++)
			down[i] = c->links[i].a.server == x || c->links[i].b.server == x;
		count_failure(p, down, NULL, &report->servers);
	}
}

/* Whether packets for an address go into port @in of @at while nothing is broken. */
static bool taken(const struct to_plan *plan, uint32_t at, unsigned int in, uint32_t dst,
		  unsigned int slot)
{
	for (uint32_t x = 0; x < plan->cluster->n_servers; x++) {
		const struct to_table *table = &plan->tables[x];
		uint16_t route = table->route[dst * plan->slots + slot];

		for (unsigned int k = 0; route != TO_GROUP_NONE && k < table->groups[route].n; k++) {
			struct to_nexthop *hop = &table->groups[route].nexthops[k];
			struct to_port_ref peer;

			if (to_nexthop_primary(hop) &&
			    !to_plan_peer(plan, (struct to_port_ref){ x, hop->port }, &peer) &&
			    peer.server == at && peer.port == in)
				return true;
		}
	}
	return false;
}

/* Give @server more backups and alternates for an address, at random. */
static void turn(struct to_plan *plan, uint32_t server, uint32_t dst, unsigned int slot,
		 uint64_t *random)
{
	struct to_table *table = &plan->tables[server];
	uint16_t *route = &table->route[dst * plan->slots + slot];
	struct to_nexthop hops[3 * TO_PORTS_MAX];
	unsigned int n, ports = plan->slots - 1;
	int group;

	n = table->groups[*route].n;
	memcpy(hops, table->groups[*route].nexthops, n * sizeof(*hops));
	for (unsigned int q = 0; q < ports; q++) {
		bool one = false, port = false;
		unsigned int out = to_random_below(random, ports);

		if (link_from(plan, server, out) < 0)
			continue;
		for (unsigned int k = 0; k < n; k++) {
			one |= hops[k].ingress == q + 1;
			port |= !hops[k].ingress && hops[k].port == out;
		}
		if (!port && !to_random_below(random, 3))
			hops[n++] = (struct to_nexthop){ .port = out, .weight = 1, .backup = true };
		if (!one && !taken(plan, server, q, dst, slot) && to_random_below(random, 4))
			hops[n++] = (struct to_nexthop){ .port = out, .weight = 1, .ingress = q + 1 };
	}
	group = to_plan_add_group(table, hops, n);
	assert_true(group >= 0);
	*route = group;
}

/* A route of its own for one source, often a neighbour's only. */
static void qualify(struct to_plan *plan, uint64_t *random)
{
	unsigned int n = plan->cluster->n_servers, at, other;
	uint32_t server = to_random_below(random, n), src = to_random_below(random, 2) ?
			  server : to_random_below(random, n), dst = to_random_below(random, n);
	unsigned int slot = to_random_below(random, plan->slots);
	struct to_table *table = &plan->tables[server];
	uint16_t route = table->route[dst * plan->slots + slot];

	if (src == dst || route == TO_GROUP_NONE)
		return;
	for (at = 0; at < table->n_pairs; at++)
		if (table->pairs[at].src == src && table->pairs[at].dst == dst &&
		    table->pairs[at].slot == slot)
			return;
	other = to_random_below(random, table->n_groups);
	table->pairs = realloc(table->pairs, (table->n_pairs + 1) * sizeof(*table->pairs));
	assert_non_null(table->pairs);
	table->pairs[table->n_pairs++] = (struct to_source_route){ src, dst, slot, other };
	to_plan_sort_pairs(table);
}

struct failure_lines {
	unsigned int n, loops;
};

static void failure_line(void *data, const char *line)
{
	struct failure_lines *lines = data;

	lines->n++;
	lines->loops += !!strstr(line, "is down") && strstr(line, "loop");
}

static void turn_some(struct to_plan *plan, uint64_t *random)
{
	unsigned int share = 1 + to_random_below(random, 4);

	for (uint32_t x = 0; x < plan->cluster->n_servers; x++)
		for (uint32_t dst = 0; dst < plan->cluster->n_servers; dst++)
			for (unsigned int slot = 0; slot < plan->slots; slot++)
				if (plan->tables[x].route[dst * plan->slots + slot] != TO_GROUP_NONE &&
				    !to_random_below(random, share))
					turn(plan, x, dst, slot, random);
}

static void assert_same_cases(const struct to_failure_cases *a, const struct to_failure_cases *b)
{
	assert_int_equal(a->cases, b->cases);
	assert_int_equal(a->covered, b->covered);
	assert_int_equal(a->last_hops, b->last_hops);
	assert_int_equal(a->disconnected, b->disconnected);
	assert_int_equal(a->uncovered, b->uncovered);
}

/* Every failure in every plan is what verify says it is. */
static void failures_are_what_packets_see(void **state)
{
	struct to_failure_cases all = { 0 }, functions = { 0 };
	const struct to_planner_knobs fixed = { .fixed = true, .seed = 1, .effort = TO_EFFORT_MIN };
	unsigned int looping = 0, qualified = 0;
	uint64_t random = 21;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		unsigned int n = 3 + to_random_below(&random, 6);
		unsigned int degree = 2 + to_random_below(&random, 3);
		enum to_link_mode mode = to_random_below(&random, 3) ? TO_LINKS_DUPLEX : TO_LINKS_SIMPLEX;
		bool turned = to_random_below(&random, 4);
		struct to_error err = { "" };
		struct to_cluster *cabled = round < 150 ? NULL : job_cabled(n, NO_PORT, &random);
		struct to_plan *plan = cabled ?
			to_planner_make(cabled, job_random(n, &random), &fixed, &err) :
			job_plan(job_random(n, &random), degree, mode, &err);
		struct to_verify_report report, truth = { 0 };
		bool down[64] = { false };
		struct failure_lines lines = { .n = 0 };

		assert_string_equal(err.text, "");
		if (turned)
			turn_some(plan, &random);
		for (unsigned int i = turned ? to_random_below(&random, 40) : 0; i; i--)
			qualify(plan, &random);
		assert_int_equal(to_verify(plan, failure_line, &lines, &report), 0);
		if (!turned)
			assert_int_equal(lines.n, 0);
		for (uint32_t dst = 0; dst < n; dst++) {
			for (unsigned int slot = 0; slot < plan->slots; slot++) {
				for (uint32_t src = 0; src < n; src++) {
					struct packets p = { .plan = plan, .src = src, .dst = dst,
							     .slot = slot, .down = down };

					if (src == dst || (slot && link_into(plan, dst, slot - 1) < 0))
						continue;
					if (follow(&p, src, NO_PORT) == ARRIVE)
						count_failures(&p, &truth);
					else if (!turned)
						assert_true(report.unreachable);
				}
			}
		}
		assert_same_cases(&report.links, &truth.links);
		assert_same_cases(&report.servers, &truth.servers);
		assert_same_cases(&report.functions, &truth.functions);
		assert_int_equal(report.n_unprotected, truth.links.uncovered < TO_UNPROTECTED_MAX ?
				 truth.links.uncovered : TO_UNPROTECTED_MAX);
		looping += lines.loops;
		for (uint32_t x = 0; x < n; x++)
			qualified += plan->tables[x].n_pairs;
		all.covered += truth.links.covered;
		all.last_hops += truth.links.last_hops;
		all.disconnected += truth.links.disconnected;
		all.uncovered += truth.links.uncovered;
		functions.covered += truth.functions.covered;
		functions.last_hops += truth.functions.last_hops;
		functions.uncovered += truth.functions.uncovered;
		to_plan_free(plan);
	}
	assert_true(all.covered && all.last_hops && all.disconnected && all.uncovered);
	assert_true(functions.covered && functions.last_hops && functions.uncovered);
	assert_true(looping && qualified);
}

/* One random change of what a table says, within what the format allows. */
static void change(struct to_plan *plan, uint64_t *random)
{
	unsigned int n = plan->cluster->n_servers;
	struct to_table *table = &plan->tables[to_random_below(random, n)];
	struct to_group *group = &table->groups[to_random_below(random, table->n_groups)];
	struct to_nexthop *hop = &group->nexthops[to_random_below(random, group->n)];
	uint16_t *route = &table->route[to_random_below(random, n * plan->slots)];
	uint16_t other = to_random_below(random, table->n_groups);

	switch (to_random_below(random, 5)) {
	case 0:
		*route = TO_GROUP_NONE;
		break;
	case 1:
		*route = other;
		break;
	case 2:
		hop->port = to_random_below(random, plan->slots - 1);
		break;
	case 3:
		hop->backup = !hop->backup;
		break;
	case 4:
		table->pairs = realloc(table->pairs, (table->n_pairs + 1) * sizeof(*table->pairs));
		table->pairs[table->n_pairs++] = (struct to_source_route){
			to_random_below(random, n), to_random_below(random, n),
			to_random_below(random, plan->slots), other };
		to_plan_sort_pairs(table);
		break;
	}
}

/* What verify passes arrives, whatever was done to the tables. */
static void passes_nothing_that_loses_packets(void **state)
{
	const unsigned int rounds = getenv("TEST_ALL") ? 3000 : 1000;
	unsigned int passed = 0, refused = 0;
	uint64_t random = 8;

	(void)state;
	for (unsigned int round = 0; round < rounds; round++) {
		unsigned int n = 3 + to_random_below(&random, 4);
		struct to_error err = { "" };
		struct to_plan *plan = job_plan_any(job_random(n, &random),
						    2 + to_random_below(&random, 3),
						    to_random_below(&random, 2), &err);
		bool all = true;

		assert_string_equal(err.text, "");
		for (unsigned int i = 1 + to_random_below(&random, 3); i; i--)
			change(plan, &random);
		if (strcmp(verdict(plan), "")) {
			refused++;
			to_plan_free(plan);
			continue;
		}
		passed++;
		for (uint32_t dst = 0; dst < n; dst++)
			for (uint32_t src = 0; src < n; src++)
				for (unsigned int slot = 0; slot < plan->slots; slot++)
					if (src != dst && plan->tables[src].route[dst * plan->slots + slot] !=
							  TO_GROUP_NONE)
						all &= follows(plan, src, dst, slot);
					else if (src != dst && !slot)
						all = false;
		assert_true(all);
		to_plan_free(plan);
	}
	assert_true(passed > 50 && refused > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_what_is_broken),
		cmocka_unit_test(failures_are_what_packets_see),
		cmocka_unit_test(passes_nothing_that_loses_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
