/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_FLOWS_H
#define TOPOOPT_FLOWS_H

/* What tasks are sending: at which rates, over which links, until when. */

#include "graph/maxmin.h"
#include "simulate/stream.h"
#include "simulate/utilisation.h"

/** to_part.stream of one that waits for a link. */
#define TO_STREAM_NONE UINT32_MAX

/**
 * struct to_part - bytes of a task that share a flow with no one
 * @stream: that takes them, or TO_STREAM_NONE where links change
 * @transfer: of the tasks, UINT32_MAX for no single one
 * @src, @dst, @steps: where links change: its ends, and how often it waits for the
 *	latency of its stream, else 1
 * @size: bytes over that stream
 * @left: of these, before it has a class
 * @since: when it was put into that class, which had served @base bytes then
 * @class: bottleneck of its flow, TO_MAXMIN_NONE before the rates are set
 * @at: in the list
 * @next, @previous: parts of that flow
 */
struct to_part {
	uint32_t task, stream, transfer, src, dst;
	unsigned int steps;
	double size, left, since, base;
	uint32_t class, at, next, previous;
};

/** struct to_flow_entry - @index of a part, or of a class, in a heap by @key */
struct to_flow_entry {
	double key;
	uint32_t index;
};

struct to_flow_heap {
	struct to_flow_entry *entries;
	uint32_t n, max;
};

/**
 * struct to_flow_class - parts of flows that have one bottleneck, and so one @rate
 * @served: bytes that a part has sent that was among them all the time, at the time @since
 * @parts: by what is served when they have been sent
 * @ends: it is in to_flows.ends
 */
struct to_flow_class {
	double served, since, rate;
	struct to_flow_heap parts;
	bool ends;
};

/**
 * struct to_flows - all that is being sent on @router
 * @capacity: bytes/s, per link of the network, then per direction of a PCIe link
 * @classes: of @n_classes, per capacity, and one of flows without
 * @class_at, @part_at: where they are in a heap
 * @ends: classes by the time at which the next part of each has been sent
 * @list: @n_parts, behind them those unused
 * @first_part: per flow
 * @active: flows, per capacity, @active_since a time
 * @link_bytes, @link_busy: as in struct to_simulation, and of PCIe links
 * @changed: flows, since the rates were set
 * @change: where links change: the time at which they do, if @dark, or else a decision is
 *	made; INFINITY while nothing is to be sent
 * @n_changes: how often they did
 * @utilisation: gets what links carry when, or NULL
 * @unsent: scratch: bytes of each pair of servers
 * @pair: stream of each pair of servers, TO_STREAM_NONE before it has one
 */
struct to_flows {
	struct to_router *router;
	double *capacity;
	struct to_streams streams;
	struct to_maxmin maxmin;
	struct to_flow_class *classes;
	uint32_t n_classes, *class_at, *part_at;
	struct to_flow_heap ends;
	struct to_part *parts;
	uint32_t *list, n_parts, max_parts, *first_part, max_flows, *active;
	double *active_since, *link_bytes, *link_busy;
	struct to_utilisation *utilisation;
	bool changed;

	double change;
	bool dark;
	uint32_t n_changes;
	uint64_t *unsent;
	uint32_t *pair;
};

/** to_flows_init() - @router outlives them. Return: 0, or -ENOMEM with @err set */
int to_flows_init(struct to_flows *f, struct to_router *router, struct to_error *err);
void to_flows_free(struct to_flows *f);

/** to_flows_clear() - nothing sent, at time 0 */
void to_flows_clear(struct to_flows *f);

/** to_flows_begin() - where links change, those for @f->unsent, without a dark time */
int to_flows_begin(struct to_flows *f, struct to_error *err);

/**
 * to_flows_send() - begin to send @part
 * @part: its first fields, up to @size; where links change, over those of now, or when
 *	others are there
 *
 * Return: 0, or a negative errno with @err set.
 */
int to_flows_send(struct to_flows *f, const struct to_part *part, double now,
		  struct to_error *err);

/** to_flows_end() - when the next part has been sent, once rates are set; INFINITY for none */
double to_flows_end(const struct to_flows *f);

/**
 * to_flows_sent() - the last byte of that part is on the way
 * @latency: gets the seconds until it has arrived
 *
 * Return: the part, good until the next one is sent.
 */
const struct to_part *to_flows_sent(struct to_flows *f, double now, double *latency);

/** to_flows_set_rates() - after parts came and went; 0 or -ENOMEM */
int to_flows_set_rates(struct to_flows *f, double now);

/** to_flows_finish() - after the last part: count links that are alike as the one of them */
void to_flows_finish(struct to_flows *f);

/** to_flows_change() - at to_flows.change; returns as to_flows_send() */
int to_flows_change(struct to_flows *f, struct to_error *err);

#endif
