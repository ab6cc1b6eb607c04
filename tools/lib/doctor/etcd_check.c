// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/etcd_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "control/etcd_http.h"
#include "control/etcd_key.h"
#include "control/etcd_users.h"

#define ETCD_QUOTA_DEFAULT (2ull << 30)	/* bytes, of etcd without --quota-backend-bytes */
#define ETCD_QUOTA_NEAR 80u		/* percent of the quota */
#define ETCD_HISTORY_LONG 1000000	/* revisions that nobody compacted */
#define ETCD_LAG_LONG 5000		/* entries of raft, at which etcd itself refuses changes */
#define ETCD_SLOW_MS 100u

/* All endpoints. */
struct etcd_check {
	struct to_checks *checks;
	const struct to_etcd_options *options;
	int64_t cluster;		/* id; 0: no member answered yet */
	int64_t applied;		/* most entries of raft that a member has applied */
	bool unreached;			/* a member did not answer */
};

/* One member. */
struct etcd_member {
	const char *url;
	struct to_etcd *etcd;		/* without a user */
	json_t *status;
	char *metrics;			/* for Prometheus, NULL: not to be had */
};

/* Open @url with the client certificate or without, and without a user. */
static struct to_etcd *etcd_check_open(const struct etcd_check *c, const char *url, bool certificate,
				       struct to_error *err)
{
	const struct to_etcd_options options = {
		.endpoints = url, .prefix = c->options->prefix, .cacert = c->options->cacert,
		.cert = certificate ? c->options->cert : NULL,
		.key = certificate ? c->options->key : NULL,
	};

	return to_etcd_open(&options, err);
}

/* The value of a metric without labels, -1 if there is none. */
static double etcd_metric(const struct etcd_member *m, const char *name)
{
	const size_t len = strlen(name);

	for (const char *line = m->metrics; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ' ')
			return strtod(line + len, NULL);
	}
	return -1;
}

static void etcd_check_version(struct etcd_check *c, const struct etcd_member *m, double ms)
{
	const char *version = json_string_value(json_object_get(m->status, "version"));
	unsigned int major = 0, minor = 0;

	version = version ? version : "unknown";
	sscanf(version, "%u.%u", &major, &minor);
	if (major < 3 || (major == 3 && minor < 4))
		to_check_add(c->checks, TO_CHECK_FAIL, "version", m->url, "install etcd 3.4 or later",
			     "%.32s", version);
	else if (ms > ETCD_SLOW_MS)
		to_check_add(c->checks, TO_CHECK_WARN, "etcd", m->url,
			     "look at its network and load", "%.32s answers after %.0f ms", version, ms);
	else
		to_check_add(c->checks, TO_CHECK_OK, "etcd", m->url, NULL, "%.32s answers", version);
}

/* Whether members are of one cluster that has a leader. */
static void etcd_check_cluster(struct etcd_check *c, const struct etcd_member *m)
{
	const json_t *header = json_object_get(m->status, "header");
	const int64_t cluster = strtoull(json_string_value(json_object_get(header, "cluster_id")) ?:
					 "0", NULL, 10);
	const int64_t applied = to_etcd_number(m->status, "raftAppliedIndex");
	const char *leader = json_string_value(json_object_get(m->status, "leader"));

	if (!leader || !strcmp(leader, "0"))
		to_check_add(c->checks, TO_CHECK_FAIL, "leader", m->url,
			     "start the members that are down: more than half must run",
			     "the member knows no leader, and changes nothing");
	if (c->cluster && cluster != c->cluster)
		to_check_add(c->checks, TO_CHECK_FAIL, "cluster", m->url,
			     "name members of one etcd in etcd.endpoints",
			     "the member belongs to another etcd than those before");
	if (c->cluster && applied + ETCD_LAG_LONG < c->applied)
		to_check_add(c->checks, TO_CHECK_WARN, "lag", m->url,
			     "look at its disk, its network and its log",
			     "%" PRId64 " entries behind another member", c->applied - applied);
	c->cluster = c->cluster ? c->cluster : cluster;
	c->applied = applied > c->applied ? applied : c->applied;
}

static void etcd_check_quota(struct etcd_check *c, const struct etcd_member *m)
{
	const double known = etcd_metric(m, "etcd_server_quota_backend_bytes");
	const double quota = known > 0 ? known : ETCD_QUOTA_DEFAULT;
	const double size = to_etcd_number(m->status, "dbSize");
	const double percent = 100 * size / quota;
	const char *assumed = known > 0 ? "" : ", assumed as /metrics does not tell it";
	char fix[360];

	snprintf(fix, sizeof(fix),
		 "as etcd's root: etcdctl compact REVISION, then etcdctl defrag --endpoints %.200s; or a larger ETCD_QUOTA_BACKEND_BYTES",
		 m->url);
	if (percent >= ETCD_QUOTA_NEAR)
		to_check_add(c->checks, TO_CHECK_FAIL, "quota", m->url, fix,
			     "database of %.1f MiB, %.0f %% of its quota%s: when it is full, nothing is decided",
			     size / 1048576, percent, assumed);
	else
		to_check_add(c->checks, TO_CHECK_OK, "quota", m->url, NULL,
			     "database of %.1f MiB, %.0f %% of its quota%s", size / 1048576, percent,
			     assumed);
}

