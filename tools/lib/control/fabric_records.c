// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/fabric_records.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/tm_json.h"
#include "measure/tm_check.h"

int to_fabric_records_init(struct to_fabric_records *r, const struct to_cluster *cluster)
{
	*r = (struct to_fabric_records){ .cluster = cluster };
	r->records = calloc(cluster->n_servers, sizeof(*r->records));
	return r->records ? 0 : -ENOMEM;
}

void to_fabric_records_free(struct to_fabric_records *r)
{
	for (unsigned int i = 0; r->records && i < r->cluster->n_servers; i++)
		to_tm_free(r->records[i]);
	free(r->records);
	r->records = NULL;
}

/* Is it of this server of this fabric? */
static int records_check_server(const struct to_fabric_records *r, unsigned int server,
				const struct to_tm *tm, struct to_error *err)
{
	const struct to_cluster *c = r->cluster;

	if (tm->n_servers != c->n_servers)
		return to_error_set(err, -EPROTO, "servers: there are %u, the fabric has %u",
				    tm->n_servers, c->n_servers);
	for (unsigned int s = 0; s < c->n_servers; s++)
		if (strcmp(tm->servers[s], c->servers[s].name))
			return to_error_set(err, -EPROTO,
					    "servers[%u]: it is %s, in the fabric it is %s", s,
					    tm->servers[s], c->servers[s].name);
	if (tm->server == TO_TM_FABRIC)
		return to_error_set(err, -EPROTO, "server is missing");
	if (tm->server != server)
		return to_error_set(err, -EPROTO, "server: it is %s", tm->servers[tm->server]);
	return 0;
}

/* What the recording says of the end of a port: nothing, or what the plan does. */
static bool records_is_end(const struct to_cluster *c, const struct to_tm_end *end,
			   const struct to_port_ref *planned)
{
	return end->server == TO_TM_NONE ||
	       (planned && end->server == planned->server &&
		!strcmp(end->port, c->servers[planned->server].ports[planned->port].name));
}

/* Do its ports lead where those of the plan do? */
static int records_check_links(const struct to_fabric_records *r, const struct to_tm *tm,
			       struct to_error *err)
{
	const struct to_cluster *c = r->plan->cluster;
	const struct to_port_ref *to[TO_PORTS_MAX] = { NULL }, *from[TO_PORTS_MAX] = { NULL };
	const bool duplex = c->link_mode == TO_LINKS_DUPLEX;

	for (unsigned int l = 0; l < c->n_links; l++) {
		const struct to_link *link = &c->links[l];

		if (link->a.server == tm->server) {
			to[link->a.port] = &link->b;
			if (duplex)
				from[link->a.port] = &link->b;
		}
		if (link->b.server == tm->server) {
			from[link->b.port] = &link->a;
			if (duplex)
				to[link->b.port] = &link->a;
		}
	}
	for (unsigned int i = 0; i < tm->n_ports; i++) {
		const struct to_tm_port *port = &tm->ports[i];
		int p = to_cluster_find_port(&c->servers[tm->server], port->name);

		if (p < 0 || !records_is_end(c, &port->to, to[p]) ||
		    !records_is_end(c, &port->from, from[p]))
			return to_error_set(err, -EPROTO, "ports[%u]: it is not as in the plan", i);
	}
	return 0;
}

/* Is it one sample, of the time that was asked for as far as clocks agree? */
static int records_check_time(const struct to_fabric_records *r, const struct to_tm *tm,
			      struct to_error *err)
{
	const struct to_tm_sample *sample = tm->samples;

	if (tm->interval_ns != r->interval_ns)
		return to_error_set(err, -EPROTO, "interval_ns: it is %" PRIu64 ", not %" PRIu64,
				    tm->interval_ns, r->interval_ns);
	if (tm->n_samples != 1)
		return to_error_set(err, -EPROTO, "samples: there are %u, not 1", tm->n_samples);
	if (sample->start_ns / r->interval_ns >= sample->end_ns / r->interval_ns)
		return to_error_set(err, -EPROTO, "samples[0]: it ends in the interval it starts in");
	if (!sample->elapsed_ns)
		return to_error_set(err, -EPROTO, "samples[0].elapsed_ns: it is 0");
	if (sample->start_ns >= r->until_ns)
		return to_error_set(err, -EPROTO, "samples[0].start_ns: it is in the future");
	return 0;
}

int to_fabric_records_add(struct to_fabric_records *r, unsigned int server, const char *text,
			  size_t len, struct to_error *err)
{
	struct to_error why = { 0 };
	struct to_tm *tm = to_tm_parse(text, len, "tm", r->names, &why);
	int ret = tm ? 0 : -EPROTO;

	ret = ret ? ret : records_check_server(r, server, tm, &why);
	if (!ret && !tm->n_samples) {
		to_tm_free(tm);
		return 0;
	}
	if (!ret && r->plan)
		ret = records_check_links(r, tm, &why);
	ret = ret ? ret : records_check_time(r, tm, &why);
	if (!ret && to_tm_check_record(tm, &why))
		ret = -EPROTO;
	if (ret) {
		to_tm_free(tm);
		return to_error_set(err, ret, "faulty recording: %s", why.text);
	}
	to_tm_free(r->records[server]);
	r->records[server] = tm;
	return 0;
}

