// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"

static const char *tm_check_name(const struct to_tm *record)
{
	return record->servers[record->server];
}

/* Each sample begins in a later interval; it may reach into that of the next. */
static int tm_check_order(const struct to_tm *record, struct to_error *err)
{
	for (unsigned int j = 1; j < record->n_samples; j++) {
		const uint64_t before = record->samples[j - 1].start_ns / record->interval_ns;
		const uint64_t now = record->samples[j].start_ns / record->interval_ns;

		if (now <= before)
			return to_error_set(err, -EINVAL,
					    "the recording of %s: samples[%u] begins %s samples[%u]",
					    tm_check_name(record), j, now < before ? "before" :
					    "in the same interval as", j - 1);
	}
	return 0;
}

/* Return: whether the sums stay within TO_RECORD_SUM_MAX. */
static bool tm_check_add(uint64_t sum[2], uint64_t packets, uint64_t bytes)
{
	sum[0] += packets;
	sum[1] += bytes;
	return sum[0] <= TO_RECORD_SUM_MAX && sum[1] <= TO_RECORD_SUM_MAX;
}

/*
 * So little is counted in all that no sum of a merge overflows: those of a link
 * are of two recordings, those of a pair of the source's and its neighbours'.
 */
static int tm_check_sums(const struct to_tm *record, struct to_error *err)
{
	uint64_t flows[2] = { 0 }, sent[2] = { 0 }, received[2] = { 0 };
	bool small = true;

	for (unsigned int i = 0; small && i < record->n_samples; i++) {
		const struct to_tm_sample *sample = &record->samples[i];

		for (unsigned int j = 0; small && j < sample->n_flows; j++)
			small = tm_check_add(flows, sample->flows[j].packets,
					     sample->flows[j].bytes);
		for (unsigned int p = 0; small && p < record->n_ports; p++) {
			const struct to_tm_counters *c = &sample->ports[p];

			small = tm_check_add(sent, c->tx_packets, c->tx_bytes) &&
				tm_check_add(received, c->rx_packets, c->rx_bytes);
		}
	}
	return small ? 0 : to_error_set(err, -EOVERFLOW,
					"the recording of %s counts more than 2^56 packets or bytes",
					tm_check_name(record));
}

int to_tm_check_record(const struct to_tm *record, struct to_error *err)
{
	int ret;

	if (record->server == TO_TM_FABRIC)
		return to_error_set(err, -EINVAL, "the recording is merged already");
	if (!record->n_samples)
		return to_error_set(err, -EINVAL, "the recording of %s has no sample",
				    tm_check_name(record));
	ret = tm_check_order(record, err);
	return ret ? ret : tm_check_sums(record, err);
}

static int tm_check_same(const struct to_tm *a, const struct to_tm *b, struct to_error *err)
{
	const char *of_a = tm_check_name(a), *of_b = tm_check_name(b);

	if (strcmp(a->plan, b->plan) || a->n_servers != b->n_servers ||
	    memcmp(a->servers, b->servers, a->n_servers * sizeof(*a->servers)))
		return to_error_set(err, -EINVAL, "%s recorded under plan %s, %s under plan %s",
				    of_a, a->plan, of_b, b->plan);
	if (a->interval_ns != b->interval_ns)
		return to_error_set(err, -EINVAL,
				    "%s recorded intervals of %" PRIu64
				    " ns, %s of %" PRIu64 " ns", of_a,
				    a->interval_ns, of_b, b->interval_ns);
	return 0;
}

static uint64_t tm_check_start(const struct to_tm *record)
{
	return record->samples[0].start_ns;
}

static uint64_t tm_check_end(const struct to_tm *record)
{
	return record->samples[record->n_samples - 1].end_ns;
}

int to_tm_check_records(struct to_tm *const *records, unsigned int n,
			const struct to_tm **by_server, struct to_error *err)
{
	const struct to_tm *last_start = records[0], *first_end = records[0];

	for (unsigned int i = 0; i < n; i++) {
		const struct to_tm *r = records[i];
		int ret = 0;

		if (r->server == TO_TM_FABRIC)
			return to_error_set(err, -EINVAL, "recording %u is merged already", i + 1);
		if (i)
			ret = tm_check_same(records[0], r, err);
		ret = ret ? ret : to_tm_check_record(r, err);
		if (ret)
			return ret;
		if (by_server[r->server])
			return to_error_set(err, -EINVAL, "%s is there twice", tm_check_name(r));
		by_server[r->server] = r;
		if (tm_check_start(r) > tm_check_start(last_start))
			last_start = r;
		if (tm_check_end(r) < tm_check_end(first_end))
			first_end = r;
	}
	if (tm_check_start(last_start) >= tm_check_end(first_end))
		return to_error_set(err, -EINVAL,
				    "the recording of %s ends before that of %s starts",
				    tm_check_name(first_end), tm_check_name(last_start));
	return 0;
}
