// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "job/nccl_log.h"

#define HOST_MAX 256
#define NCCL_LOG_VARIABLE "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

void to_nccl_log_init(struct to_nccl_log *log, const struct to_plan *plan)
{
	*log = (struct to_nccl_log){
		.plan = plan, .nics = json_object(), .set = json_object(),
		.channels = json_array(), .connections = json_array(),
		.processes = json_object(), .ranks = json_object(),
		.orders = json_array(), .sends = json_object(),
	};
}

void to_nccl_log_free(struct to_nccl_log *log)
{
	json_decref(log->nics);
	json_decref(log->set);
	json_decref(log->channels);
	json_decref(log->connections);
	json_decref(log->processes);
	json_decref(log->ranks);
	json_decref(log->orders);
	json_decref(log->sends);
}

/**
 * struct nccl_line - a line of NCCL's, cut
 * @host, @process: "node-1" and "node-1:4711" of "node-1:4711:4712 [0] NCCL INFO ..."
 * @text: what follows NCCL INFO
 */
struct nccl_line {
	char host[HOST_MAX], process[HOST_MAX];
	char *text;
};

/* "HOST:PID:TID": the length of HOST, 0 when it is something else. */
static size_t nccl_log_host(const char *word, size_t length)
{
	const char *end = word + length, *p = end;
	unsigned int colons = 0;

	while (p > word && colons < 2) {
		p--;
		if (*p == ':' && (p + 1 == end || !isdigit((unsigned char)p[1])))
			return 0;
		if (*p == ':')
			colons++;
		else if (!isdigit((unsigned char)*p))
			return 0;
	}
	return colons == 2 && (size_t)(p - word) < HOST_MAX ? p - word : 0;
}

/* Is it one? Launchers and NCCL itself put other words in front. */
static bool nccl_log_cut(char *text, struct nccl_line *line)
{
	static const char mark[] = " NCCL INFO ";
	char *at = strstr(text, mark), *word = text;

	if (!at)
		return false;
	line->text = at + sizeof(mark) - 1;
	while (word < at) {
		size_t length, host;

		word += strspn(word, " ");
		length = strcspn(word, " ");
		host = nccl_log_host(word, length);
		if (host) {
			snprintf(line->host, sizeof(line->host), "%.*s", (int)host, word);
			host += 1 + strspn(word + host + 1, "0123456789");
			snprintf(line->process, sizeof(line->process), "%.*s", (int)host, word);
			return true;
		}
		word += length;
	}
	return false;
}

/* The communicator that a process sets up. */
static const char *nccl_log_comm(const struct to_nccl_log *log, const struct nccl_line *line)
{
	const char *comm = json_string_value(json_object_get(log->processes, line->process));

	return comm ? comm : "";
}

static void nccl_log_rank(struct to_nccl_log *log, const struct nccl_line *line, int server)
{
	const char *rank = strstr(line->text, " rank "), *id = strstr(line->text, " commId ");
	char key[160];

	if (!strstr(line->text, "comm 0x") || !rank)
		return;
	if (id) {
		id += 8;
		json_object_set_new(log->processes, line->process,
				    json_stringn(id, strcspn(id, " ")));
	}
	snprintf(key, sizeof(key), "%.100s/%lu", nccl_log_comm(log, line),
		 strtoul(rank + 6, NULL, 10));
	json_object_set_new(log->ranks, key, json_integer(server));
}

/* "Channel 00/02 :    0   1   2   3", which rank 0 prints. */
static bool nccl_log_order(struct to_nccl_log *log, const struct nccl_line *line,
			   const char *text, unsigned int channel)
{
	json_t *ranks = json_array();
	char *end;

	for (;;) {
		const unsigned long rank = strtoul(text, &end, 10);

		if (end == text)
			break;
		json_array_append_new(ranks, json_integer(rank));
		text = end;
	}
	text += strspn(text, " \r");
	if (*text || json_array_size(ranks) < 2) {
		json_decref(ranks);
		return false;
	}
	json_array_append_new(log->orders, json_pack("{s:i, s:s, s:o}", "channel", channel, "comm",
						     nccl_log_comm(log, line), "ranks", ranks));
	return true;
}

