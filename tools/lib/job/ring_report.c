// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/ring_report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define STRAYS_SHOWN 12		/* pairs in the text */
#define RING_REPORT_SLACK 65536	/* bytes of a pair that are connections and control traffic */

int to_ring_report_fits(const struct to_tm *tm, const char *path, const char *fingerprint,
			const char *plan_path, const struct to_plan *plan, struct to_error *err)
{
	if (tm->n_servers != plan->cluster->n_servers || strcmp(tm->plan, fingerprint))
		return to_error_set(err, -EINVAL, "%s was not measured under the plan %s", path,
				    plan_path);
	if (tm->server != TO_TM_FABRIC)
		return to_error_set(err, -EINVAL,
				    "%s is one server's recording; merge them by toctl tm merge", path);
	if (tm->missing)
		return to_error_set(err, -EINVAL, "%s was merged without all servers", path);
	return 0;
}

static double ring_report_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * part / whole : 0;
}

static void ring_report_text(FILE *out, const struct to_ring_check *check, const struct to_server *servers)
{
	char text[16];

	for (unsigned int i = 0; i < check->n_rings; i++) {
		const struct to_ring_bytes *ring = &check->rings[i];

		fprintf(out, "ring %u%s: %s", ring->ring, ring->reverse ? " back" : "",
		       to_bytes_text(ring->bytes, text));
		if (ring->linked && ring->shared)
			fprintf(out, ", by packet switches, where what is relayed counts as on its links\n");
		else if (ring->linked)
			fprintf(out, ", %.2f %% of it on its links\n",
			       ring_report_percent(ring->on_links, ring->bytes));
		else
			fprintf(out, ", routed: its hops have no links of their own\n");
	}
	for (unsigned int i = 0; i < check->n_strays && i < STRAYS_SHOWN; i++)
		fprintf(out, "stray: %s -> %s: %s\n", servers[check->strays[i].from].name,
		       servers[check->strays[i].to].name,
		       to_bytes_text(check->strays[i].bytes, text));
	if (check->n_strays > STRAYS_SHOWN)
		fprintf(out, "stray: %u more pairs\n", check->n_strays - STRAYS_SHOWN);
	fprintf(out, "%s between all servers: %.2f %% between those that are no neighbours, ",
	       to_bytes_text(check->bytes, text), ring_report_percent(check->stray, check->bytes));
	fprintf(out, "%.2f %% off their links; %.2f %% relayed\n",
	       ring_report_percent(check->off_links, check->bytes),
	       ring_report_percent(check->relayed + check->off_links, check->bytes));
}

/* Servers and why their recordings were missing, for ring_report_json(). */
static json_t *ring_report_missing(json_t *reasons)
{
	json_t *missing = json_array(), *reason;
	const char *server;

	json_object_foreach(reasons, server, reason) {
		json_array_append_new(missing, json_pack("{s:s, s:O}", "server", server, "error",
							 reason));
	}
	return missing;
}

static void ring_report_json(FILE *out, const struct to_ring_check *check,
			     const struct to_server *servers, json_t *reasons)
{
	json_t *rings = json_array(), *strays = json_array(), *report;

	for (unsigned int i = 0; i < check->n_rings; i++)
		json_array_append_new(rings, json_pack(
			"{s:i, s:b, s:b, s:b, s:I, s:I}", "ring", check->rings[i].ring,
			"reverse", check->rings[i].reverse, "linked", check->rings[i].linked,
			"shared", check->rings[i].shared,
			"bytes", (json_int_t)check->rings[i].bytes,
			"on_links", (json_int_t)check->rings[i].on_links));
	for (unsigned int i = 0; i < check->n_strays; i++)
		json_array_append_new(strays, json_pack(
			"{s:s, s:s, s:I}", "from", servers[check->strays[i].from].name,
			"to", servers[check->strays[i].to].name,
			"bytes", (json_int_t)check->strays[i].bytes));
	report = json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "bytes", (json_int_t)check->bytes,
			"stray", (json_int_t)check->stray,
			"off_links", (json_int_t)check->off_links,
			"relayed", (json_int_t)check->relayed,
			"shared", (json_int_t)check->shared, "rings", rings, "strays", strays);
	if (reasons)
		json_object_set_new(report, "missing", ring_report_missing(reasons));
	to_json_write(report, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(report);
}

/* Return: 0, or 1 with @err when too much strayed. */
static int ring_report_judge(const struct to_ring_check *check, const struct to_server *servers,
			     double tolerance, struct to_error *err)
{
	const double astray = ring_report_percent(check->stray + check->off_links, check->bytes);
	const struct to_stray *most = check->strays;

	if (astray <= tolerance)
		return 0;
	if (!check->n_strays)
		return to_error_set(err, 1,
				    "%.2f %% of the bytes went between neighbours off the links between them",
				    astray);
	return to_error_set(err, 1,
			    "%.2f %% of the bytes went between servers that are no neighbours or off their links, most %s -> %s: %" PRIu64 " bytes",
			    astray, servers[most->from].name, servers[most->to].name, most->bytes);
}

int to_ring_report(FILE *out, bool json, const struct to_plan *plan,
		   const struct to_ring_traffic *traffic, json_t *reasons,
		   const struct to_ring_limits *limits, struct to_error *err)
{
	const struct to_server *servers = plan->cluster->servers;
	struct to_ring_check check;
	int ret = to_ring_check(&check, plan, traffic, (double)limits->iterations, RING_REPORT_SLACK, err);

	if (ret)
		return ret;
	if (!check.bytes) {
		ret = to_error_set(err, -ENODATA, "nothing was sent between servers");
	} else {
		if (json)
			ring_report_json(out, &check, servers, reasons);
		else
			ring_report_text(out, &check, servers);
		ret = ring_report_judge(&check, servers, limits->tolerance, err);
	}
	to_ring_check_free(&check);
	return ret;
}
