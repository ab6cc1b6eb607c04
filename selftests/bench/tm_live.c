// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What an interval of the closed loop takes the controller before it decides anything:
 * to read the recordings that agents sent, and to merge them with those before.
 *
 *	tm_live SERVERS...
 *
 * Each server has four ports, on links at +-1 and +-5, and sends to twelve others over
 * one relay or two, by RDMA that no kernel at the ends sees or by TCP.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "control/fabric_records.h"
#include "format/tm_json.h"

#define INTERVAL 50000000ull
#define INTERVALS 40
#define WARM 8

static const int jumps[] = { 1, -1, 5, -5 };

/* What @server recorded: links out by port p lead to port p ^ 1 of the server at jumps[p]. */
static struct to_tm *record(unsigned int n, unsigned int server)
{
	struct to_tm *r = to_tm_new(n);
	struct to_tm_sample *sample;

	strcpy(r->job, "bench");
	strcpy(r->plan, "0123456789abcdef");
	r->generation = 1;
	r->interval_ns = INTERVAL;
	r->server = server;
	r->n_ports = 4;
	r->ports = calloc(4, sizeof(*r->ports));
	for (unsigned int i = 0; i < n; i++)
		snprintf(r->servers[i], TO_NAME_MAX, "s%u", i);
	sample = to_tm_add_sample(r);
	sample->elapsed_ns = INTERVAL;
	sample->ports = calloc(4, sizeof(*sample->ports));
	for (unsigned int p = 0; p < 4; p++) {
		snprintf(r->ports[p].name, IFNAMSIZ, "eth%u", p);
		r->ports[p].to.server = (server + n + jumps[p]) % n;
		snprintf(r->ports[p].to.port, IFNAMSIZ, "eth%u", p ^ 1);
		r->ports[p].from = r->ports[p].to;
	}
	/* pairs a + jump + jump', and a + jump + jump + jump': what is seen of them here */
	for (int p = 0; p < 4; p++)
		for (int q = 0; q < 4; q++) {
			const uint32_t dst = (server + n + jumps[q]) % n;
			const uint32_t src = (server + n - jumps[p]) % n;
			struct to_tm_flow flow = { src, dst, p ^ 1, q, p & 1 ? TO_TM_TCP :
						   TO_TM_ROCE, 100, 100000 + 100 * q };

			if (p == (q ^ 1))
				continue;
			to_tm_add_flow(sample, &flow);
			sample->ports[p ^ 1].rx_bytes += flow.bytes;
			sample->ports[q].tx_bytes += flow.bytes;
			flow.src = (src + n - jumps[p]) % n;
			to_tm_add_flow(sample, &flow);
			sample->ports[p ^ 1].rx_bytes += flow.bytes;
			sample->ports[q].tx_bytes += flow.bytes;
			if (flow.class != TO_TM_TCP)
				continue;
			flow = (struct to_tm_flow){ server, (dst + n + jumps[q]) % n,
						    TO_TM_NO_PORT, q, TO_TM_TCP, 100, 100000 };
			to_tm_add_flow(sample, &flow);
			sample->ports[q].tx_bytes += flow.bytes;
		}
	for (unsigned int p = 0; p < 4; p++) {	/* RDMA of the ends */
		sample->ports[p].tx_bytes += 1000000;
		sample->ports[p].rx_bytes += 1000000;
	}
	return r;
}

static char *text_of(struct to_tm *record, unsigned int interval, const char *names, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	record->samples->start_ns = (1000 + interval) * INTERVAL;
	record->samples->end_ns = (1001 + interval) * INTERVAL;
	to_tm_print(out, record, names);
	fclose(out);
	return text;
}

static int run(unsigned int n)
{
	struct to_cluster *cluster = to_cluster_synthetic(n, 4, 0, TO_LINKS_DUPLEX, NULL);
	struct to_tm **records = calloc(n, sizeof(*records));
	char (*errors)[256] = calloc(n, sizeof(*errors));
	double reading = 0, merging = 0, worst = 0;
	struct to_tm_live *live = NULL;
	unsigned int samples = 0, pairs = 0, rows;
	struct to_tm_names names;
	struct rusage usage;

	for (unsigned int s = 0; s < n; s++) {
		records[s] = record(n, s);
		strcpy(cluster->servers[s].name, records[s]->servers[s]);
	}
	to_tm_names_init(&names, cluster);
	rows = records[0]->samples->n_flows;
	for (unsigned int k = 0; k < INTERVALS; k++) {
		struct to_fabric_records all;
		struct to_error err = { 0 };
		uint64_t start;
		double seconds;
		struct to_tm *tm;

		to_fabric_records_init(&all, cluster);
		all.names = &names;
		all.interval_ns = INTERVAL;
		all.until_ns = UINT64_MAX;
		for (unsigned int s = 0; s < n; s++) {
			size_t len;
			char *text = text_of(records[s], k, names.fingerprint, &len);

			start = to_clock_monotonic_ns();
			if (to_fabric_records_add(&all, s, text, len, &err))
				return fprintf(stderr, "%s\n", err.text), 1;
			reading += k < WARM ? 0 : to_clock_seconds_since(start);
			free(text);
		}
		start = to_clock_monotonic_ns();
		if (to_fabric_records_merge(&all, errors, &live, &tm, &err))
			return fprintf(stderr, "%s\n", err.text), 1;
		seconds = k < WARM ? 0 : to_clock_seconds_since(start);
		merging += seconds;
		worst = seconds > worst ? seconds : worst;
		samples += tm->n_samples;
		if (tm->n_samples)
			pairs = tm->samples[0].n_flows;
		to_tm_free(tm);
		to_fabric_records_free(&all);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%5u servers, %u rows each: read %7.2f ms, merge %7.2f ms (worst %.2f), %u pairs; %u samples, %ld MiB at most\n",
	       n, rows, reading / (INTERVALS - WARM) * 1e3, merging / (INTERVALS - WARM) * 1e3,
	       worst * 1e3, pairs, samples, usage.ru_maxrss / 1024);
	for (unsigned int s = 0; s < n; s++)
		to_tm_free(records[s]);
	to_tm_live_free(live);
	to_tm_names_free(&names);
	to_cluster_free(cluster);
	free(records);
	free(errors);
	return 0;
}

int main(int argc, char **argv)
{
	int ret = 0;

	for (int i = 1; i < argc && !ret; i++)
		ret = run(strtoul(argv[i], NULL, 10));
	return ret;
}