/* "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA" */
static void nccl_log_channel(struct to_nccl_log *log, const struct nccl_line *line)
{
	unsigned int channel, from, to;
	const char *text = strchr(line->text, ':'), *arrow;
	char key[192];
	json_t *count;

	if (!text || sscanf(line->text, "Channel %u", &channel) != 1)
		return;
	if (nccl_log_order(log, line, text + 1, channel))
		return;
	arrow = strstr(text, "-> ");
	if (!arrow || sscanf(text + 1, " %u", &from) != 1 || sscanf(arrow + 3, "%u", &to) != 1 ||
	    !strstr(arrow, "[send] via NET/"))
		return;
	log->rdma |= !!strstr(arrow, "via NET/IB");
	snprintf(key, sizeof(key), "%.100s/%u/%u", nccl_log_comm(log, line), from, to);
	count = json_object_get(log->sends, key);
	json_object_set_new(log->sends, key, json_integer(1 + json_integer_value(count)));
}

/* A string of @len bytes; NULL, which no object takes, unless it can be printed. */
static json_t *nccl_log_text(const char *text, size_t len)
{
	json_t *string = json_stringn(text, len);

	if (string && !to_text_is_clean(json_string_value(string))) {
		json_decref(string);
		string = NULL;
	}
	return string;
}

static void nccl_log_line(struct to_nccl_log *log, const struct nccl_line *line, int server)
{
	static const char by[] = " set by environment to ", to[] = " set to ";
	const char *name = log->plan->cluster->servers[server].name, *at;

	nccl_log_rank(log, line, server);
	if (!strncmp(line->text, "Channel ", 8)) {
		nccl_log_channel(log, line);
	} else if ((!strncmp(line->text, "NET/IB : Using ", 15) && (at = line->text + 15)) ||
		   (!strncmp(line->text, "NET/Socket : Using ", 19) && (at = line->text + 19))) {
		json_object_set_new(log->nics, name, nccl_log_text(at, strcspn(at, "\r")));
	} else if (!strncmp(line->text, "NCCL_", 5)) {
		const char *value = strstr(line->text, by);
		size_t skip = sizeof(by) - 1;

		if (!value) {
			value = strstr(line->text, to);
			skip = sizeof(to) - 1;
		}
		at = line->text;
		if (value && strspn(at, NCCL_LOG_VARIABLE) == (size_t)(value - at))
			json_object_setn_new(log->set, at, value - at,
					     nccl_log_text(value + skip, strcspn(value + skip, " \r")));
	}
}

int to_nccl_log_read(struct to_nccl_log *log, const char *path, struct to_error *err)
{
	unsigned int number = 0, lines = 0;
	char *text, *next, *at;
	size_t length;
	int ret = to_file_read(path, TO_FILE_MAX, &text, &length, err);

	if (ret)
		return ret;
	for (next = text; !ret && (at = strsep(&next, "\n"));) {
		const char *version = strstr(at, "NCCL version ");
		struct nccl_line line;
		int server;

		number++;
		if (version)
			sscanf(version + 13, "%u.%u.%u", &log->version[0], &log->version[1],
			       &log->version[2]);
		if (!nccl_log_cut(at, &line))
			continue;
		lines++;
		server = to_cluster_find_host(log->plan->cluster, line.host);
		if (server < 0)
			ret = to_error_set(err, -ENOENT, "%s:%u: %.200s is %s of the plan",
					   path, number, line.host, server == -EEXIST ?
					   "up to the first dot the name of several servers" : "no server");
		else
			nccl_log_line(log, &line, server);
	}
	free(text);
	if (!ret && !lines)
		ret = to_error_set(err, -ENOENT, "%s: no lines of NCCL_DEBUG=INFO", path);
	return ret;
}

/* The server of a rank; -ENOENT with @err when no line is of it. */
static int nccl_log_place(const struct to_nccl_log *log, const char *comm, json_int_t rank,
			  struct to_error *err)
{
	const json_t *server;
	char key[160];

	snprintf(key, sizeof(key), "%.100s/%lld", comm, (long long)rank);
	server = json_object_get(log->ranks, key);
	if (server)
		return json_integer_value(server);
	return to_error_set(err, -ENOENT,
			    "no line of rank %lld's says \"comm ... rank %lld\": its log is missing",
			    (long long)rank, (long long)rank);
}

static bool nccl_log_cabled(const struct to_plan *plan, unsigned int from, unsigned int to)
{
	for (unsigned int p = 0; p < plan->cluster->servers[from].n_ports; p++)
		if (to_plan_leads(plan, (struct to_port_ref){ from, p }, to))
			return true;
	return false;
}

/* Is @order the ring, from wherever it begins, in either direction? */
static bool nccl_log_is_ring(const struct to_ring *ring, const uint32_t *order, unsigned int n)
{
	unsigned int start = 0;
	bool forward = true, back = ring->reverse;

	if (ring->n != n)
		return false;
	while (start < n && ring->order[start] != order[0])
		start++;
	for (unsigned int i = 0; i < n; i++) {
		forward &= ring->order[(start + i) % n] == order[i];
		back &= ring->order[(start + n - i) % n] == order[i];
	}
	return start < n && (forward || back);
}

