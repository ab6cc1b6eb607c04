// SPDX-License-Identifier: GPL-2.0-or-later
/* The matrix of the fabric from recordings of its servers; see to_tm_merge(). */

#include "measure/tm_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "measure/tm_check.h"

#define LINK_NONE UINT32_MAX

/* Which end of a link saw a flow. */
enum side { SENT, RECEIVED, SIDES };

/* One flow at one end of a link in one sample. */
struct sighting {
	uint32_t link;
	uint32_t src, dst;
	uint32_t sample;
	uint8_t class, side;
	bool relayed;		/* by its source */
	uint64_t packets, bytes;
};

struct amount {
	uint64_t packets, bytes;
};

/* What a pair sent in one sample; all portions of a pair and class make a flow. */
struct portion {
	uint32_t sample;
	uint32_t src, dst;
	enum to_tm_class class;
	struct amount amount;
};

/**
 * struct merge - a merge under way
 * @record: of each server, NULL when missing
 * @first: sample 0 of the result starts at @first times the interval
 * @n_samples: of the result
 * @out_link, @in_link: link of each port of each record, or LINK_NONE
 * @present: of each server that recorded, n_samples, whether it recorded the sample
 * @seen, @carried, @arrived: n_links x n_samples
 * @direct_packets, @direct_bytes: n_links x n_samples, RoCE from one end of the
 *	link to the other that was seen, less what the former relayed
 * @portions: of the flows of the result, in no order
 */
struct merge {
	struct to_tm *tm;
	const struct to_tm **record;
	uint64_t first;
	unsigned int n_samples;
	uint32_t **out_link, **in_link;
	struct sighting *sightings;
	size_t n_sightings;
	bool **present;
	struct amount *seen, *carried, *arrived;
	int64_t *direct_packets, *direct_bytes;
	struct portion *portions;
	size_t n_portions, room;
	struct to_error *err;
};

static const char *merge_server_name(const struct merge *m, uint32_t server)
{
	return m->tm->servers[server];
}

/* Number of the interval that @sample is; it never starts before its time. */
static uint64_t merge_slot_of(const struct to_tm *record,
			      const struct to_tm_sample *sample)
{
	return sample->start_ns / record->interval_ns;
}

/* Links. */

static int merge_compare_end(const struct to_tm_end *a, const struct to_tm_end *b)
{
	if (a->server != b->server)
		return a->server < b->server ? -1 : 1;
	return strcmp(a->port, b->port);
}

static int merge_compare_link(const void *a, const void *b)
{
	const struct to_tm_link *x = a, *y = b;
	int order = merge_compare_end(&x->from, &y->from);

	return order ? order : merge_compare_end(&x->to, &y->to);
}

static int merge_compare_link_to(const void *a, const void *b)
{
	const struct to_tm_link *x = a, *y = b;

	return merge_compare_end(&x->to, &y->to);
}

static struct to_tm_end merge_own_end(const struct to_tm *record, unsigned int port)
{
	struct to_tm_end end = { .server = record->server };

	strcpy(end.port, record->ports[port].name);
	return end;
}

/* Refuse two links of @links, sorted, with the same @side end. */
static int merge_check_links(const struct merge *m, const struct to_tm_link *links,
			     unsigned int n, size_t side)
{
	for (unsigned int i = 1; i < n; i++) {
		const struct to_tm_end *a = (const void *)((const char *)&links[i - 1] + side);
		const struct to_tm_end *b = (const void *)((const char *)&links[i] + side);

		if (!merge_compare_end(a, b))
			return to_error_set(m->err, -EINVAL,
					    "the recordings disagree about the link of %s:%s",
					    merge_server_name(m, a->server), a->port);
	}
	return 0;
}

