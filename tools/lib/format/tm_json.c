// SPDX-License-Identifier: GPL-2.0-or-later
/* tm.json. */

#include "format/tm_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "format/names.h"

#define COUNT_MAX ((int64_t)1 << 53)	/* exact in every reader of JSON */

/* One column of a row of numbers. */
struct column {
	const char *name;
	int64_t min, max;
};

static int tm_read_row(const struct to_json *at, const struct column *columns,
		       unsigned int n, int64_t *row)
{
	if (json_array_size(at->value) != n)
		return to_json_error(at, -EINVAL, "expected an array of %u numbers",
				     n);
	for (unsigned int i = 0; i < n; i++) {
		struct to_json child = to_json_element(at, i);

		row[i] = json_integer_value(child.value);
		if (!json_is_integer(child.value) || row[i] < columns[i].min ||
		    row[i] > columns[i].max)
			return to_json_error(&child, -EINVAL,
					     "expected %s, %" PRId64 " to %" PRId64,
					     columns[i].name, columns[i].min,
					     columns[i].max);
	}
	return 0;
}

/**
 * struct reading - a matrix that is being read
 * @names: see to_tm_parse()
 * @by_name: indices of its servers, sorted by name; those of @names, or @sorted
 */
struct reading {
	struct to_tm *tm;
	const struct to_tm_names *names;
	const uint32_t *by_name;
	uint32_t *sorted;
};

static struct to_tm *tm_reading(const struct to_json *at)
{
	const struct reading *reading = at->doc->context;

	return reading->tm;
}

static struct to_tm_sample *tm_reading_sample(const struct to_json *at)
{
	return &tm_reading(at)->samples[at->up->index];
}

static int tm_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-tm");
}

static int tm_read_fingerprint(const struct to_json *at, void *to)
{
	const char *text = json_string_value(at->value);

	if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return to_json_error(at, -EINVAL, "expected 16 hexadecimal digits");
	strcpy(to, text);
	return 0;
}

static int tm_read_classes(const struct to_json *at, void *to)
{
	unsigned int n;
	int ret;

	(void)to;
	ret = to_json_array(at, 0, NULL, &n);
	for (unsigned int i = 0; !ret && i < TO_TM_CLASSES; i++) {
		const char *name = json_string_value(json_array_get(at->value, i));

		if (n != TO_TM_CLASSES || !name || strcmp(name, to_tm_class_names[i]))
			ret = to_json_error(at, -EINVAL,
					    "expected [\"roce\", \"tcp\", \"other\"]");
	}
	return ret;
}

/* The server whose name are the @len bytes at @name, or -1. */
static int tm_find_server(const struct to_json *at, const char *name, size_t len)
{
	const struct reading *reading = at->doc->context;
	unsigned int low = 0, high = reading->tm->n_servers;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		const char *other = reading->tm->servers[reading->by_name[middle]];
		int order = strncmp(name, other, len);

		if (!order && !other[len])
			return reading->by_name[middle];
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* Names are found by their order from now on. */
static int tm_sort_servers(const struct to_json *at)
{
	struct reading *reading = at->doc->context;
	struct to_tm *tm = reading->tm;

	reading->sorted = to_tm_names_sort((const void *)tm->servers, tm->n_servers);
	reading->by_name = reading->sorted;
	if (!reading->by_name)
		return to_json_error(at, -ENOMEM, "out of memory");
	for (unsigned int i = 1; i < tm->n_servers; i++) {
		const uint32_t twice = reading->by_name[i];
		struct to_json child = to_json_element(at, twice);

		if (!strcmp(tm->servers[reading->by_name[i - 1]], tm->servers[twice]))
			return to_json_error(&child, -EINVAL, "\"%s\" is there twice",
					     tm->servers[twice]);
	}
	return 0;
}

/* The names that writer and reader have, for which their fingerprint stands. */
static int tm_take_names(const struct to_json *at, const struct to_tm_names *names)
{
	struct reading *reading = at->doc->context;
	const size_t size = names->n * sizeof(*names->servers);

	if (strcmp(json_string_value(at->value), names->fingerprint))
		return to_json_error(at, -EINVAL, "expected names, or \"%s\"",
				     names->fingerprint);
	reading->tm->servers = malloc(size + 1);
	if (!reading->tm->servers)
		return to_json_error(at, -ENOMEM, "out of memory");
	memcpy(reading->tm->servers, names->servers, size);
	reading->tm->n_servers = names->n;
	reading->by_name = names->by_name;
	return 0;
}

static int tm_read_servers(const struct to_json *at, void *to)
{
	const struct to_tm_names *names = ((struct reading *)at->doc->context)->names;
	struct to_tm *tm = tm_reading(at);
	unsigned int n;
	int ret;

	(void)to;
	if (json_is_string(at->value) && names)
		return tm_take_names(at, names);
	ret = to_json_array(at, sizeof(*tm->servers), &tm->servers, &n);
	if (!ret && (!n || n > TO_SERVERS_MAX))
		ret = to_json_error(at, -ERANGE, "expected 1 to %d servers", TO_SERVERS_MAX);
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_names_read(&child, tm->servers[i]);
		tm->n_servers += !ret;
	}
	return ret ? ret : tm_sort_servers(at);
}

