// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/status_peers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "verify/walk.h"

#define ETHERNET_HEADER 14	/* bytes of a frame beside its MTU */

/* --- neighbours --- */

int to_status_peers_read(struct to_status *st, const json_t *now)
{
	for (unsigned int i = 0; i < st->plan->cluster->n_servers; i++) {
		struct to_status_server *s = &st->servers[i];
		const json_t *reply = to_status_reply(now, s->name);
		int ret;

		if (!s->reached)
			continue;
		s->down = json_is_false(json_object_get(reply, "up"));
		ret = to_peers_read(json_object_get(reply, "peers"), &s->peers, &s->n_peers);
		if (ret == -ENOMEM)
			return ret;
		s->checked = !ret;
	}
	return 0;
}

/* What @at says of its neighbour @end; NULL when it expects none, or was not reached. */
static const struct to_peer *peers_view(const struct to_status *st, struct to_port_ref at,
					struct to_port_ref end)
{
	const struct to_server *servers = st->plan->cluster->servers;
	const struct to_status_server *s = &st->servers[at.server];

	return to_peers_find(s->peers, s->n_peers, servers[at.server].ports[at.port].name,
			     servers[end.server].name);
}

/*
 * What others hear of a server whose agent does not answer: TOPOOPT_CHECK_REASON_*, -1 when nobody
 * would hear it.
 */
static int peers_rumour(const struct to_status *st, const char *server)
{
	int rumour = -1;

	for (unsigned int i = 0; i < st->plan->cluster->n_servers; i++)
		for (unsigned int p = 0; p < st->servers[i].n_peers; p++) {
			const struct to_peer *peer = &st->servers[i].peers[p];

			if (strcmp(peer->server, server))
				continue;
			if (peer->reason == TOPOOPT_CHECK_REASON_HEARD)
				return peer->reason;
			if (rumour < 0 || peer->reason == TOPOOPT_CHECK_REASON_NO_TABLE ||
			    peer->reason == TOPOOPT_CHECK_REASON_DOWN)
				rumour = peer->reason;
		}
	return rumour;
}

/* Whether a server relays and takes no packets, or that is not known. */
static bool peers_server_is_out(const struct to_status *st, const struct to_status_server *s)
{
	if (!s->reached || s->error[0])
		return peers_rumour(st, s->name) != TOPOOPT_CHECK_REASON_HEARD;
	return s->down || !s->generation || s->table == TO_STATUS_TABLE_OTHER || s->astray;
}

/* A duplex link is two views; a simplex link, which is no view, has none. */
struct link_views {
	struct to_port_ref a, b;
	const struct to_peer *of_a, *of_b;
};

static struct link_views peers_of_link(const struct to_status *st, const struct to_link *link)
{
	return (struct link_views){ link->a, link->b, peers_view(st, link->a, link->b),
				    peers_view(st, link->b, link->a) };
}

void to_status_peers_count(struct to_status *st)
{
	const struct to_cluster *c = st->wanted->cluster;

	for (unsigned int i = 0; i < c->n_links; i++) {
		const struct link_views v = peers_of_link(st, &c->links[i]);
		const struct to_peer *views[] = { v.of_a, v.of_b };

		for (unsigned int k = 0; k < 2; k++) {
			st->expected += views[k] != NULL;
			st->heard += views[k] && views[k]->reason == TOPOOPT_CHECK_REASON_HEARD;
		}
	}
}

/* --- what is wrong --- */

static bool peers_is(const struct to_peer *peer, enum topoopt_check_reason reason)
{
	return peer && peer->reason == reason;
}

/* Both ends are silent, or one is: what passes in which direction. */
static void peers_check_silence(struct to_status *st, const struct link_views *v)
{
	char a[TO_STATUS_END], b[TO_STATUS_END];
	const bool from_a = peers_is(v->of_b, TOPOOPT_CHECK_REASON_SILENT) ||
			    peers_is(v->of_a, TOPOOPT_CHECK_REASON_UNHEARD);
	const bool from_b = peers_is(v->of_a, TOPOOPT_CHECK_REASON_SILENT) ||
			    peers_is(v->of_b, TOPOOPT_CHECK_REASON_UNHEARD);
	const bool never = (!v->of_a || !v->of_a->received) && (!v->of_b || !v->of_b->received);

	to_status_end(st, v->a, a);
	to_status_end(st, v->b, b);
	if (from_a && from_b)
		to_check_add(&st->checks, TO_CHECK_FAIL, "link", a,
			     never ? "look where the cable leads; a module without checks is named in \"unable\" of the plan's \"checks\"" :
				     "replace the cable or its transceivers: toctl doctor PLAN probes it",
			     "has light, but nothing passes to or from %s%s", b,
			     never ? ", which was never heard" : "");
	else if (from_a || from_b)
		to_check_add(&st->checks, TO_CHECK_FAIL, "link", from_a ? a : b,
			     "replace the cable or its transceivers: toctl doctor PLAN probes it",
			     "has light, but nothing passes from here to %s: one way is dead",
			     from_a ? b : a);
}

