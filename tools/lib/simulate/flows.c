// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulate/flows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate/optical.h"

static int flows_no_memory(struct to_error *err)
{
	return to_error_set(err, -ENOMEM, "out of memory");
}

static int flows_init_changes(struct to_flows *f)
{
	const size_t n = f->router->network->n_servers;

	f->unsent = calloc(n * n, sizeof(*f->unsent));
	f->pair = calloc(n * n, sizeof(*f->pair));
	return f->unsent && f->pair ? 0 : -ENOMEM;
}

int to_flows_init(struct to_flows *f, struct to_router *router, struct to_error *err)
{
	const struct to_network *w = router->network;
	const uint32_t n = to_network_capacities(w);

	*f = (struct to_flows){ .router = router };
	f->capacity = calloc(n + 1, sizeof(*f->capacity));
	f->classes = calloc(n + 1, sizeof(*f->classes));
	f->class_at = calloc(n + 1, sizeof(*f->class_at));
	f->active = calloc(n + 1, sizeof(*f->active));
	f->active_since = calloc(n + 1, sizeof(*f->active_since));
	f->link_bytes = calloc(2 * (size_t)n + 1, sizeof(*f->link_bytes));
	if (!f->capacity || !f->classes || !f->class_at || !f->active || !f->active_since || !f->link_bytes)
		return flows_no_memory(err);
	f->link_busy = f->link_bytes + n;
	f->n_classes = n + 1;
	for (uint32_t i = 0; i < w->n_links; i++)
		f->capacity[i] = w->links[i].capacity;
	for (uint32_t i = 0; i < w->n_pcie; i++)
		f->capacity[w->n_links + i] = w->pcie_capacity[i];
	if (to_streams_init(&f->streams, router, err) ||
	    to_maxmin_init(&f->maxmin, f->capacity, n) ||
	    (router->optical && flows_init_changes(f)))
		return flows_no_memory(err);
	return 0;
}

void to_flows_free(struct to_flows *f)
{
	to_streams_free(&f->streams);
	to_maxmin_free(&f->maxmin);
	for (uint32_t i = 0; f->classes && i < f->n_classes; i++)
		free(f->classes[i].parts.entries);
	free(f->classes);
	free(f->class_at);
	free(f->ends.entries);
	free(f->capacity);
	free(f->parts);
	free(f->part_at);
	free(f->list);
	free(f->first_part);
	free(f->active);
	free(f->active_since);
	free(f->link_bytes);
	free(f->unsent);
	free(f->pair);
}

/* No rates. */
static void flows_clear_classes(struct to_flows *f)
{
	for (uint32_t i = 0; i < f->n_classes; i++) {
		struct to_flow_class *class = &f->classes[i];

		class->parts.n = 0;
		class->served = class->since = class->rate = 0;
		class->ends = false;
	}
	/* of flows that load no link */
	f->classes[f->n_classes - 1].rate = INFINITY;
	f->ends.n = 0;
	to_maxmin_clear(&f->maxmin);
}

void to_flows_clear(struct to_flows *f)
{
	const uint32_t n_links = to_network_capacities(f->router->network);
	const size_t n = f->router->network->n_servers;

	memset(f->link_bytes, 0, 2 * (size_t)n_links * sizeof(*f->link_bytes));
	memset(f->active, 0, n_links * sizeof(*f->active));
	flows_clear_classes(f);
	to_streams_rewind(&f->streams);
	f->n_parts = 0;
	f->changed = true;
	f->change = INFINITY;
	f->dark = false;
	f->n_changes = 0;
	if (f->pair)
		memset(f->pair, 0xff, n * n * sizeof(*f->pair));
}