static int tm_read_server(const struct to_json *at, void *to)
{
	const char *name;
	int ret, server;

	ret = to_json_string(at, &name);
	if (ret)
		return ret;
	server = tm_find_server(at, name, strlen(name));
	if (server < 0)
		return to_json_error(at, -EINVAL, "no server is called \"%s\"", name);
	*(uint32_t *)to = server;
	return 0;
}

/* "s1:eth0"; null for no link. */
static int tm_read_end(const struct to_json *at, void *to)
{
	struct to_tm_end *end = to;
	const char *text, *colon;
	int server;

	end->server = TO_TM_NONE;
	if (json_is_null(at->value))
		return 0;
	text = json_string_value(at->value);
	colon = text ? strchr(text, ':') : NULL;
	if (!colon || !to_names_is_interface(colon + 1))
		return to_json_error(at, -EINVAL, "expected \"SERVER:PORT\"");
	server = tm_find_server(at, text, colon - text);
	if (server < 0)
		return to_json_error(at, -EINVAL, "no server is called \"%.*s\"",
				     (int)(colon - text), text);
	end->server = server;
	strcpy(end->port, colon + 1);
	return 0;
}

static const struct to_json_field port_fields[] = {
	{ "name", to_names_read_interface, offsetof(struct to_tm_port, name), false },
	{ "to", tm_read_end, offsetof(struct to_tm_port, to), false },
	{ "from", tm_read_end, offsetof(struct to_tm_port, from), false },
	{ "packet_switch", to_names_read, offsetof(struct to_tm_port, packet_switch), true },
	{}
};

static const struct to_json_field link_fields[] = {
	{ "from", tm_read_end, offsetof(struct to_tm_link, from), false },
	{ "to", tm_read_end, offsetof(struct to_tm_link, to), false },
	{}
};

static int tm_read_ports(const struct to_json *at, void *to)
{
	struct to_tm *tm = tm_reading(at);
	int ret;

	(void)to;
	ret = to_json_array(at, sizeof(*tm->ports), &tm->ports, &tm->n_ports);
	if (!ret && tm->n_ports > TO_PORTS_MAX)
		ret = to_json_error(at, -ERANGE, "expected at most %d ports", TO_PORTS_MAX);
	for (unsigned int i = 0; !ret && i < tm->n_ports; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, port_fields, &tm->ports[i]);
	}
	return ret;
}

static int tm_read_links(const struct to_json *at, void *to)
{
	struct to_tm *tm = tm_reading(at);
	int ret;

	(void)to;
	ret = to_json_array(at, sizeof(*tm->links), &tm->links, &tm->n_links);
	for (unsigned int i = 0; !ret && i < tm->n_links; i++) {
		struct to_json child = to_json_element(at, i);

		ret = to_json_object(&child, link_fields, &tm->links[i]);
		if (!ret && (tm->links[i].from.server == TO_TM_NONE ||
			     tm->links[i].to.server == TO_TM_NONE))
			ret = to_json_error(&child, -EINVAL, "expected two ends");
	}
	return ret;
}