/* A server that is heard where the plan says another one. */
static bool peers_check_stranger(struct to_status *st, struct to_port_ref at,
				 const struct to_peer *peer)
{
	char end[TO_STATUS_END], text[TO_PEER_WORDS];

	if (!peers_is(peer, TOPOOPT_CHECK_REASON_STRANGER))
		return false;
	to_check_add(&st->checks, TO_CHECK_FAIL, "cabling", to_status_end(st, at, end),
		     "plug the cable where the plan says; toctl discover prints the cabling that is there",
		     "%s", to_peer_reason_words(peer, st->servers[at.server].name, text));
	return true;
}

/* What one end says, but for silence, and for servers of which more than one neighbour says it. */
static void peers_check_end(struct to_status *st, struct to_port_ref at, const struct to_peer *peer)
{
	char end[TO_STATUS_END], text[TO_PEER_WORDS];

	if (peers_is(peer, TOPOOPT_CHECK_REASON_FABRIC))
		to_check_add(&st->checks, TO_CHECK_FAIL, "link", to_status_end(st, at, end),
			     "give both servers one plan: toctl apply --all PLAN", "%s",
			     to_peer_reason_words(peer, st->servers[at.server].name, text));
	else if (peers_is(peer, TOPOOPT_CHECK_REASON_RECOVERING))
		to_check_add(&st->checks, TO_CHECK_WARN, "link", to_status_end(st, at, end), NULL,
			     "%s", to_peer_reason_words(peer, st->servers[at.server].name, text));
}

static unsigned int peers_mtu(const struct to_status *st, const json_t *now, struct to_port_ref at)
{
	const struct to_server *server = &st->plan->cluster->servers[at.server];
	const json_t *port = to_status_port(to_status_reply(now, server->name),
					    server->ports[at.port].name);

	return st->servers[at.server].reached ?
	       json_integer_value(json_object_get(port, "mtu")) : 0;
}

/* One end that takes less than the other one sends. */
static void peers_check_mtu(struct to_status *st, const struct link_views *v, const json_t *now)
{
	const unsigned int a = peers_mtu(st, now, v->a), b = peers_mtu(st, now, v->b);
	const struct to_peer *views[] = { v->of_a, v->of_b };
	const struct to_port_ref ends[] = { v->a, v->b };
	char from[TO_STATUS_END], to[TO_STATUS_END];

	if (a && b && a != b) {
		to_check_add(&st->checks, TO_CHECK_FAIL, "mtu",
			     to_status_end(st, a < b ? v->a : v->b, from),
			     "give both ends one MTU: ip link set DEV mtu N",
			     "%u, while %s has %u", a < b ? a : b,
			     to_status_end(st, a < b ? v->b : v->a, to), a < b ? b : a);
		return;
	}
	for (unsigned int k = 0; k < 2; k++) {
		const unsigned int mtu = k ? b : a;

		if (!mtu || !peers_is(views[k], TOPOOPT_CHECK_REASON_HEARD) || !views[k]->largest ||
		    views[k]->largest >= mtu + ETHERNET_HEADER)
			continue;
		to_check_add(&st->checks, TO_CHECK_FAIL, "mtu", to_status_end(st, ends[k], from),
			     "something between the two ends takes less: a media converter, a switch",
			     "%u, but %s never got a frame of more than %u bytes", mtu,
			     to_status_end(st, ends[!k], to), views[k]->largest);
	}
}

static void peers_check_link(struct to_status *st, const struct to_link *link, const json_t *now)
{
	const struct link_views v = peers_of_link(st, link);
	bool stranger;

	/* a cable that is dark says so itself */
	if (!to_status_lit(st, now, v.a) || !to_status_lit(st, now, v.b))
		return;
	stranger = peers_check_stranger(st, v.a, v.of_a);
	stranger |= peers_check_stranger(st, v.b, v.of_b);
	/* a server that is out says so itself */
	if (!stranger && !peers_server_is_out(st, &st->servers[v.a.server]) &&
	    !peers_server_is_out(st, &st->servers[v.b.server]))
		peers_check_silence(st, &v);
	peers_check_end(st, v.a, v.of_a);
	peers_check_end(st, v.b, v.of_b);
	peers_check_mtu(st, &v, now);
}

/* Servers that say of themselves that they relay nothing, or of which their neighbours hear it. */
static void peers_check_server(struct to_status *st, const struct to_status_server *s)
{
	const int rumour = s->reached ? -1 : peers_rumour(st, s->name);

	if (s->down || rumour == TOPOOPT_CHECK_REASON_DOWN)
		to_check_add(&st->checks, TO_CHECK_FAIL, "device", s->name,
			     "ip link set topo0 up on this server",
			     "the topoopt device is down: the server relays nothing");
	if (rumour == TOPOOPT_CHECK_REASON_NO_TABLE)
		to_check_add(&st->checks, TO_CHECK_FAIL, "plan", s->name, "toctl apply --all PLAN",
			     "no plan is active, its neighbours hear");
	if (rumour == TOPOOPT_CHECK_REASON_SILENT)
		to_check_add(&st->checks, TO_CHECK_FAIL, "server", s->name,
			     "see that the server is up", "no neighbour hears it");
}