static uint64_t records_slot(const struct to_tm *tm)
{
	return tm->samples[0].start_ns / tm->interval_ns;
}

/* Those that can be merged are neighbours in this order; of them, a later one follows. */
static int records_compare(const void *a, const void *b)
{
	const struct to_tm *x = *(struct to_tm *const *)a, *y = *(struct to_tm *const *)b;
	int order = strcmp(x->plan, y->plan);

	if (order)
		return order;
	return (records_slot(x) > records_slot(y)) - (records_slot(x) < records_slot(y));
}

/*
 * The most of @sorted that agree, of equally many the last in their order. A server that
 * was started later has no sample of the whole time, nor has one that claims it began long
 * ago more to say than all others.
 */
static unsigned int records_find_most(struct to_tm *const *sorted, unsigned int n,
				      unsigned int *first)
{
	unsigned int most = 0, next;

	for (unsigned int i = 0; i < n; i = next) {
		for (next = i + 1; next < n && !records_compare(&sorted[i], &sorted[next]); next++)
			;
		if (next - i >= most) {
			most = next - i;
			*first = i;
		}
	}
	return most;
}

static int records_compare_length(const void *a, const void *b)
{
	const struct to_tm *x = *(struct to_tm *const *)a, *y = *(struct to_tm *const *)b;
	uint64_t l = x->samples[0].elapsed_ns, m = y->samples[0].elapsed_ns;

	return (l > m) - (l < m);
}

/* Says of all that do not agree with @model why they do not count. */
static void records_blame(const struct to_fabric_records *r, const struct to_tm *model,
			  char (*errors)[256])
{
	for (unsigned int i = 0; i < r->cluster->n_servers; i++) {
		const struct to_tm *tm = r->records[i];

		if (!tm || !records_compare(&tm, &model))
			continue;
		if (strcmp(tm->plan, model->plan))
			snprintf(errors[i], sizeof(errors[i]),
				 "recorded under generation %s, most others under %s", tm->plan,
				 model->plan);
		else
			snprintf(errors[i], sizeof(errors[i]),
				 "recorded from %" PRIu64 " ns on, most others from %" PRIu64,
				 tm->samples[0].start_ns, model->samples[0].start_ns);
	}
}

/* The next interval of @live, which begins anew where these do not follow. */
static int records_follow(struct to_fabric_records *r, struct to_tm *const *list,
			  unsigned int n, struct to_tm_live **live, struct to_error *err)
{
	const unsigned int servers = r->cluster->n_servers;
	const struct to_tm **by_server = calloc(servers, sizeof(*by_server));
	int ret = -ESTALE;

	if (!by_server)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < n; i++)
		by_server[list[i]->server] = list[i];
	if (*live)
		ret = to_tm_live_add(*live, by_server, err);
	if (ret == -ESTALE) {
		to_tm_live_free(*live);
		*live = to_tm_live_new(by_server, servers, err);
		ret = *live ? to_tm_live_add(*live, by_server, err) : -EINVAL;
	}
	free(by_server);
	return ret ? ret : to_tm_live_settle(*live, false, err);
}

int to_fabric_records_merge(struct to_fabric_records *r, char (*errors)[256],
			    struct to_tm_live **live, struct to_tm **tm, struct to_error *err)
{
	unsigned int n = 0, first = 0, most;
	struct to_tm **sorted;
	uint64_t median;
	int ret = 0;

	*tm = NULL;
	sorted = calloc(r->cluster->n_servers, sizeof(*sorted));
	if (!sorted)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < r->cluster->n_servers; i++)
		if (r->records[i])
			sorted[n++] = r->records[i];
	if (n) {
		qsort(sorted, n, sizeof(*sorted), records_compare);
		most = records_find_most(sorted, n, &first);
		records_blame(r, sorted[first], errors);
		qsort(sorted + first, most, sizeof(*sorted), records_compare_length);
		median = sorted[first + (most - 1) / 2]->samples[0].elapsed_ns;
		for (unsigned int i = first; i < first + most; i++)
			sorted[i]->samples[0].elapsed_ns = median;
		ret = records_follow(r, sorted + first, most, live, err);
		if (!ret) {
			*tm = to_tm_live_take(*live);
			ret = *tm ? 0 : to_error_set(err, -ENOMEM, "out of memory");
		}
	}
	/* what was half added is of no use */
	if (ret) {
		to_tm_live_free(*live);
		*live = NULL;
	}
	free(sorted);
	return ret;
}