static int tm_read_missing(const struct to_json *at, void *to)
{
	struct to_tm *tm = tm_reading(at);
	unsigned int n;
	int ret;

	(void)to;
	tm->missing = calloc(tm->n_servers, sizeof(*tm->missing));
	if (!tm->missing)
		return to_json_error(at, -ENOMEM, "out of memory");
	ret = to_json_array(at, 0, NULL, &n);
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_json child = to_json_element(at, i);
		uint32_t server;

		ret = tm_read_server(&child, &server);
		if (!ret)
			tm->missing[server] = true;
	}
	return ret;
}

static int tm_read_stale(const struct to_json *at, void *to)
{
	struct to_tm *tm = tm_reading(at);
	int ret;

	(void)to;
	ret = to_json_array(at, sizeof(*tm->stale), &tm->stale, &tm->n_stale);
	for (unsigned int i = 0; !ret && i < tm->n_stale; i++) {
		struct to_json child = to_json_element(at, i);

		ret = tm_read_end(&child, &tm->stale[i]);
		if (!ret && tm->stale[i].server == TO_TM_NONE)
			ret = to_json_error(&child, -EINVAL, "expected \"SERVER:PORT\"");
	}
	return ret;
}

/* Rows [src, dst, class, packets, bytes], with in and out before on a server. */
static int tm_read_flows(const struct to_json *at, void *to)
{
	struct to_tm *tm = tm_reading(at);
	const struct column columns[] = {
		{ "an ingress port", TO_TM_NO_PORT, (int64_t)tm->n_ports - 1 },
		{ "an egress port", TO_TM_NO_PORT, (int64_t)tm->n_ports - 1 },
		{ "a source server", -1, (int64_t)tm->n_servers - 1 },
		{ "a destination server", -1, (int64_t)tm->n_servers - 1 },
		{ "a class", 0, TO_TM_CLASSES - 1 },
		{ "packets", 0, COUNT_MAX },
		{ "bytes", 0, COUNT_MAX },
	};
	int64_t row[7] = { TO_TM_NO_PORT, TO_TM_NO_PORT };
	const int skip = tm->server == TO_TM_FABRIC ? 2 : 0;
	unsigned int n;
	int ret;

	(void)to;
	ret = to_json_array(at, 0, NULL, &n);
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_json child = to_json_element(at, i);

		ret = tm_read_row(&child, columns + skip, 7 - skip, row + skip);
		if (ret)
			break;
		ret = to_tm_add_flow(tm_reading_sample(at), &(struct to_tm_flow){
			.in = row[0], .out = row[1],
			.src = row[2] < 0 ? TO_TM_NONE : row[2],
			.dst = row[3] < 0 ? TO_TM_NONE : row[3],
			.class = row[4], .packets = row[5], .bytes = row[6] });
		if (ret)
			to_json_error(at, ret, "out of memory");
	}
	return ret;
}

static int tm_read_counters(const struct to_json *at, void *to)
{
	static const struct column columns[] = {
		{ "received packets", 0, COUNT_MAX },
		{ "received bytes", 0, COUNT_MAX },
		{ "sent packets", 0, COUNT_MAX },
		{ "sent bytes", 0, COUNT_MAX },
	};
	struct to_tm_counters **ports = to;
	int64_t row[4];
	unsigned int n;
	int ret;

	ret = to_json_array(at, sizeof(**ports), ports, &n);
	if (!ret && n != tm_reading(at)->n_ports)
		ret = to_json_error(at, -EINVAL, "expected a row for each port");
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_json child = to_json_element(at, i);

		ret = tm_read_row(&child, columns, 4, row);
		(*ports)[i] = (struct to_tm_counters){ row[0], row[1], row[2], row[3] };
	}
	return ret;
}

static int tm_read_link_bytes(const struct to_json *at, void *to)
{
	static const struct column columns[] = {
		{ "bytes carried", 0, COUNT_MAX },
		{ "bytes seen", 0, COUNT_MAX },
		{ "bytes that bypassed", 0, COUNT_MAX },
		{ "bytes lost", -COUNT_MAX, COUNT_MAX },
	};
	struct to_tm_link_bytes **links = to;
	int64_t row[4];
	unsigned int n;
	int ret;

	ret = to_json_array(at, sizeof(**links), links, &n);
	if (!ret && n != tm_reading(at)->n_links)
		ret = to_json_error(at, -EINVAL, "expected a row for each link");
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_json child = to_json_element(at, i);

		ret = tm_read_row(&child, columns, 4, row);
		(*links)[i] = (struct to_tm_link_bytes){ row[0], row[1], row[2], row[3] };
	}
	return ret;
}