void to_status_peers_check(struct to_status *st, const json_t *now)
{
	const struct to_cluster *c = st->wanted->cluster;

	for (unsigned int i = 0; i < c->n_servers; i++)
		peers_check_server(st, &st->servers[i]);
	for (unsigned int i = 0; i < c->n_links; i++)
		peers_check_link(st, &c->links[i], now);
}

/* --- who reaches whom --- */

/* Whether packets go from a port to its neighbour, as the sender sees it. */
static bool pairs_passes(const struct to_status *st, const json_t *now, struct to_port_ref from,
			 struct to_port_ref to)
{
	const struct to_peer *seen = peers_view(st, from, to), *back = peers_view(st, to, from);

	if (!to_status_lit(st, now, from) || !to_status_lit(st, now, to))
		return false;
	if (seen)
		return seen->transit || seen->local;
	return !back || back->transit || back->local;
}

/* Pairs of all servers to one, of which @dead arcs are down. */
struct pairs {
	struct to_status *st;
	struct to_graph *graph;
	struct to_forwarding f;
	struct to_walk walk;
	bool *out, *apart, *arrives;	/* per server */
	bool any;			/* something is out or down */
	struct to_arena arena;
};

static int pairs_init(struct pairs *p, struct to_status *st, const json_t *now)
{
	const struct to_cluster *c = st->plan->cluster;
	const struct to_graph *g = p->graph = to_graph_new(c->n_servers, c->links, c->n_links,
							   c->link_mode);

	p->st = st;
	p->out = to_arena_array(&p->arena, c->n_servers, sizeof(*p->out));
	p->apart = to_arena_array(&p->arena, c->n_servers, sizeof(*p->apart));
	p->arrives = to_arena_array(&p->arena, c->n_servers, sizeof(*p->arrives));
	if (p->arena.failed || !g || to_forwarding_init(&p->f, st->plan, g) ||
	    to_walk_init(&p->walk, &p->f))
		return -ENOMEM;
	for (unsigned int i = 0; i < c->n_servers; i++)
		p->any |= p->out[i] = peers_server_is_out(st, &st->servers[i]);
	for (uint32_t a = 0; a < g->n_arcs; a++) {
		const uint32_t x = g->from[a];

		if (!p->out[x] && !p->out[g->to[a]] &&
		    pairs_passes(st, now, (struct to_port_ref){ x, g->port[a] },
				 (struct to_port_ref){ g->to[a], g->peer_port[a] }))
			continue;
		p->walk.down[x] |= 1ull << (a - g->out[x]);
		p->any = true;
	}
	return 0;
}

/* Which servers' packets arrive at the node address of @dst. @at: place in f->qualified */
static void pairs_walk(struct pairs *p, uint32_t dst, unsigned int *at)
{
	struct to_forwarding *f = &p->f;

	memset(p->apart, 0, p->graph->n * sizeof(*p->apart));
	memset(p->arrives, 0, p->graph->n * sizeof(*p->arrives));
	while (*at < f->n_qualified && f->qualified[*at].dst < dst)
		++*at;
	while (*at < f->n_qualified && f->qualified[*at].dst == dst && !f->qualified[*at].slot) {
		const uint32_t src = f->qualified[*at].src;
		const unsigned int first = *at;

		while (*at < f->n_qualified && f->qualified[*at].dst == dst &&
		       !f->qualified[*at].slot && f->qualified[*at].src == src)
			++*at;
		p->apart[src] = true;
		to_forwarding_resolve(f, dst, 0);
		to_forwarding_qualify(f, first, *at);
		to_walk_begin(&p->walk);
		p->arrives[src] = to_walk(&p->walk, src, UINT32_MAX) == TO_WALK_ARRIVE;
	}
	to_forwarding_resolve(f, dst, 0);
	to_walk_begin(&p->walk);
	for (uint32_t src = 0; src < p->graph->n; src++)
		if (src != dst && !p->apart[src])
			p->arrives[src] = to_walk(&p->walk, src, UINT32_MAX) == TO_WALK_ARRIVE;
}

static void pairs_count(struct pairs *p)
{
	const unsigned int n = p->graph->n;
	struct to_status *st = p->st;
	unsigned int at = 0;

	for (uint32_t dst = 0; dst < n; dst++) {
		if (p->any)
			pairs_walk(p, dst, &at);
		for (uint32_t src = 0; src < n; src++) {
			const struct to_table *table = &st->wanted->tables[src];

			if (src == dst ||
			    table->route[(size_t)dst * st->wanted->slots] == TO_GROUP_NONE)
				continue;
			st->pairs++;
			if (!p->any || (p->arrives[src] && !p->out[src] && !p->out[dst]))
				continue;
			if (!st->apart++) {
				st->apart_from = src;
				st->apart_to = dst;
			}
		}
	}
}

int to_status_pairs(struct to_status *st, const json_t *now)
{
	struct pairs p = {};
	int ret = pairs_init(&p, st, now);

	if (!ret)
		pairs_count(&p);
	to_walk_free(&p.walk);
	to_forwarding_free(&p.f);
	to_graph_free(p.graph);
	to_arena_free(&p.arena);
	return ret;
}
