// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Polatis optical switches by RESTCONF (RFC 8040): all cross-connects are one
 * resource, read by GET and replaced by PUT in one step.
 *
 *	{"optical-switch:cross-connects": {"pair": [{"ingress": 1, "egress": 17}]}}
 *
 * So that nobody's change between the two is lost, PUT is bound by If-Match to
 * the entity-tag that came with GET (section 3.4.1), where the switch has them,
 * and both are done again when it refuses.
 */
#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/lazy_curl.h"
#include "base/limits.h"
#include "switch/switch_driver.h"

#define RESTCONF_PATH "/api/data/optical-switch:cross-connects"
#define RESTCONF_ANSWER_MAX (16U << 20)
#define RESTCONF_TRIES 8	/* to change what others change too */

/**
 * struct restconf - a connection
 * @headers: of every request
 * @answer: of the last request
 * @tag: its entity-tag as it goes into If-Match, "" when it has none
 */
struct restconf {
	CURL *curl;
	struct curl_slist *headers;
	char *answer;
	size_t len;
	char tag[256];
};

static size_t restconf_take(char *data, size_t size, size_t n, void *arg)
{
	struct restconf *r = arg;
	char *more;

	if (r->len + size * n >= RESTCONF_ANSWER_MAX)
		return 0;
	more = realloc(r->answer, r->len + size * n + 1);
	if (!more)
		return 0;
	memcpy(more + r->len, data, size * n);
	r->answer = more;
	r->len += size * n;
	more[r->len] = '\0';
	return size * n;
}

/* The entity-tag among the headers; not a weak one, which matches nothing. */
static size_t restconf_take_header(char *data, size_t size, size_t n, void *arg)
{
	static const char name[] = "ETag:";
	const size_t skip = sizeof(name) - 1;
	struct restconf *r = arg;
	char *start, *end;

	n *= size;
	if (n <= skip || strncasecmp(data, name, skip))
		return n;
	start = memchr(data, '"', n);
	end = start ? memrchr(data, '"', n) : NULL;
	if (start == end || strspn(data + skip, " \t") != (size_t)(start - data) - skip)
		return n;
	if ((size_t)(end + 1 - start) < sizeof(r->tag))
		snprintf(r->tag, sizeof(r->tag), "%.*s", (int)(end + 1 - start), start);
	return n;
}

/* What RFC 8040, section 3.9, has for an error: "error-message", else its tag. */
static const char *restconf_said(json_t *answer)
{
	json_t *error = json_array_get(json_object_get(
		json_object_get(answer, "ietf-restconf:errors"), "error"), 0);
	const char *text = json_string_value(json_object_get(error, "error-message"));

	return text ? text : json_string_value(json_object_get(error, "error-tag"));
}

/* Return: HTTP status 200 to 299 or 404, else a negative errno: -EAGAIN for 412. */
static long restconf_call(const struct to_switch *sw, const char *method, const char *body,
			  json_t **answer, struct to_error *err)
{
	struct restconf *r = sw->state;
	char reason[CURL_ERROR_SIZE] = "";
	const char *said;
	long status = 0;
	CURLcode code;

	free(r->answer);
	r->answer = NULL;
	r->len = 0;
	r->tag[0] = '\0';
	to_curl.easy_setopt(r->curl, CURLOPT_CUSTOMREQUEST, method);
	to_curl.easy_setopt(r->curl, CURLOPT_ERRORBUFFER, reason);
	if (body)
		to_curl.easy_setopt(r->curl, CURLOPT_POSTFIELDS, body);
	else
		to_curl.easy_setopt(r->curl, CURLOPT_HTTPGET, 1L);
	code = to_curl.easy_perform(r->curl);
	to_curl.easy_setopt(r->curl, CURLOPT_ERRORBUFFER, NULL);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return to_error_set(err, -ETIMEDOUT, "no answer in %.3g s",
				    sw->optical->control.timeout_ns / 1e9);
	if (code)
		return to_error_set(err, -EIO, "%s",
				    reason[0] ? reason : to_curl.easy_strerror(code));
	to_curl.easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
	*answer = r->answer ? json_loads(r->answer, 0, NULL) : NULL;
	if ((status >= 200 && status < 300) || status == 404)
		return status;
	said = restconf_said(*answer);
	to_error_set(err, -EIO, "HTTP status %ld%s%s", status, said ? ": " : "", said ? said : "");
	json_decref(*answer);
	*answer = NULL;
	return status == 412 ? -EAGAIN : -EIO;
}