static int tm_read_lost(const struct to_json *at, void *to)
{
	static const struct column columns[] = {
		{ "packets", 0, COUNT_MAX }, { "bytes", 0, COUNT_MAX },
	};
	struct to_tm_sample *sample = tm_reading_sample(at);
	int64_t row[2];
	int ret;

	(void)to;
	ret = tm_read_row(at, columns, 2, row);
	if (!ret) {
		sample->lost.packets = row[0];
		sample->lost.bytes = row[1];
	}
	return ret;
}

#define SAMPLE(member) offsetof(struct to_tm_sample, member)

static const struct to_json_field server_sample_fields[] = {
	{ "start_ns", to_json_u64, SAMPLE(start_ns), false },
	{ "end_ns", to_json_u64, SAMPLE(end_ns), false },
	{ "elapsed_ns", to_json_u64, SAMPLE(elapsed_ns), false },
	{ "spread_ns", to_json_u64, SAMPLE(spread_ns), true },
	{ "lost", tm_read_lost, 0, false },
	{ "flows", tm_read_flows, 0, false },
	{ "ports", tm_read_counters, SAMPLE(ports), false },
	{}
};

static const struct to_json_field fabric_sample_fields[] = {
	{ "start_ns", to_json_u64, SAMPLE(start_ns), false },
	{ "end_ns", to_json_u64, SAMPLE(end_ns), false },
	{ "elapsed_ns", to_json_u64, SAMPLE(elapsed_ns), false },
	{ "spread_ns", to_json_u64, SAMPLE(spread_ns), true },
	{ "absent", to_json_u32, SAMPLE(absent), false },
	{ "lost", tm_read_lost, 0, false },
	{ "pairs", tm_read_flows, 0, false },
	{ "links", tm_read_link_bytes, SAMPLE(links), false },
	{}
};

/* Samples begin in later and later intervals; one may reach into that of the next. */
static int tm_check_order(const struct to_json *at, const struct to_tm *tm)
{
	const struct to_tm_sample *sample = &tm->samples[tm->n_samples - 1];
	const char *who = tm->server == TO_TM_FABRIC ? "the fabric" : tm->servers[tm->server];
	uint64_t before, now;

	if (tm->n_samples < 2)
		return 0;
	before = sample[-1].start_ns / tm->interval_ns;
	now = sample->start_ns / tm->interval_ns;
	if (now < before)
		return to_json_error(at, -EINVAL, "of %s: it begins before samples[%u]", who,
				     tm->n_samples - 2);
	if (now == before)
		return to_json_error(at, -EINVAL,
				     "of %s: it begins in the same interval as samples[%u]", who,
				     tm->n_samples - 2);
	return 0;
}

static int tm_read_sample(const struct to_json *at, struct to_tm *tm)
{
	struct to_tm_sample *sample = to_tm_add_sample(tm);
	int ret;

	if (!sample)
		return to_json_error(at, -ENOMEM, "out of memory");
	ret = to_json_object(at, tm->server == TO_TM_FABRIC ? fabric_sample_fields :
							      server_sample_fields, sample);
	if (!ret && sample->end_ns < sample->start_ns)
		ret = to_json_error(at, -EINVAL, "ends before it starts");
	return ret ? ret : tm_check_order(at, tm);
}

static int tm_read_samples(const struct to_json *at, void *to)
{
	struct to_json_iter iter = { 0 };
	struct to_json child;
	int ret, wrong;

	(void)to;
	if (!json_is_array(at->value))
		return to_json_error(at, -EINVAL, "expected an array");
	while ((ret = to_json_next(at, &iter, &child)) > 0) {
		wrong = tm_read_sample(&child, tm_reading(at));
		if (wrong) {
			to_json_stop(&iter);
			return wrong;
		}
	}
	return ret;
}

#define TM(member) offsetof(struct to_tm, member)
#define COMMON_FIELDS \
	{ "format", tm_read_format, 0, false }, \
	{ "version", to_json_version, 0, false }, \
	{ "comment", to_json_comment, 0, true }, \
	{ "job", to_names_read_label, TM(job), false }, \
	{ "plan", tm_read_fingerprint, TM(plan), false }, \
	{ "interval_ns", to_json_positive, TM(interval_ns), false }, \
	{ "classes", tm_read_classes, 0, false }, \
	{ "servers", tm_read_servers, 0, false }