/* Both ends of a link tell of it; a missing server's are known by its peers. */
static int merge_find_links(struct merge *m)
{
	struct to_tm *tm = m->tm;
	unsigned int room = 0, n = 0;

	for (unsigned int s = 0; s < tm->n_servers; s++)
		room += m->record[s] ? 2 * m->record[s]->n_ports : 0;
	tm->links = calloc(room + 1, sizeof(*tm->links));
	if (!tm->links)
		return -ENOMEM;
	for (unsigned int s = 0; s < tm->n_servers; s++) {
		const struct to_tm *r = m->record[s];

		for (unsigned int p = 0; r && p < r->n_ports; p++) {
			if (r->ports[p].to.server != TO_TM_NONE)
				tm->links[n++] = (struct to_tm_link){ merge_own_end(r, p),
								      r->ports[p].to };
			if (r->ports[p].from.server != TO_TM_NONE)
				tm->links[n++] = (struct to_tm_link){ r->ports[p].from,
								      merge_own_end(r, p) };
		}
	}
	qsort(tm->links, n, sizeof(*tm->links), merge_compare_link);
	for (unsigned int i = 0; i < n; i++)
		if (!i || merge_compare_link(&tm->links[i], &tm->links[tm->n_links - 1]))
			tm->links[tm->n_links++] = tm->links[i];
	qsort(tm->links, tm->n_links, sizeof(*tm->links), merge_compare_link_to);
	if (merge_check_links(m, tm->links, tm->n_links, offsetof(struct to_tm_link, to)))
		return -EINVAL;
	qsort(tm->links, tm->n_links, sizeof(*tm->links), merge_compare_link);
	return merge_check_links(m, tm->links, tm->n_links,
				 offsetof(struct to_tm_link, from));
}

static uint32_t merge_link_index(const struct merge *m, const struct to_tm_end *from,
				 const struct to_tm_end *to)
{
	const struct to_tm_link key = { *from, *to };
	const struct to_tm_link *link;

	if (from->server == TO_TM_NONE || to->server == TO_TM_NONE)
		return LINK_NONE;
	link = bsearch(&key, m->tm->links, m->tm->n_links, sizeof(key), merge_compare_link);
	return link - m->tm->links;
}

static int merge_index_ports(struct merge *m)
{
	for (unsigned int s = 0; s < m->tm->n_servers; s++) {
		const struct to_tm *r = m->record[s];

		if (!r)
			continue;
		m->out_link[s] = calloc(r->n_ports + 1, sizeof(**m->out_link));
		m->in_link[s] = calloc(r->n_ports + 1, sizeof(**m->in_link));
		if (!m->out_link[s] || !m->in_link[s])
			return -ENOMEM;
		for (unsigned int p = 0; p < r->n_ports; p++) {
			struct to_tm_end self = merge_own_end(r, p);

			m->out_link[s][p] = merge_link_index(m, &self, &r->ports[p].to);
			m->in_link[s][p] = merge_link_index(m, &r->ports[p].from, &self);
		}
	}
	return 0;
}

static int merge_refuse_missing(const struct merge *m)
{
	unsigned int missing = 0, first = 0;
	char *peers = NULL;
	size_t len;
	FILE *out;

	for (unsigned int s = m->tm->n_servers; s-- > 0;)
		if (!m->record[s]) {
			missing++;
			first = s;
		}
	if (!missing)
		return 0;
	out = open_memstream(&peers, &len);
	if (!out)
		return -ENOMEM;
	for (unsigned int i = 0; i < m->tm->n_links; i++)
		if (m->tm->links[i].from.server == first)
			fprintf(out, "%s%s", ftell(out) ? ", " : "",
				merge_server_name(m, m->tm->links[i].to.server));
	fclose(out);
	to_error_set(m->err, -ENOENT,
		     "%u of %u servers missing, first %s: unknown are what %s and its peers (%s) send each other, and what a peer's RDMA sends through %s",
		     missing, m->tm->n_servers, merge_server_name(m, first),
		     merge_server_name(m, first), peers, merge_server_name(m, first));
	free(peers);
	return -ENOENT;
}