/* Who compacts cannot be told, only that nobody does. */
static void etcd_check_history(struct etcd_check *c, const struct etcd_member *m)
{
	const double now = etcd_metric(m, "etcd_debugging_mvcc_current_revision");
	const double compacted = etcd_metric(m, "etcd_debugging_mvcc_compact_revision");

	if (now - (compacted > 0 ? compacted : 0) > ETCD_HISTORY_LONG)
		to_check_add(c->checks, TO_CHECK_WARN, "history", m->url,
			     "ETCD_AUTO_COMPACTION_RETENTION=1h", "%.0f changes that nobody compacted",
			     now - (compacted > 0 ? compacted : 0));
}

/* Whether processes without a certificate, such as those of jobs, reach the member. */
static void etcd_check_door(struct etcd_check *c, const struct etcd_member *m)
{
	struct to_error why = {};
	struct to_etcd *etcd;

	if (strncmp(m->url, "https://", 8)) {
		if (!to_etcd_is_local(m->url))
			to_check_add(c->checks, TO_CHECK_FAIL, "door", m->url,
				     "give it certificates: etcd.md, An etcd with TLS",
				     "plain http: everybody on the way can read and change what is said");
		return;
	}
	etcd = etcd_check_open(c, m->url, false, &why);
	if (etcd)
		to_check_add(c->checks, TO_CHECK_FAIL, "door", m->url,
			     "ETCD_CLIENT_CERT_AUTH=true and ETCD_TRUSTED_CA_FILE: etcd.md, An etcd with TLS",
			     "answers without a client certificate: every process that reaches it can stop all decisions");
	else
		to_check_add(c->checks, TO_CHECK_OK, "door", m->url, NULL,
			     "asks for a client certificate");
	to_etcd_close(etcd);
}

/* Whether the member serves nobody. */
static void etcd_check_users(struct etcd_check *c, const struct etcd_member *m)
{
	struct to_error why = {};
	struct to_etcd_kv *kv;
	size_t n;

	if (to_etcd_get(m->etcd, TO_ETCD_CONTROLLER, false, &kv, &n, NULL, &why))
		return;
	to_etcd_kv_free(kv, n);
	to_check_add(c->checks, TO_CHECK_FAIL, "users", m->url,
		     "toctl fabric init-etcd -o passwords cluster.json, with the --config and --set of this check",
		     "serves clients without a user: who reaches it decides where packets go");
}

static void etcd_check_alarms(struct etcd_check *c, const struct etcd_member *m)
{
	json_t *request = json_pack("{s:s}", "action", "GET"), *reply = NULL;
	struct to_error why = {};
	const json_t *alarm;
	size_t i;

	if (to_etcd_call(m->etcd, "/v3/maintenance/alarm", request, &reply, &why))
		to_check_add(c->checks, TO_CHECK_WARN, "alarm", m->url, NULL, "%.190s", why.text);
	json_array_foreach(json_object_get(reply, "alarms"), i, alarm) {
		const char *kind = json_string_value(json_object_get(alarm, "alarm"));
		const char *member = json_string_value(json_object_get(alarm, "memberID"));
		const bool full = kind && !strcmp(kind, "NOSPACE");

		to_check_add(c->checks, TO_CHECK_FAIL, "alarm", m->url,
			     full ? "compact, etcdctl defrag, then etcdctl alarm disarm: etcd.md, When etcd is full" :
				    "replace the member, then etcdctl alarm disarm",
			     "%.20s of member %.24s: %s", kind ? kind : "unknown", member ? member : "?",
			     full ? "nothing is decided until it is disarmed" :
				    "members have different data");
	}
	json_decref(request);
	json_decref(reply);
}