static const struct to_json_field server_fields[] = {
	COMMON_FIELDS,
	{ "server", tm_read_server, TM(server), false },
	{ "generation", to_json_u64, TM(generation), false },
	{ "ports", tm_read_ports, 0, false },
	{ "samples", tm_read_samples, 0, false },
	{}
};

static const struct to_json_field fabric_fields[] = {
	COMMON_FIELDS,
	{ "links", tm_read_links, 0, false },
	{ "missing", tm_read_missing, 0, true },
	{ "stale", tm_read_stale, 0, true },
	{ "samples", tm_read_samples, 0, false },
	{}
};

struct to_tm *to_tm_parse(const char *data, size_t len, const char *name,
			  const struct to_tm_names *names, struct to_error *err)
{
	struct to_tm *tm = calloc(1, sizeof(*tm));
	struct reading reading = { .tm = tm, .names = names };
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (!tm) {
		to_error_set(err, -ENOMEM, "%s: out of memory", name);
		return NULL;
	}
	tm->server = TO_TM_FABRIC;
	ret = to_json_open_deferred(&doc, &at, data, len, name, "samples", &reading, err);
	if (!ret)
		ret = to_json_object(&at, json_object_get(at.value, "server") ?
				     server_fields : fabric_fields, tm);
	to_json_close(&doc);
	free(reading.sorted);
	if (ret) {
		to_tm_free(tm);
		return NULL;
	}
	return tm;
}

struct to_tm *to_tm_load(const char *path, struct to_error *err)
{
	struct to_tm *tm;
	char *data;
	size_t len;

	if (to_file_read(path, TO_FILE_RECORDING_MAX, &data, &len, err))
		return NULL;
	tm = to_tm_parse(data, len, path, NULL, err);
	free(data);
	return tm;
}

/* Writing: one line per sample. */

static void tm_write_end(FILE *out, const struct to_tm *tm, const char *key,
			 const struct to_tm_end *end)
{
	if (end->server == TO_TM_NONE)
		fprintf(out, "\"%s\": null", key);
	else
		fprintf(out, "\"%s\": \"%s:%s\"", key, tm->servers[end->server],
			end->port);
}

static long long tm_index_or_none(uint32_t server)
{
	return server == TO_TM_NONE ? -1 : (long long)server;
}

static void tm_write_flows(FILE *out, const struct to_tm *tm,
			   const struct to_tm_sample *sample)
{
	fprintf(out, "\"%s\": [", tm->server == TO_TM_FABRIC ? "pairs" : "flows");
	for (unsigned int i = 0; i < sample->n_flows; i++) {
		const struct to_tm_flow *flow = &sample->flows[i];

		fprintf(out, "%s[", i ? ", " : "");
		if (tm->server != TO_TM_FABRIC)
			fprintf(out, "%d, %d, ", flow->in, flow->out);
		fprintf(out, "%lld, %lld, %d, %" PRIu64 ", %" PRIu64 "]",
			tm_index_or_none(flow->src), tm_index_or_none(flow->dst),
			flow->class, flow->packets, flow->bytes);
	}
	fprintf(out, "]");
}

static void tm_write_sample(FILE *out, const struct to_tm *tm,
			    const struct to_tm_sample *sample)
{
	fprintf(out, "{\"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64
		", \"elapsed_ns\": %" PRIu64 ", ", sample->start_ns,
		sample->end_ns, sample->elapsed_ns);
	if (sample->spread_ns)
		fprintf(out, "\"spread_ns\": %" PRIu64 ", ", sample->spread_ns);
	if (tm->server == TO_TM_FABRIC)
		fprintf(out, "\"absent\": %u, ", sample->absent);
	fprintf(out, "\"lost\": [%" PRIu64 ", %" PRIu64 "], ",
		sample->lost.packets, sample->lost.bytes);
	tm_write_flows(out, tm, sample);
	if (tm->server == TO_TM_FABRIC) {
		fprintf(out, ", \"links\": [");
		for (unsigned int i = 0; i < tm->n_links; i++)
			fprintf(out, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64
				", %" PRId64 "]", i ? ", " : "",
				sample->links[i].carried, sample->links[i].seen,
				sample->links[i].bypass, sample->links[i].lost);
	} else {
		fprintf(out, ", \"ports\": [");
		for (unsigned int i = 0; i < tm->n_ports; i++)
			fprintf(out, "%s[%" PRIu64 ", %" PRIu64 ", %" PRIu64
				", %" PRIu64 "]", i ? ", " : "",
				sample->ports[i].rx_packets,
				sample->ports[i].rx_bytes,
				sample->ports[i].tx_packets,
				sample->ports[i].tx_bytes);
	}
	fprintf(out, "]}");
}