static int nccl_log_end_channel(struct to_nccl_log *log, json_t *order, struct to_error *err)
{
	const char *comm = json_string_value(json_object_get(order, "comm"));
	const json_t *ranks = json_object_get(order, "ranks");
	json_t *names = json_array(), *ring = json_null();
	uint32_t *servers = calloc(json_array_size(ranks), sizeof(*servers));
	unsigned int n = 0;
	int server = servers ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	for (size_t i = 0; server >= 0 && i < json_array_size(ranks); i++) {
		server = nccl_log_place(log, comm, json_integer_value(json_array_get(ranks, i)), err);
		if (server >= 0 && (!n || servers[n - 1] != (uint32_t)server))
			servers[n++] = server;
	}
	if (n > 1 && servers[0] == servers[n - 1])
		n--;
	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(names, json_string(log->plan->cluster->servers[servers[i]].name));
	for (unsigned int i = 0; server >= 0 && i < log->plan->n_rings && json_is_null(ring); i++)
		if (nccl_log_is_ring(&log->plan->rings[i], servers, n))
			ring = json_integer(i);
	json_array_append_new(log->channels, json_pack(
		"{s:O, s:o, s:o}", "channel", json_object_get(order, "channel"), "servers", names,
		"ring", ring));
	free(servers);
	return server < 0 ? server : 0;
}

/* Sends by pair of servers, in a matrix: ranks of all communicators together. */
static int nccl_log_end_sends(struct to_nccl_log *log, struct to_error *err)
{
	const struct to_cluster *cluster = log->plan->cluster;
	const size_t n = cluster->n_servers;
	uint32_t *counts = calloc(n * n, sizeof(*counts));
	const char *key;
	json_t *count;
	int ret = counts ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	json_object_foreach(log->sends, key, count) {
		const char *to = strrchr(key, '/'), *from = to;
		char comm[104];
		int x, y;

		if (ret)
			break;
		while (*--from != '/')
			;
		snprintf(comm, sizeof(comm), "%.*s", (int)(from - key), key);
		x = nccl_log_place(log, comm, atoi(from + 1), err);
		y = x < 0 ? x : nccl_log_place(log, comm, atoi(to + 1), err);
		if (y < 0)
			ret = y;
		else
			counts[x * n + y] += json_integer_value(count);
	}
	for (size_t i = 0; !ret && i < n * n; i++)
		if (counts[i])
			json_array_append_new(log->connections, json_pack(
				"{s:s, s:s, s:i, s:b}", "from", cluster->servers[i / n].name,
				"to", cluster->servers[i % n].name, "count", counts[i],
				"cable", nccl_log_cabled(log->plan, i / n, i % n)));
	free(counts);
	return ret;
}

int to_nccl_log_end(struct to_nccl_log *log, struct to_error *err)
{
	json_t *order;
	int ret = 0;
	size_t i;

	json_array_foreach(log->orders, i, order) {
		if (!ret)
			ret = nccl_log_end_channel(log, order, err);
	}
	return ret ? ret : nccl_log_end_sends(log, err);
}

/* Tell whether the version is this one or a later one. */
static bool nccl_log_at_least(const struct to_nccl_log *log, unsigned int major,
			      unsigned int minor, unsigned int patch)
{
	const unsigned int *v = log->version;

	if (v[0] != major)
		return v[0] > major;
	return v[1] != minor ? v[1] > minor : v[2] >= patch;
}

int to_nccl_log_judge(const struct to_nccl_log *log, struct to_error *err)
{
	unsigned int astray = 0;
	json_t *channel;
	size_t i;

	if (!json_array_size(log->channels))
		return to_error_set(err, -ENODATA,
				    "no line of rank 0 has the order of a channel: run with NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH");
	json_array_foreach(log->channels, i, channel) {
		astray += json_is_null(json_object_get(channel, "ring"));
	}
	if (astray)
		return to_error_set(err, 1,
				    "%u of %zu channels do not have the order of a ring of the plan",
				    astray, json_array_size(log->channels));
	if (log->rdma && log->version[0] && !nccl_log_at_least(log, 2, 30, 7))
		return to_error_set(err, 1,
				    "NCCL %u.%u.%u does not know NCCL_IB_SUBNET_AWARE_ROUTING (2.30.7 does): RDMA connections enter by other ports than their cables'",
				    log->version[0], log->version[1], log->version[2]);
	return 0;
}
