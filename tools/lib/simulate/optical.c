// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/optical.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/effort.h"
#include "base/quantity.h"

#define OPTICAL_EVERY 5		/* times dark: as TopoOpt's 50 ms to its 10 ms */
/* of SiP-Ring: SiP-ML, section 4.1 */
#define OPTICAL_SIP_DARK 25e-6
#define OPTICAL_SIP_EVERY 100e-6

static const struct optical_word {
	const char *name;
	struct to_optical_setting setting;
} optical_words[] = {
	{ "topoopt-reconfig", { .dark = 10e-3, .every = 50e-3,
				.discount = TO_DISCOUNT_EXPONENTIAL } },
	{ "sip-ring", { .dark = OPTICAL_SIP_DARK, .every = OPTICAL_SIP_EVERY,
			.discount = TO_DISCOUNT_NONE } },
};

/* "10us", up to the comma or the end; where that is. */
static const char *optical_duration(const char *text, double *seconds)
{
	const size_t len = strcspn(text, ",");
	char duration[32] = "";
	uint64_t ns;

	if (len >= sizeof(duration))
		return NULL;
	memcpy(duration, text, len);
	if (!to_quantity_duration(duration, &ns))
		return NULL;
	*seconds = ns * 1e-9;
	return text + len;
}

/* "10us" and what may follow; NULL where it is not that. */
static const char *optical_read(const char *text, struct to_optical_setting *s)
{
	*s = (struct to_optical_setting){ .discount = TO_DISCOUNT_EXPONENTIAL };
	text = optical_duration(text, &s->dark);
	s->every = OPTICAL_EVERY * s->dark;
	if (text && !strncmp(text, ",every=", 7))
		text = optical_duration(text + 7, &s->every);
	return text;
}

int to_optical_named(const char *word, struct to_optical_setting *s, struct to_error *err)
{
	const char *rest = NULL;
	struct to_sip sip;
	int ret = to_sip_read(word, &sip, err);

	if (ret) {
		*s = (struct to_optical_setting){ .sip = sip, .dark = OPTICAL_SIP_DARK,
						  .every = sip.ring ? OPTICAL_SIP_EVERY : INFINITY };
		return ret;
	}
	for (unsigned int i = 0; i < sizeof(optical_words) / sizeof(*optical_words); i++) {
		const size_t len = strlen(optical_words[i].name);

		if (strncmp(word, optical_words[i].name, len) || (word[len] && word[len] != ','))
			continue;
		*s = optical_words[i].setting;
		rest = word + len;
	}
	if (!strncmp(word, "ocs:", 4)) {
		rest = optical_read(word + 4, s);
		if (!rest)
			rest = "?";
		else if (!(s->every > s->dark))
			return to_error_set(err, -EINVAL,
					    "\"%s\" decides again before its links are there", word);
	}
	if (!rest)
		return 0;
	s->relayed = !strcmp(rest, ",relay");
	if (*rest && !s->relayed)
		return to_error_set(err, -EINVAL, "expected one of " TO_FABRIC_WORDS
				    ", not \"%s\"", word);
	return 1;
}

static void optical_free(struct to_optical *o)
{
	to_optical_sip_free(o->sip);
	to_cluster_free(o->cluster);
	free(o->count);
	free(o->next);
	free(o);
}

/* A link for each port or peer, which leads back as long as there is none. */
static struct to_network *optical_network(const struct to_network_setting *s, unsigned int degree)
{
	const double capacity = s->degree * (s->bandwidth / 8.) / degree;
	struct to_network *w = to_network_new(s->servers, 0);

	for (uint32_t x = 0; w && x < s->servers; x++)
		for (unsigned int q = 0; q < degree; q++)
			to_network_add(w, x, x, capacity, s->latency);
	if (!w || to_network_finish(w)) {
		to_network_free(w);
		return NULL;
	}
	for (uint32_t i = 0; i < w->n_links; i++)
		w->links[i].port = i % degree;
	return w;
}

struct to_router *to_router_optical(const struct to_network_setting *servers,
				    const struct to_optical_setting *setting,
				    const struct to_shortest_options *options,
				    struct to_error *err)
{
	const size_t n = servers->servers;
	const bool sip = setting->sip.ports;
	struct to_network *w = optical_network(servers, sip ? to_optical_sip_peers(&setting->sip) :
							      servers->degree);
	struct to_router *router = w ? to_router_shortest(w, options, err) : NULL;
	struct to_optical *o = router ? calloc(1, sizeof(*o)) : NULL;