/* Sightings. */

static void merge_add_sighting(struct merge *m, uint32_t link, enum side side,
			       uint32_t sample, const struct to_tm_flow *flow)
{
	m->sightings[m->n_sightings++] = (struct sighting){
		.link = link, .src = flow->src, .dst = flow->dst,
		.sample = sample, .class = flow->class, .side = side,
		.relayed = side == SENT && flow->in != TO_TM_NO_PORT &&
			   m->tm->links[link].from.server == flow->src,
		.packets = flow->packets, .bytes = flow->bytes,
	};
}

static int merge_add_portion(struct merge *m, uint32_t sample, uint32_t src, uint32_t dst,
			     enum to_tm_class class, uint64_t packets, uint64_t bytes)
{
	if (m->n_portions == m->room) {
		size_t room = m->room ? 2 * m->room : 1024;
		struct portion *portions = reallocarray(m->portions, room, sizeof(*portions));

		if (!portions)
			return -ENOMEM;
		m->portions = portions;
		m->room = room;
	}
	m->portions[m->n_portions++] = (struct portion){
		.sample = sample, .src = src, .dst = dst, .class = class,
		.amount = { packets, bytes },
	};
	return 0;
}

/* Into the cell of @link and @sample of @cells. */
static void merge_add_amount(const struct merge *m, struct amount *cells,
			     uint32_t link, uint32_t sample, uint64_t packets,
			     uint64_t bytes)
{
	struct amount *cell = &cells[(size_t)link * m->n_samples + sample];

	cell->packets += packets;
	cell->bytes += bytes;
}

static int merge_fill_flows(struct merge *m, uint32_t s, const struct to_tm_sample *sample,
			    uint32_t k)
{
	for (unsigned int i = 0; i < sample->n_flows; i++) {
		const struct to_tm_flow *flow = &sample->flows[i];
		uint32_t out = flow->out < 0 ? LINK_NONE : m->out_link[s][flow->out];
		uint32_t in = flow->in < 0 ? LINK_NONE : m->in_link[s][flow->in];

		if (out != LINK_NONE)
			merge_add_sighting(m, out, SENT, k, flow);
		else if (flow->in == TO_TM_NO_PORT &&
			 (flow->src == s || flow->src == TO_TM_NONE) &&
			 merge_add_portion(m, k, flow->src, flow->dst, flow->class,
					   flow->packets, flow->bytes))
			return -ENOMEM;	/* sent into a port that the plan has dark */
		if (in != LINK_NONE)
			merge_add_sighting(m, in, RECEIVED, k, flow);
	}
	return 0;
}

static void merge_fill_counters(struct merge *m, uint32_t s, const struct to_tm_sample *sample,
				uint32_t k)
{
	for (unsigned int p = 0; p < m->record[s]->n_ports; p++) {
		const struct to_tm_counters *c = &sample->ports[p];
		uint32_t out = m->out_link[s][p], in = m->in_link[s][p];

		if (out != LINK_NONE)
			merge_add_amount(m, m->carried, out, k, c->tx_packets, c->tx_bytes);
		if (in != LINK_NONE)
			merge_add_amount(m, m->arrived, in, k, c->rx_packets, c->rx_bytes);
	}
}

static uint64_t merge_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * A server that was late to end a sample has it reach into later intervals. The next
 * sample may be there too.
 */
static void merge_mark_present(struct merge *m, uint32_t s,
			       const struct to_tm_sample *sample, uint32_t k)
{
	const uint64_t end = sample->end_ns / m->tm->interval_ns - m->first;

	do {
		m->tm->samples[k].absent -= !m->present[s][k];
		m->present[s][k] = true;
	} while (++k < end && k < m->n_samples);
}

/*
 * The intervals from the earliest to the latest that any server recorded. They take
 * no more memory than the recordings do, times a constant.
 */