static int restconf_take_pairs(json_t *answer, struct to_circuits *pairs, struct to_error *err)
{
	json_t *array = json_object_get(json_object_get(answer, "optical-switch:cross-connects"),
					"pair"), *pair;
	json_int_t in, out;
	size_t i;

	json_array_foreach(array, i, pair) {
		in = json_integer_value(json_object_get(pair, "ingress"));
		out = json_integer_value(json_object_get(pair, "egress"));
		if (in < 1 || out < 1 || in > UINT32_MAX || out > UINT32_MAX)
			return to_error_set(err, -EPROTO,
					    "pair[%zu] of its cross-connects has no ingress or egress", i);
		if (to_circuits_add(pairs, in, out))
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int restconf_read(struct to_switch *sw, struct to_circuits *pairs, struct to_error *err)
{
	json_t *answer = NULL;
	long status = restconf_call(sw, "GET", NULL, &answer, err);
	int ret = 0;

	if (status < 0)
		return status;
	/* an empty list has no resource on some, and no body on others */
	if (status == 200 && !json_object_get(answer, "optical-switch:cross-connects"))
		ret = to_error_set(err, -EPROTO, "its answer has no cross-connects");
	else if (status == 200)
		ret = restconf_take_pairs(answer, pairs, err);
	json_decref(answer);
	return ret;
}

/* PUT @body, unless what carries @tag has changed. */
static int restconf_put(const struct to_switch *sw, const char *body, const char *tag,
			struct to_error *err)
{
	struct restconf *r = sw->state;
	char match[sizeof(r->tag) + 16];
	struct curl_slist *headers = NULL;
	json_t *answer = NULL;
	long status;

	snprintf(match, sizeof(match), "If-Match: %s", tag);
	for (const struct curl_slist *h = r->headers; h; h = h->next)
		headers = to_curl.slist_append(headers, h->data);
	if (tag[0])
		headers = to_curl.slist_append(headers, match);
	to_curl.easy_setopt(r->curl, CURLOPT_HTTPHEADER, headers);
	status = restconf_call(sw, "PUT", body, &answer, err);
	to_curl.easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
	to_curl.slist_free_all(headers);
	json_decref(answer);
	if (status == 404)
		return to_error_set(err, -EIO, "HTTP status 404: it has no %s", RESTCONF_PATH);
	return status < 0 ? status : 0;
}

static bool restconf_has(const struct to_circuits *pairs, const struct to_circuit *p)
{
	for (unsigned int i = 0; i < pairs->n; i++)
		if (pairs->circuit[i].in == p->in && pairs->circuit[i].out == p->out)
			return true;
	return false;
}

/* The body of a PUT: @has without @remove and with @add. */
static char *restconf_body(const struct to_circuits *has, const struct to_circuits *remove,
			   const struct to_circuits *add)
{
	json_t *array = json_array(), *body;
	char *text;

	for (unsigned int i = 0; i < has->n + add->n; i++) {
		const struct to_circuit *p = i < has->n ? &has->circuit[i] :
					     &add->circuit[i - has->n];

		if (i >= has->n || !(restconf_has(remove, p) || restconf_has(add, p)))
			json_array_append_new(array, json_pack("{s:I, s:I}", "ingress",
							       (json_int_t)p->in, "egress",
							       (json_int_t)p->out));
	}
	body = json_pack("{s:{s:o}}", "optical-switch:cross-connects", "pair", array);
	text = json_dumps(body, JSON_COMPACT);
	json_decref(body);
	return text;
}

/* The lower port of each pair first, as in ours, where the order says nothing. */
static void restconf_order(const struct to_switch *sw, struct to_circuits *pairs)
{
	if (sw->sides && !sw->optical->control.egress_offset)
		return;
	for (unsigned int i = 0; i < pairs->n; i++) {
		struct to_circuit p = pairs->circuit[i];

		if (p.in > p.out)
			pairs->circuit[i] = (struct to_circuit){ p.out, p.in };
	}
}

/* Read, change, write. Return: -EAGAIN when somebody else wrote meanwhile. */
static int restconf_try(struct to_switch *sw, const struct to_circuits *remove,
			const struct to_circuits *add, struct to_error *err)
{
	struct restconf *r = sw->state;
	struct to_circuits has = {};
	char tag[sizeof(r->tag)];
	char *body = NULL;
	int ret = restconf_read(sw, &has, err);

	if (!ret) {
		memcpy(tag, r->tag, sizeof(tag));
		restconf_order(sw, &has);
		body = restconf_body(&has, remove, add);
		ret = body ? restconf_put(sw, body, tag, err) :
		      to_error_set(err, -ENOMEM, "out of memory");
	} else if (ret == -ETIMEDOUT) {
		ret = -EIO;	/* nothing was asked for */
	}
	to_circuits_free(&has);
	free(body);
	return ret;
}

static int restconf_change(struct to_switch *sw, const struct to_circuits *off,
			   const struct to_circuits *on, struct to_error *err)
{
	struct to_circuits remove = {}, add = {};
	int ret = to_switch_driver_pairs(sw, off, &remove, err);

	if (!ret)
		ret = to_switch_driver_pairs(sw, on, &add, err);
	if (!ret)
		ret = -EAGAIN;
	for (unsigned int i = 0; i < RESTCONF_TRIES && ret == -EAGAIN; i++)
		ret = restconf_try(sw, &remove, &add, err);
	to_circuits_free(&remove);
	to_circuits_free(&add);
	return ret;
}

/* The password from where the control says, for curl alone. */
static int restconf_credentials(struct restconf *r, const struct to_switch_control *control,
				struct to_error *err)
{
	const char *password = "";
	char *data = NULL;
	size_t len;
	int ret;

	if (!control->user[0])
		return 0;
	if (control->password_env[0]) {
		password = getenv(control->password_env);
		if (!password)
			return to_error_set(err, -ENOKEY, "%s, its password, is not in the environment",
					    control->password_env);
	} else if (control->password_file[0]) {
		ret = to_file_read(control->password_file, TO_FILE_SMALL_MAX, &data, &len, err);
		if (ret)
			return ret;
		data[strcspn(data, "\r\n")] = '\0';
		password = data;
	}
	to_curl.easy_setopt(r->curl, CURLOPT_USERNAME, control->user);
	to_curl.easy_setopt(r->curl, CURLOPT_PASSWORD, password);
	free(data);
	return 0;
}

static void restconf_init(void)
{
	to_curl.global_init(CURL_GLOBAL_DEFAULT);
}

static int restconf_open(struct to_switch *sw, struct to_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct to_switch_control *control = &sw->optical->control;
	char url[sizeof(control->address) + sizeof(RESTCONF_PATH)];
	size_t len = strlen(control->address);
	struct restconf *r;
	int ret;

	ret = to_lazy_curl(err);
	if (ret)
		return ret;
	r = calloc(1, sizeof(*r));
	sw->state = r;
	if (!r)
		return to_error_set(err, -ENOMEM, "out of memory");
	pthread_once(&once, restconf_init);
	r->curl = to_curl_handle();
	if (!r->curl)
		return to_error_set(err, -ENOMEM, "out of memory");
	while (len && control->address[len - 1] == '/')
		len--;
	snprintf(url, sizeof(url), "%.*s" RESTCONF_PATH, (int)len, control->address);
	r->headers = to_curl.slist_append(NULL, "Accept: application/yang-data+json");
	r->headers = to_curl.slist_append(r->headers, "Content-Type: application/yang-data+json");
	/* no round trip that asks whether the body is wanted */
	r->headers = to_curl.slist_append(r->headers, "Expect:");
	to_curl.easy_setopt(r->curl, CURLOPT_URL, url);
	to_curl.easy_setopt(r->curl, CURLOPT_HTTPHEADER, r->headers);
	to_curl.easy_setopt(r->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
	to_curl.easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
	to_curl.easy_setopt(r->curl, CURLOPT_TIMEOUT_MS, (long)(control->timeout_ns / 1000000));
	to_curl.easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, restconf_take);
	to_curl.easy_setopt(r->curl, CURLOPT_WRITEDATA, r);
	to_curl.easy_setopt(r->curl, CURLOPT_HEADERFUNCTION, restconf_take_header);
	to_curl.easy_setopt(r->curl, CURLOPT_HEADERDATA, r);
	return restconf_credentials(r, control, err);
}

static void restconf_close(struct to_switch *sw)
{
	struct restconf *r = sw->state;

	if (!r)
		return;
	to_curl.slist_free_all(r->headers);
	to_curl.easy_cleanup(r->curl);
	free(r->answer);
	free(r);
}

const struct to_switch_driver to_switch_polatis_restconf = {
	.open = restconf_open,
	.read = restconf_read,
	.change = restconf_change,
	.close = restconf_close,
};