static void etcd_check_member(struct etcd_check *c, const char *url, bool first)
{
	struct etcd_member m = { .url = url };
	struct to_error why = {};
	json_t *request = json_object();
	uint64_t since;
	double ms;

	m.etcd = etcd_check_open(c, url, true, &why);
	/* on a connection that is there: not what a handshake takes */
	since = to_clock_monotonic_ns();
	if (!m.etcd || to_etcd_call(m.etcd, "/v3/maintenance/status", request, &m.status, &why)) {
		to_check_add(c->checks, TO_CHECK_FAIL, "etcd", url, NULL, "%.190s", why.text);
		c->unreached = true;
	} else {
		ms = (to_clock_monotonic_ns() - since) * 1e-6;
		if (to_etcd_fetch(m.etcd, "/metrics", &m.metrics, &why))
			m.metrics = NULL;
		etcd_check_version(c, &m, ms);
		etcd_check_cluster(c, &m);
		etcd_check_quota(c, &m);
		etcd_check_history(c, &m);
		etcd_check_door(c, &m);
		etcd_check_users(c, &m);
		if (first)
			etcd_check_alarms(c, &m);
	}
	json_decref(request);
	json_decref(m.status);
	free(m.metrics);
	to_etcd_close(m.etcd);
}

bool to_etcd_check(struct to_checks *checks, const struct to_etcd_options *options)
{
	struct etcd_check c = { .checks = checks, .options = options };
	char *urls = strdup(options->endpoints), *save = NULL;
	bool answered = false;

	for (char *url = urls ? strtok_r(urls, ", ", &save) : NULL; url;
	     url = strtok_r(NULL, ", ", &save)) {
		const bool before = c.unreached;

		c.unreached = false;
		etcd_check_member(&c, url, !answered);
		answered |= !c.unreached;
		c.unreached |= before;
	}
	free(urls);
	return answered && !c.unreached;
}

/* Append to @text the keys that a role may read, or write. */
static void etcd_user_permissions(const struct to_etcd *etcd, const json_t *role, bool write,
				  char text[150])
{
	const json_t *permission;
	size_t i, len = 0;

	text[0] = '\0';
	json_array_foreach(json_object_get(role, "perm"), i, permission) {
		const char *type = json_string_value(json_object_get(permission, "permType"));
		struct to_etcd_kv kv;

		if (write ? !type : type && !strcmp(type, "WRITE"))
			continue;
		if (to_etcd_read_kv(etcd, permission, &kv))
			continue;
		len += snprintf(text + len, 150 - len, "%s%s", len ? ", " : "", kv.key);
		to_etcd_kv_clear(&kv);
		if (len >= 140)
			break;
	}
}

/* Tell what roles let the user do; etcd tells everybody their own. */
static void etcd_check_roles(struct to_checks *checks, struct to_etcd *etcd, const char *user,
			     const json_t *roles)
{
	char reads[150], writes[150];
	const json_t *name;
	size_t i;

	json_array_foreach(roles, i, name) {
		json_t *request = json_pack("{s:O}", "role", name), *reply = NULL;
		struct to_error why = {};

		if (!to_etcd_call(etcd, "/v3/auth/role/get", request, &reply, &why)) {
			etcd_user_permissions(etcd, reply, false, reads);
			etcd_user_permissions(etcd, reply, true, writes);
			to_check_add(checks, TO_CHECK_OK, "reads", user, NULL, "%s",
				     reads[0] ? reads : "nothing");
			to_check_add(checks, TO_CHECK_OK, "writes", user, NULL, "%s",
				     writes[0] ? writes : "nothing");
		}
		json_decref(request);
		json_decref(reply);
	}
}

void to_etcd_check_user(struct to_checks *checks, const struct to_etcd_options *options)
{
	struct to_error why = {};
	struct to_etcd *etcd = to_etcd_open(options, &why);
	json_t *request, *reply = NULL;
	const char *user;
	int ret;

	if (!etcd) {
		to_check_add(checks, TO_CHECK_FAIL, "user", options->user ? options->user : "etcd", NULL,
			     "%.190s", why.text);
		return;
	}
	user = to_etcd_logged_in(etcd);
	if (!user[0]) {
		to_check_add(checks, TO_CHECK_OK, "user", "etcd", NULL,
			     "none is logged in: neither etcd.password-file nor $" TO_ETCD_PASSWORD);
		to_etcd_close(etcd);
		return;
	}
	request = json_pack("{s:s}", "name", user);
	ret = to_etcd_call(etcd, "/v3/auth/user/get", request, &reply, &why);
	json_decref(request);
	if (ret)
		to_check_add(checks, TO_CHECK_WARN, "user", user, NULL, "%.190s", why.text);
	else if (!strcmp(user, TO_ETCD_ROOT))
		to_check_add(checks, TO_CHECK_FAIL, "user", user,
			     "log in as topoopt/controller or topoopt/observer: etcd.user",
			     "may do everything, also remove users");
	else
		to_check_add(checks, TO_CHECK_OK, "user", user, NULL, "is logged in");
	if (strcmp(user, TO_ETCD_ROOT))
		etcd_check_roles(checks, etcd, user, json_object_get(reply, "roles"));
	json_decref(reply);
	to_etcd_close(etcd);
}