static int merge_find_span(struct merge *m)
{
	uint64_t last = 0, rows = 0, records = 0, most;

	m->first = UINT64_MAX;
	for (unsigned int s = 0; s < m->tm->n_servers; s++) {
		const struct to_tm *r = m->record[s];
		uint64_t slot;

		if (!r)
			continue;
		records++;
		rows += (uint64_t)r->n_samples * (r->n_ports + 1);
		slot = merge_slot_of(r, &r->samples[0]);
		m->first = slot < m->first ? slot : m->first;
		last = merge_larger(last, merge_slot_of(r, &r->samples[r->n_samples - 1]));
	}
	most = (TO_MERGE_CELLS_MIN + TO_MERGE_CELLS_PER_ROW * rows) /
	       (m->tm->n_links + records + 1);
	if (last - m->first >= most)
		return to_error_set(m->err, -E2BIG,
				    "the recordings span %" PRIu64 " intervals, and with as few samples as they have no more than %" PRIu64 " are merged",
				    last - m->first + 1, most);
	m->n_samples = last - m->first + 1;
	return 0;
}

/* Samples of the result, in which every server that recorded is still absent. */
static int merge_make_samples(struct merge *m)
{
	struct to_tm *tm = m->tm;
	unsigned int recorded = 0;

	for (unsigned int s = 0; s < tm->n_servers; s++)
		recorded += !!m->record[s];
	for (unsigned int k = 0; k < m->n_samples; k++) {
		struct to_tm_sample *sample = to_tm_add_sample(tm);

		if (!sample)
			return -ENOMEM;
		sample->start_ns = sample->end_ns = (m->first + k) * tm->interval_ns;
		sample->absent = recorded;
		sample->links = calloc(tm->n_links + 1, sizeof(*sample->links));
		if (!sample->links)
			return -ENOMEM;
	}
	return 0;
}

/* What is gathered before flows and links of the result follow from it. */
static int merge_allocate(struct merge *m)
{
	const size_t cells = (size_t)m->tm->n_links * m->n_samples + 1;
	size_t flows = 0;

	for (unsigned int s = 0; s < m->tm->n_servers; s++) {
		if (!m->record[s])
			continue;
		m->present[s] = calloc(m->n_samples, sizeof(**m->present));
		if (!m->present[s])
			return -ENOMEM;
		for (unsigned int i = 0; i < m->record[s]->n_samples; i++)
			flows += m->record[s]->samples[i].n_flows;
	}
	/* A flow is seen on its link in, and on its link out. */
	m->sightings = calloc(2 * flows + 1, sizeof(*m->sightings));
	m->seen = calloc(cells, sizeof(*m->seen));
	m->carried = calloc(cells, sizeof(*m->carried));
	m->arrived = calloc(cells, sizeof(*m->arrived));
	m->direct_packets = calloc(cells, sizeof(*m->direct_packets));
	m->direct_bytes = calloc(cells, sizeof(*m->direct_bytes));
	return m->sightings && m->seen && m->carried && m->arrived &&
	       m->direct_packets && m->direct_bytes ? 0 : -ENOMEM;
}

/* Bring everything that was recorded into the samples of its intervals. */
static int merge_fill(struct merge *m)
{
	for (unsigned int s = 0; s < m->tm->n_servers; s++) {
		const struct to_tm *r = m->record[s];

		for (unsigned int i = 0; r && i < r->n_samples; i++) {
			const struct to_tm_sample *from = &r->samples[i];
			uint32_t k = merge_slot_of(r, from) - m->first;
			struct to_tm_sample *to = &m->tm->samples[k];

			to->end_ns = merge_larger(to->end_ns, from->end_ns);
			to->elapsed_ns = merge_larger(to->elapsed_ns, from->elapsed_ns);
			to->lost.packets += from->lost.packets;
			to->lost.bytes += from->lost.bytes;
			merge_mark_present(m, s, from, k);
			merge_fill_counters(m, s, from, k);
			if (merge_fill_flows(m, s, from, k))
				return -ENOMEM;
		}
	}
	return 0;
}