	if (!o) {
		to_router_free(router);
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	router->optical = o;
	router->optical_free = optical_free;
	o->setting = *setting;
	o->algorithm = options->algorithm;
	o->degree = servers->degree;
	o->seed = options->seed;
	if (sip) {
		o->sip = to_optical_sip_new(&setting->sip, n,
					    servers->degree * (servers->bandwidth / 8.), err);
		if (o->sip)
			return router;
		to_router_free(router);
		return NULL;
	}
	o->cluster = to_cluster_synthetic(n, servers->degree, servers->bandwidth,
					  TO_LINKS_DUPLEX, err);
	o->count = calloc(n * n, sizeof(*o->count));
	if (o->cluster && o->count)
		return router;
	if (o->cluster)
		to_error_set(err, -ENOMEM, "out of memory");
	to_router_free(router);
	return NULL;
}

/* Take the links of @b over, and tell whether a pair has not as many as now. */
static int optical_take(struct to_optical *o, struct to_builder *b, const uint8_t *count)
{
	const size_t n = b->n;

	free(o->next);
	o->next = b->layout.links;
	o->n_next = b->layout.n_links;
	b->layout.links = NULL;
	b->layout.n_links = 0;
	return !!memcmp(o->count, count, n * n * sizeof(*count));
}

int to_optical_decide(struct to_router *router, const uint64_t *unsent, struct to_error *err)
{
	struct to_optical *o = router->optical;
	struct to_demand demand;
	struct to_reconfig r = { 0 };
	struct to_builder b;
	int ret;

	if (o->sip) {
		ret = to_optical_sip_decide(o->sip, router->network->n_servers, unsent);
		return ret < 0 ? to_error_set(err, ret, "out of memory") : ret;
	}
	demand = (struct to_demand){ .n = o->cluster->n_servers,
					  .mp = (uint64_t *)unsent };
	ret = to_builder_init(&b, o->cluster, &demand, 0, &(const struct to_planner_knobs){
		.degree = o->degree, .effort = TO_EFFORT_MIN, .seed = o->seed });

	if (!ret)
		ret = to_reconfig_init(&r, &b, o->setting.discount, o->count);
	if (!ret) {
		ret = to_reconfig_greedy(&r);
		if (!ret && o->setting.relayed)
			ret = to_reconfig_repair(&r);
		if (!ret)
			ret = optical_take(o, &b, r.count);
		to_reconfig_free(&r);
	}
	to_builder_free(&b);
	if (ret == -ENOSPC)
		return to_error_set(err, ret, "%u servers of %u ports cannot all reach each other",
				    demand.n, o->degree);
	return ret < 0 ? to_error_set(err, ret, "out of memory") : ret;
}

int to_optical_change(struct to_router *router)
{
	struct to_optical *o = router->optical;
	struct to_network *w = router->network;
	const size_t n = w->n_servers;
	uint8_t *used;

	if (o->sip) {
		to_optical_sip_change(o->sip, w);
		return to_router_shortest_again(router);
	}
	used = calloc(n, sizeof(*used));
	if (!used)
		return -ENOMEM;
	memset(o->count, 0, n * n * sizeof(*o->count));
	for (uint32_t i = 0; i < w->n_links; i++)
		w->links[i].to = w->links[i].from;
	for (uint32_t i = 0; i < o->n_next; i++) {
		const uint32_t x = o->next[i].a.server, y = o->next[i].b.server;

		w->links[w->out[x] + used[x]++].to = y;
		w->links[w->out[y] + used[y]++].to = x;
		o->count[x * n + y]++;
		o->count[y * n + x]++;
	}
	free(used);
	return to_router_shortest_again(router);
}

bool to_optical_joins(const struct to_router *router, uint32_t src, uint32_t dst)
{
	const struct to_optical *o = router->optical;
	const size_t pair = (size_t)src * router->network->n_servers + dst;

	if (o->sip)
		return o->sip->relays || o->sip->lit[pair];
	return o->setting.relayed || o->count[pair];
}