/* The names, or what stands for them. */
static void tm_write_servers(FILE *out, const struct to_tm *tm, const char *names)
{
	char fingerprint[17];

	if (names) {
		to_tm_names_fingerprint((const void *)tm->servers, tm->n_servers, fingerprint);
		if (!strcmp(names, fingerprint)) {
			fprintf(out, "\"%s\"", fingerprint);
			return;
		}
	}
	for (unsigned int i = 0; i < tm->n_servers; i++)
		fprintf(out, "%s\"%s\"", i ? ", " : "[", tm->servers[i]);
	fputc(']', out);
}

void to_tm_print(FILE *out, const struct to_tm *tm, const char *names)
{
	const char *separator = "";

	fprintf(out, "{\n\"format\": \"topoopt-tm\", \"version\": 1,\n\"job\": ");
	to_json_print_string(out, tm->job);
	fprintf(out, ",\n\"plan\": \"%s\", \"interval_ns\": %" PRIu64
		",\n\"classes\": [\"roce\", \"tcp\", \"other\"],\n\"servers\": ",
		tm->plan, tm->interval_ns);
	tm_write_servers(out, tm, names);
	if (tm->server != TO_TM_FABRIC) {
		fprintf(out, ",\n\"server\": \"%s\", \"generation\": %" PRIu64
			",\n\"ports\": [", tm->servers[tm->server],
			tm->generation);
		for (unsigned int i = 0; i < tm->n_ports; i++) {
			fprintf(out, "%s\n  {\"name\": ", i ? "," : "");
			to_json_print_string(out, tm->ports[i].name);
			fprintf(out, ", ");
			tm_write_end(out, tm, "to", &tm->ports[i].to);
			fprintf(out, ", ");
			tm_write_end(out, tm, "from", &tm->ports[i].from);
			if (tm->ports[i].packet_switch[0]) {
				fprintf(out, ", \"packet_switch\": ");
				to_json_print_string(out, tm->ports[i].packet_switch);
			}
			fprintf(out, "}");
		}
	} else {
		fprintf(out, ",\n\"links\": [");
		for (unsigned int i = 0; i < tm->n_links; i++) {
			fprintf(out, "%s\n  {", i ? "," : "");
			tm_write_end(out, tm, "from", &tm->links[i].from);
			fprintf(out, ", ");
			tm_write_end(out, tm, "to", &tm->links[i].to);
			fprintf(out, "}");
		}
	}
	if (tm->missing) {
		fprintf(out, "],\n\"missing\": [");
		for (unsigned int i = 0; i < tm->n_servers; i++)
			if (tm->missing[i]) {
				fprintf(out, "%s\"%s\"", separator, tm->servers[i]);
				separator = ", ";
			}
	}
	for (unsigned int i = 0; i < tm->n_stale; i++)
		fprintf(out, "%s\"%s:%s\"", i ? ", " : "],\n\"stale\": [",
			tm->servers[tm->stale[i].server], tm->stale[i].port);
	fprintf(out, "],\n\"samples\": [");
	for (unsigned int i = 0; i < tm->n_samples; i++) {
		fprintf(out, "%s\n", i ? "," : "");
		tm_write_sample(out, tm, &tm->samples[i]);
	}
	fprintf(out, "\n]\n}\n");
}

static int tm_write_tm(FILE *out, const void *tm, struct to_error *err)
{
	(void)err;
	to_tm_print(out, tm, NULL);
	return 0;
}

int to_tm_save(const struct to_tm *tm, const char *path, struct to_error *err)
{
	return to_file_write(path, tm_write_tm, tm, err);
}