static int merge_compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Same link, source, destination, class: one pair on one link. */
static int merge_compare_pair(const struct sighting *a, const struct sighting *b)
{
	int order = merge_compare_u64(a->link, b->link);

	order = order ? order : merge_compare_u64(a->src, b->src);
	order = order ? order : merge_compare_u64(a->dst, b->dst);
	return order ? order : merge_compare_u64(a->class, b->class);
}

static int merge_compare_sighting(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;
	int order = merge_compare_pair(x, y);

	order = order ? order : merge_compare_u64(x->side, y->side);
	return order ? order : merge_compare_u64(x->sample, y->sample);
}

/*
 * Cumulated over the samples, what one end of a link saw beyond what another
 * place did: up to sample k, credit the least that this comes to at k or later,
 * so that no credit is ever too early to stand. @rest holds the sums and gets
 * the credits.
 */
static void merge_credit(int64_t *rest, unsigned int n)
{
	int64_t before;

	for (unsigned int k = n - 1; k-- > 0;)
		if (rest[k] > rest[k + 1])
			rest[k] = rest[k + 1];
	before = 0;
	for (unsigned int k = 0; k < n; k++) {
		int64_t sum = rest[k] > before ? rest[k] : before;

		rest[k] = sum - before;
		before = sum;
	}
}

static void merge_cumulate(int64_t *amount, unsigned int n)
{
	for (unsigned int k = 1; k < n; k++)
		amount[k] += amount[k - 1];
}

/* What was cumulated of one pair. */
static int merge_add_credits(struct merge *m, const struct to_tm_flow *pair,
			     int64_t *packets, int64_t *bytes)
{
	const unsigned int n = m->n_samples;
	int ret = 0;

	merge_credit(packets, n);
	merge_credit(bytes, n);
	for (unsigned int k = 0; !ret && k < n; k++)
		if (bytes[k] || packets[k])
			ret = merge_add_portion(m, k, pair->src, pair->dst, pair->class,
						packets[k], bytes[k]);
	return ret;
}

/*
 * To @packets and @bytes by sample, what @side saw of a pair on a link from its
 * source, less what the source relayed: hardware sent that, by another port.
 */
static void merge_add_sent(const struct sighting *s, const struct sighting *end,
			   enum side side, int64_t *packets, int64_t *bytes)
{
	for (; s < end; s++) {
		const int sign = (s->side == side) - s->relayed;

		packets[s->sample] += sign * (int64_t)s->packets;
		bytes[s->sample] += sign * (int64_t)s->bytes;
	}
}

/* A pair of which its source relayed some. */
static int merge_add_relayed(struct merge *m, const struct sighting *pair,
			     const struct sighting *end, enum side side)
{
	const struct to_tm_flow flow = { .src = pair->src, .dst = pair->dst,
					 .class = pair->class };
	const unsigned int n = m->n_samples;
	int64_t *packets = calloc(n, sizeof(*packets));
	int64_t *bytes = calloc(n, sizeof(*bytes));
	int ret = -ENOMEM;

	if (packets && bytes) {
		merge_add_sent(pair, end, side, packets, bytes);
		merge_cumulate(packets, n);
		merge_cumulate(bytes, n);
		ret = merge_add_credits(m, &flow, packets, bytes);
	}
	free(packets);
	free(bytes);
	return ret;
}