/* Room for the parts of @flow. */
static int flows_reserve_flow(struct to_flows *f, uint32_t flow)
{
	uint32_t *grown;

	if (flow < f->max_flows)
		return 0;
	grown = realloc(f->first_part, (2 * (size_t)flow + 64) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	f->first_part = grown;
	f->max_flows = 2 * flow + 64;
	return 0;
}

/* Room for a part more. */
static int flows_reserve_part(struct to_flows *f)
{
	const size_t max = 2 * (size_t)f->max_parts + 64;
	struct to_part *parts;
	uint32_t *grown;

	if (f->n_parts < f->max_parts)
		return 0;
	parts = realloc(f->parts, max * sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	f->parts = parts;
	grown = realloc(f->part_at, max * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	f->part_at = grown;
	grown = realloc(f->list, max * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	f->list = grown;
	for (; f->max_parts < max; f->max_parts++)
		f->list[f->max_parts] = f->max_parts;
	return 0;
}

static bool flows_before(const struct to_flow_entry *a, const struct to_flow_entry *b)
{
	return a->key < b->key || (a->key == b->key && a->index < b->index);
}

/* Put @entry, for which @place of the heap is free or its own, where it belongs. */
static void flows_place(struct to_flow_heap *heap, uint32_t *at, struct to_flow_entry entry,
			uint32_t place)
{
	struct to_flow_entry *e = heap->entries;
	uint32_t child;

	for (; place && flows_before(&entry, &e[(place - 1) / 2]); place = (place - 1) / 2) {
		e[place] = e[(place - 1) / 2];
		at[e[place].index] = place;
	}
	for (; (child = 2 * place + 1) < heap->n; place = child) {
		if (child + 1 < heap->n && flows_before(&e[child + 1], &e[child]))
			child++;
		if (!flows_before(&e[child], &entry))
			break;
		e[place] = e[child];
		at[e[place].index] = place;
	}
	e[place] = entry;
	at[entry.index] = place;
}

static int flows_push(struct to_flow_heap *heap, uint32_t *at, double key, uint32_t index)
{
	const size_t max = 2 * (size_t)heap->max + 8;
	struct to_flow_entry *grown;

	if (heap->n == heap->max) {
		grown = realloc(heap->entries, max * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		heap->entries = grown;
		heap->max = max;
	}
	heap->n++;
	flows_place(heap, at, (struct to_flow_entry){ key, index }, heap->n - 1);
	return 0;
}

static void flows_drop(struct to_flow_heap *heap, uint32_t *at, uint32_t index)
{
	const struct to_flow_entry last = heap->entries[--heap->n];

	if (last.index != index)
		flows_place(heap, at, last, at[index]);
}

/* Count what each part of @class has sent until @now. */
static void flows_serve(struct to_flows *f, struct to_flow_class *class, double now)
{
	if (now > class->since && isfinite(class->rate)) {
		if (f->utilisation)
			to_utilisation_pass(f->utilisation, class - f->classes, class->since, now,
					    class->served, class->rate);
		class->served += class->rate * (now - class->since);
	}
	class->since = now;
	/* from 0 again where nobody counts on it: sums lose digits */
	if (!class->parts.n)
		class->served = 0;
}

/* Its first part is another one, or its rate. */
static int flows_end(struct to_flows *f, uint32_t index)
{
	struct to_flow_class *class = &f->classes[index];
	double end;

	if (!class->parts.n) {
		if (class->ends)
			flows_drop(&f->ends, f->class_at, index);
		class->ends = false;
		return 0;
	}
	end = class->since + fmax(class->parts.entries[0].key - class->served, 0) / class->rate;
	if (class->ends) {
		flows_place(&f->ends, f->class_at, (struct to_flow_entry){ end, index },
			    f->class_at[index]);
		return 0;
	}
	class->ends = true;
	return flows_push(&f->ends, f->class_at, end, index);
}

/* The flow of @stream, with one like it more. */
static uint32_t flows_join(struct to_flows *f, struct to_stream *stream, double now)
{
	f->maxmin.shares = f->streams.shares;
	if (stream->flow != UINT32_MAX)
		return to_maxmin_join(&f->maxmin, stream->flow) ? UINT32_MAX : stream->flow;
	stream->flow = to_maxmin_add(&f->maxmin, stream->first, stream->n);
	if (stream->flow == UINT32_MAX || flows_reserve_flow(f, stream->flow))
		return UINT32_MAX;
	f->first_part[stream->flow] = UINT32_MAX;
	for (uint32_t i = 0; i < stream->n; i++) {
		const uint32_t link = f->streams.shares[stream->first + i].arc;

		if (!f->active[link]++)
			f->active_since[link] = now;
	}
	return stream->flow;
}

/* Let @part be sent with its flow, which has a bottleneck. */
static int flows_enter(struct to_flows *f, struct to_part *part, uint32_t arc, double now)
{
	struct to_flow_class *class = &f->classes[arc];

	flows_serve(f, class, now);
	part->class = arc;
	part->since = now;
	part->base = class->served;
	return flows_push(&class->parts, f->part_at, class->served + part->left, part - f->parts);
}

/* Let @part be sent with the flow of its stream. */
static int flows_attach(struct to_flows *f, struct to_part *part, double now)
{
	const uint32_t flow = flows_join(f, &f->streams.streams[part->stream], now);
	uint32_t arc;

	if (flow == UINT32_MAX)
		return -ENOMEM;
	part->next = f->first_part[flow];
	part->previous = UINT32_MAX;
	if (part->next != UINT32_MAX)
		f->parts[part->next].previous = part - f->parts;
	f->first_part[flow] = part - f->parts;
	f->changed = true;
	arc = f->maxmin.flows[flow].arc;
	if (arc == TO_MAXMIN_NONE)
		return 0;
	if (flows_enter(f, part, arc, now))
		return -ENOMEM;
	return flows_end(f, arc);
}

/* Where links change, the stream of @part on those of now, if there is one. */
static int flows_find_stream(struct to_flows *f, struct to_part *part, struct to_error *err)
{
	const struct to_transfer one = { part->src, part->dst, 1 };
	uint32_t *pair = &f->pair[(size_t)part->src * f->router->network->n_servers + part->dst];
	int stream;

	if (f->dark || !to_optical_joins(f->router, part->src, part->dst))
		return 0;
	if (*pair == TO_STREAM_NONE) {
		stream = to_streams_transfers(&f->streams, &one, 1, err);
		if (stream < 0)
			return stream;
		*pair = stream;
	}
	part->stream = *pair;
	return 0;
}

int to_flows_send(struct to_flows *f, const struct to_part *sent, double now,
		  struct to_error *err)
{
	const struct to_optical *o = f->router->optical;
	struct to_part *part;
	int ret = 0;

	if (flows_reserve_part(f))
		return flows_no_memory(err);
	part = &f->parts[f->list[f->n_parts]];
	*part = *sent;
	part->left = part->size;
	part->class = TO_MAXMIN_NONE;
	part->at = f->n_parts;
	if (o && isinf(f->change))
		f->change = fmax((floor(now / o->setting.every) + 1) * o->setting.every, now);
	if (o)
		ret = flows_find_stream(f, part, err);
	if (!ret && part->stream != TO_STREAM_NONE && flows_attach(f, part, now))
		ret = flows_no_memory(err);
	if (ret)
		return ret;
	f->n_parts++;
	return 0;
}

double to_flows_end(const struct to_flows *f)
{
	return f->ends.n ? f->ends.entries[0].key : INFINITY;
}

static void flows_count_bytes(struct to_flows *f, const struct to_stream *stream, double bytes)
{
	for (uint32_t i = 0; i < stream->n; i++) {
		const struct to_share *share = &f->streams.shares[stream->first + i];

		f->link_bytes[share->arc] += share->bytes * bytes;
	}
}

/* Say what @part has sent when, before it leaves its class. */
static void flows_record(struct to_flows *f, const struct to_part *part, double now)
{
	const struct to_flow_class *class = &f->classes[part->class];
	const struct to_stream *stream = &f->streams.streams[part->stream];
	struct to_utilisation_span span = { part->class, part->since, now, part->base, 0 };

	if (!f->utilisation || !isfinite(class->rate))
		return;
	to_utilisation_pass(f->utilisation, part->class, class->since, now, class->served,
			    class->rate);
	span.end = fmin(class->served + class->rate * (now - class->since),
			class->parts.entries[f->part_at[part - f->parts]].key);
	to_utilisation_add(f->utilisation, f->streams.shares + stream->first, stream->n, &span);
}

/* No part of @stream is being sent any more. */
static void flows_part_from(struct to_flows *f, struct to_stream *stream, double now)
{
	for (uint32_t i = 0; i < stream->n; i++) {
		const uint32_t link = f->streams.shares[stream->first + i].arc;

		if (!--f->active[link])
			f->link_busy[link] += now - f->active_since[link];
	}
	stream->flow = UINT32_MAX;
}

const struct to_part *to_flows_sent(struct to_flows *f, double now, double *latency)
{
	struct to_flow_class *class = &f->classes[f->ends.entries[0].index];
	const uint32_t index = class->parts.entries[0].index, last = f->list[--f->n_parts];
	const struct to_part *part = &f->parts[index];
	struct to_stream *stream = &f->streams.streams[part->stream];

	flows_record(f, part, now);
	flows_drop(&class->parts, f->part_at, index);
	/* which has its place in that heap */
	(void)flows_end(f, class - f->classes);
	f->list[part->at] = last;
	f->parts[last].at = part->at;
	f->list[f->n_parts] = index;
	if (part->previous != UINT32_MAX)
		f->parts[part->previous].next = part->next;
	else
		f->first_part[stream->flow] = part->next;
	if (part->next != UINT32_MAX)
		f->parts[part->next].previous = part->previous;
	flows_count_bytes(f, stream, part->size);
	to_maxmin_remove(&f->maxmin, stream->flow);
	if (f->first_part[stream->flow] == UINT32_MAX)
		flows_part_from(f, stream, now);
	*latency = part->steps * stream->latency;
	f->changed = true;
	return part;
}

/* Parts of @move's flow have another bottleneck. */
static int flows_move(struct to_flows *f, const struct to_maxmin_move *move, double now)
{
	const uint32_t to = f->maxmin.flows[move->flow].arc;

	for (uint32_t p = f->first_part[move->flow]; p != UINT32_MAX; p = f->parts[p].next) {
		struct to_part *part = &f->parts[p];

		if (move->from != TO_MAXMIN_NONE) {
			struct to_flow_class *from = &f->classes[move->from];

			flows_record(f, part, now);
			flows_serve(f, from, now);
			part->left = fmax(from->parts.entries[f->part_at[p]].key - from->served, 0);
			flows_drop(&from->parts, f->part_at, p);
		}
		if (flows_enter(f, part, to, now))
			return -ENOMEM;
	}
	return 0;
}

int to_flows_set_rates(struct to_flows *f, double now)
{
	const struct to_maxmin *m = &f->maxmin;
	uint32_t i;

	if (!f->changed)
		return 0;
	f->changed = false;
	f->maxmin.shares = f->streams.shares;
	if (to_maxmin_solve(&f->maxmin))
		return -ENOMEM;
	for (i = 0; i < m->n_moved; i++)
		if (flows_move(f, &m->moved[i], now))
			return -ENOMEM;
	for (i = 0; i < m->n_changed; i++) {
		struct to_flow_class *class = &f->classes[m->changed[i]];

		flows_serve(f, class, now);
		class->rate = m->arcs[m->changed[i]].rate;
		if (flows_end(f, m->changed[i]))
			return -ENOMEM;
	}
	for (i = 0; i < m->n_moved; i++)
		if ((m->moved[i].from != TO_MAXMIN_NONE && flows_end(f, m->moved[i].from)) ||
		    flows_end(f, m->flows[m->moved[i].flow].arc))
			return -ENOMEM;
	return 0;
}

void to_flows_finish(struct to_flows *f)
{
	const uint32_t *alike = f->router->alike;

	for (uint32_t i = 0; alike && i < f->router->network->n_links; i++) {
		f->link_bytes[i] = f->link_bytes[alike[i]];
		f->link_busy[i] = f->link_busy[alike[i]];
	}
}

/* Count what is left of each part, so that links may change. */
static void flows_settle(struct to_flows *f)
{
	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct to_part *part = &f->parts[f->list[i]];
		struct to_flow_class *class;

		if (part->stream == TO_STREAM_NONE)
			continue;
		class = &f->classes[part->class];
		flows_serve(f, class, f->change);
		part->left = fmax(class->parts.entries[f->part_at[f->list[i]]].key - class->served, 0);
	}
}

/* Nothing is sent until there are other links. */
static void flows_darken(struct to_flows *f)
{
	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct to_part *part = &f->parts[f->list[i]];
		struct to_stream *stream = &f->streams.streams[part->stream];

		if (part->stream == TO_STREAM_NONE)
			continue;
		flows_record(f, part, f->change);
		flows_count_bytes(f, stream, part->size - part->left);
		if (stream->flow != UINT32_MAX)
			flows_part_from(f, stream, f->change);
		part->size = part->left;
		part->stream = TO_STREAM_NONE;
		part->class = TO_MAXMIN_NONE;
	}
	flows_clear_classes(f);
	f->dark = true;
}

static int flows_light(struct to_flows *f, struct to_error *err)
{
	const size_t n = f->router->network->n_servers;
	int ret = 0;

	if (to_optical_change(f->router))
		return flows_no_memory(err);
	for (uint32_t i = 0; i < f->router->network->n_links; i++)
		f->capacity[i] = f->router->network->links[i].capacity;
	to_streams_rewind(&f->streams);
	memset(f->pair, 0xff, n * n * sizeof(*f->pair));
	f->dark = false;
	for (uint32_t i = 0; !ret && i < f->n_parts; i++) {
		struct to_part *part = &f->parts[f->list[i]];

		ret = flows_find_stream(f, part, err);
		if (!ret && part->stream != TO_STREAM_NONE && flows_attach(f, part, f->change))
			ret = flows_no_memory(err);
	}
	return ret;
}

int to_flows_begin(struct to_flows *f, struct to_error *err)
{
	const int ret = to_optical_decide(f->router, f->unsent, err);

	if (ret < 0)
		return ret;
	return flows_light(f, err);
}

/* Decide; the next time for it is known when links have changed. */
static int flows_decide(struct to_flows *f, struct to_error *err)
{
	const struct to_optical_setting *setting = &f->router->optical->setting;
	const size_t n = f->router->network->n_servers;
	int ret;

	flows_settle(f);
	memset(f->unsent, 0, n * n * sizeof(*f->unsent));
	for (uint32_t i = 0; i < f->n_parts; i++) {
		const struct to_part *part = &f->parts[f->list[i]];

		/* whatever rounding left of it: without demand it would wait for ever */
		f->unsent[part->src * n + part->dst] += fmax(ceil(part->left), 1);
	}
	ret = to_optical_decide(f->router, f->unsent, err);
	if (ret < 0)
		return ret;
	if (!ret) {
		f->change += setting->every;
		return 0;
	}
	flows_darken(f);
	f->n_changes++;
	f->change += setting->dark;
	return 0;
}

int to_flows_change(struct to_flows *f, struct to_error *err)
{
	const struct to_optical_setting *setting = &f->router->optical->setting;
	int ret;

	if (!f->n_parts && !f->dark) {
		f->change = INFINITY;
		return 0;
	}
	if (!f->dark)
		return flows_decide(f, err);
	ret = flows_light(f, err);
	f->change += setting->every - setting->dark;
	return ret;
}