/* What both ends saw, by the end that saw more. */
static int merge_weigh_sightings(struct merge *m)
{
	const struct sighting *end = m->sightings + m->n_sightings, *next;
	int ret = 0;

	qsort(m->sightings, m->n_sightings, sizeof(*m->sightings),
	      merge_compare_sighting);
	for (const struct sighting *pair = m->sightings; !ret && pair < end; pair = next) {
		const struct to_tm_link *link = &m->tm->links[pair->link];
		const size_t row = (size_t)pair->link * m->n_samples;
		const bool sent = link->from.server == pair->src;
		const bool direct = sent && link->to.server == pair->dst &&
				    pair->class == TO_TM_ROCE;
		uint64_t total[SIDES] = {};
		bool relayed = false;
		enum side side;

		for (next = pair; next < end && !merge_compare_pair(pair, next); next++) {
			total[next->side] += next->bytes;
			relayed |= next->relayed;
		}
		side = total[RECEIVED] > total[SENT] ? RECEIVED : SENT;
		for (const struct sighting *s = pair; !ret && s < next; s++) {
			if (s->side != side)
				continue;
			merge_add_amount(m, m->seen, s->link, s->sample, s->packets, s->bytes);
			if (sent && !direct && !relayed)
				ret = merge_add_portion(m, s->sample, s->src, s->dst, s->class,
							s->packets, s->bytes);
		}
		if (direct)
			merge_add_sent(pair, next, side, &m->direct_packets[row],
				       &m->direct_bytes[row]);
		else if (sent && relayed)
			ret = merge_add_relayed(m, pair, next, side);
	}
	return ret;
}

/*
 * Conservation on each link, in the samples that both ends recorded: what no
 * kernel saw is RoCE of its two ends, beside what was seen of that.
 */
static int merge_conserve(struct merge *m)
{
	struct to_tm *tm = m->tm;
	const unsigned int n = m->n_samples;
	int64_t *packets = calloc(n, sizeof(*packets));
	int64_t *bytes = calloc(n, sizeof(*bytes));
	int ret = packets && bytes ? 0 : -ENOMEM;

	for (unsigned int l = 0; !ret && l < tm->n_links; l++) {
		const uint32_t from = tm->links[l].from.server;
		const uint32_t to = tm->links[l].to.server;
		const struct to_tm_flow pair = { .src = from, .dst = to,
						 .class = TO_TM_ROCE };
		const struct amount *seen = &m->seen[(size_t)l * n];
		const struct amount *arrived = &m->arrived[(size_t)l * n];
		const struct amount *carried = m->record[from] ?
					       &m->carried[(size_t)l * n] : arrived;

		for (unsigned int k = 0; k < n; k++) {
			struct to_tm_link_bytes *link = &tm->samples[k].links[l];
			const bool both = m->record[from] && m->record[to] &&
					  m->present[from][k] && m->present[to][k];

			link->carried = carried[k].bytes;
			link->seen = seen[k].bytes;
			link->lost = both ? carried[k].bytes - arrived[k].bytes : 0;
			packets[k] = both ? carried[k].packets - seen[k].packets : 0;
			bytes[k] = both ? carried[k].bytes - seen[k].bytes : 0;
		}
		merge_cumulate(packets, n);
		merge_cumulate(bytes, n);
		if (bytes[n - 1] <= 0)	/* residual, not bypass */
			memset(packets, 0, n * sizeof(*packets));
		merge_credit(packets, n);
		merge_credit(bytes, n);
		for (unsigned int k = 0; k < n; k++) {
			tm->samples[k].links[l].bypass = bytes[k];
			packets[k] += m->direct_packets[(size_t)l * n + k];
			bytes[k] += m->direct_bytes[(size_t)l * n + k];
		}
		merge_cumulate(packets, n);
		merge_cumulate(bytes, n);
		ret = merge_add_credits(m, &pair, packets, bytes);
	}
	free(packets);
	free(bytes);
	return ret;
}

static int merge_compare_portion(const void *a, const void *b)
{
	const struct portion *x = a, *y = b;
	int order = merge_compare_u64(x->sample, y->sample);

	order = order ? order : merge_compare_u64(x->src, y->src);
	order = order ? order : merge_compare_u64(x->dst, y->dst);
	return order ? order : merge_compare_u64(x->class, y->class);
}

/* Portions into flows of their samples, one of each pair and class. */
static int merge_make_flows(struct merge *m)
{
	const struct portion *first, *next, *end;

	if (!m->n_portions)
		return 0;
	end = m->portions + m->n_portions;
	qsort(m->portions, m->n_portions, sizeof(*m->portions), merge_compare_portion);
	for (first = m->portions; first < end; first = next) {
		struct to_tm_flow flow = {
			.src = first->src, .dst = first->dst, .class = first->class,
			.in = TO_TM_NO_PORT, .out = TO_TM_NO_PORT,
		};

		for (next = first; next < end && !merge_compare_portion(first, next); next++) {
			flow.packets += next->amount.packets;
			flow.bytes += next->amount.bytes;
		}
		if (to_tm_add_flow(&m->tm->samples[first->sample], &flow))
			return -ENOMEM;
	}
	return 0;
}

static int merge_note_missing(struct merge *m)
{
	struct to_tm *tm = m->tm;

	for (unsigned int s = 0; s < tm->n_servers; s++) {
		if (m->record[s])
			continue;
		if (!tm->missing)
			tm->missing = calloc(tm->n_servers, sizeof(*tm->missing));
		if (!tm->missing)
			return -ENOMEM;
		tm->missing[s] = true;
	}
	return 0;
}

static int merge_run(struct merge *m, struct to_tm *const *records,
		     unsigned int n, bool partial)
{
	int ret;

	ret = to_tm_check_records(records, n, m->record, m->err);
	ret = ret ? ret : merge_find_links(m);
	if (!ret && !partial)
		ret = merge_refuse_missing(m);
	ret = ret ? ret : merge_note_missing(m);
	ret = ret ? ret : merge_index_ports(m);
	ret = ret ? ret : merge_find_span(m);
	ret = ret ? ret : merge_make_samples(m);
	ret = ret ? ret : merge_allocate(m);
	ret = ret ? ret : merge_fill(m);
	ret = ret ? ret : merge_weigh_sightings(m);
	ret = ret ? ret : merge_conserve(m);
	return ret ? ret : merge_make_flows(m);
}

struct to_tm *to_tm_merge(struct to_tm *const *records, unsigned int n,
			  bool partial, struct to_error *err)
{
	struct merge m = { .err = err };
	int ret = -ENOMEM;

	if (!n) {
		to_error_set(err, -EINVAL, "no recordings to merge");
		return NULL;
	}
	m.tm = to_tm_new(records[0]->n_servers);
	m.record = calloc(records[0]->n_servers, sizeof(*m.record));
	m.out_link = calloc(records[0]->n_servers, sizeof(*m.out_link));
	m.in_link = calloc(records[0]->n_servers, sizeof(*m.in_link));
	m.present = calloc(records[0]->n_servers, sizeof(*m.present));
	if (m.tm && m.record && m.out_link && m.in_link && m.present) {
		strcpy(m.tm->job, records[0]->job);
		strcpy(m.tm->plan, records[0]->plan);
		m.tm->interval_ns = records[0]->interval_ns;
		memcpy(m.tm->servers, records[0]->servers,
		       m.tm->n_servers * sizeof(*m.tm->servers));
		ret = merge_run(&m, records, n, partial);
	}
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	for (unsigned int s = 0; s < records[0]->n_servers; s++) {
		if (m.out_link)
			free(m.out_link[s]);
		if (m.in_link)
			free(m.in_link[s]);
		if (m.present)
			free(m.present[s]);
	}
	free(m.record);
	free(m.out_link);
	free(m.in_link);
	free(m.sightings);
	free(m.present);
	free(m.seen);
	free(m.carried);
	free(m.arrived);
	free(m.direct_packets);
	free(m.direct_bytes);
	free(m.portions);
	if (ret) {
		to_tm_free(m.tm);
		return NULL;
	}
	return m.tm;
}
