// SPDX-License-Identifier: GPL-2.0-or-later
/* The bounds of base/limits.h: each at the limit, and one above. */

#include <endian.h>
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/json.h"
#include "base/json_weight.h"
#include "base/limits.h"
#include "base/user.h"
#include "control/etcd_blob.h"
#include "format/cluster_json.h"
#include "format/demand_json.h"
#include "format/plan_json.h"
#include "format/tm_json.h"
#include "measure/tm_merge.h"
#include "switch/switch_allow.h"
#include "workload/dnn_model.h"
#include "workload/trace.h"

/* ---- files ---- */

#define FILE_OF(kind, load) \
	static bool file_##kind(const char *path, struct to_error *err) \
	{ \
		return load; \
	}

FILE_OF(cluster, to_cluster_load(path, err))
FILE_OF(job, to_demand_load(path, TO_SERVERS_USUAL, err))
FILE_OF(plan, to_plan_load_shared(path, err))
FILE_OF(model, to_dnn_model_load(path, err))
FILE_OF(tm, to_tm_load(path, err))

static bool file_trace(const char *path, struct to_error *err)
{
	struct to_trace trace;

	return !to_trace_load(&trace, path, err);
}

static bool file_service(const char *path, struct to_error *err)
{
	char *data;
	size_t len;

	return !to_user_read(path, geteuid(), TO_FILE_SERVICE_MAX, &data, &len, err);
}

static bool file_allow(const char *path, struct to_error *err)
{
	const struct to_optical_switch optical = {
		.control = { .driver = TO_SWITCH_COMMAND, .command = "true" },
	};

	return !to_switch_allow_check(path, &optical, err);
}

/* All refuse what is larger by its size, without reading any. */
static void files(void **state)
{
	static const struct {
		bool (*load)(const char *path, struct to_error *err);
		size_t most;
	} kinds[] = {
		{ file_cluster, TO_FILE_MAX }, { file_job, TO_FILE_MAX },
		{ file_plan, TO_FILE_MAX }, { file_model, TO_FILE_MAX },
		{ file_tm, TO_FILE_RECORDING_MAX }, { file_trace, TO_FILE_RECORDING_MAX },
		{ file_allow, TO_FILE_SMALL_MAX }, { file_service, TO_FILE_SERVICE_MAX },
	};
	char path[] = "/tmp/test_limits.XXXXXX", told[128];
	int fd = mkstemp(path);
	struct to_error err;

	(void)state;
	assert_true(fd >= 0);
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_int_equal(ftruncate(fd, kinds[i].most + 1), 0);
		assert_false(kinds[i].load(path, &err));
		snprintf(told, sizeof(told), "%s: more than %zu bytes", path, kinds[i].most);
		assert_string_equal(err.text, told);
	}
	close(fd);
	unlink(path);
}

/* ---- JSON ---- */

static bool loads(const char *text, size_t most, struct to_error *err)
{
	json_t *value = to_json_load(text, strlen(text), most, "text", err);

	json_decref(value);
	return value;
}

static void nested(char *text, unsigned int depth)
{
	memset(text, '[', depth);
	memset(text + depth, ']', depth);
	text[2 * depth] = '\0';
}

static void json_depth(void **state)
{
	char text[2 * TO_JSON_DEPTH_MAX + 3];
	struct to_error err;

	(void)state;
	nested(text, TO_JSON_DEPTH_MAX);
	assert_true(loads(text, 1 << 20, &err));
	nested(text, TO_JSON_DEPTH_MAX + 1);
	assert_false(loads(text, 1 << 20, &err));
	assert_string_equal(err.text, "text:1: arrays and objects are nested 33 deep, more than 32");
}

/* The weight is that of the document, to the byte, and none of what strings hold counts. */
static void json_memory(void **state)
{
	static const char text[] = "[{\"a\\\"[[[\": [1, 2.5e3]}, [], null]";
	struct to_json_weight weight = { 0 };
	struct to_error err;

	(void)state;
	to_json_weight_add(&weight, text, strlen(text));
	assert_int_equal(weight.depth, 0);
	assert_int_equal(weight.deepest, 3);
	assert_true(loads(text, weight.memory, &err));
	assert_false(loads(text, weight.memory - 1, &err));
}

/* What jansson has allocated, and the most of it. */
static size_t taken, most_taken;

static void *take(size_t size)
{
	void *block = malloc(size);

	taken += malloc_usable_size(block) + sizeof(size_t);
	most_taken = taken > most_taken ? taken : most_taken;
	return block;
}

static void give(void *block)
{
	taken -= block ? malloc_usable_size(block) + sizeof(size_t) : 0;
	free(block);
}

/* No value takes more than its weight says; arrays and objects that grow are copied. */
static void json_weighs_enough(void **state)
{
	static const char *const values[] = {
		"[],", "{},", "[1],", "{\"a\": 1},", "\"a\",", "12345,", "0.5,", "null,",
		"[[]],", "[1, 2, 3, 4, 5, 6, 7, 8, 9],",
	};
	const unsigned int n = 4096;

	(void)state;
	json_set_alloc_funcs(take, give);
	for (unsigned int v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
		const size_t len = strlen(values[v]);
		char *text = malloc(n * len + 2), *at = text;
		struct to_json_weight weight = { 0 };
		json_t *value;

		*at++ = '[';
		for (unsigned int i = 0; i < n; i++, at += len)
			memcpy(at, values[v], len);
		at[-1] = ']';
		*at = '\0';
		to_json_weight_add(&weight, text, strlen(text));
		taken = most_taken = 0;
		value = json_loads(text, 0, NULL);
		assert_non_null(value);
		if (most_taken > weight.memory * 5 / 4)
			fail_msg("%s: %zu bytes each, weighed %zu", values[v], most_taken / n,
				 weight.memory / n);
		json_decref(value);
		free(text);
	}
	json_set_alloc_funcs(malloc, free);
}

/* ---- jobs ---- */

static int job_error(unsigned int most, struct to_error *err, const char *fmt, ...)
{
	struct to_demand *demand;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	assert_true(vasprintf(&text, fmt, ap) > 0);
	va_end(ap);
	err->text[0] = '\0';
	demand = to_demand_parse(text, strlen(text), "job", most, err);
	free(text);
	to_demand_free(demand);
	return demand ? 0 : -1;
}

static void job_servers(void **state)
{
	struct to_error err;

	(void)state;
	assert_int_equal(job_error(TO_SERVERS_USUAL, &err, "{\"name\":\"x\",\"servers\":%u}",
				   TO_SERVERS_USUAL), 0);
	assert_int_equal(job_error(TO_SERVERS_USUAL, &err, "{\"name\":\"x\",\"servers\":%u}",
				   TO_SERVERS_USUAL + 1), -1);
	assert_non_null(strstr(err.text, "job:1: servers: 1025 servers are more than 1024"));
	assert_non_null(strstr(err.text, "--large"));
	assert_int_equal(job_error(TO_SERVERS_MAX, &err, "{\"name\":\"x\",\"servers\":%u}",
				   TO_SERVERS_USUAL + 1), 0);
}

/* A list of @n times @entry. */
static char *repeat(const char *entry, unsigned int n)
{
	char *text = malloc(n * (strlen(entry) + 1) + 1), *at = text;

	for (unsigned int i = 0; i < n; i++)
		at = stpcpy(stpcpy(at, i ? "," : ""), entry);
	return text;
}

static int groups_error(unsigned int servers, unsigned int n, const char *entry,
			struct to_error *err)
{
	char *groups = repeat(entry, n);
	int ret = job_error(TO_SERVERS_MAX, err,
			    "{\"name\":\"x\",\"servers\":%u,\"allreduce\":[%s]}", servers, groups);

	free(groups);
	return ret;
}

static void job_groups(void **state)
{
	static const char two[] = "{\"group\":\"0-1\",\"bytes\":1}";
	static const char all[] = "{\"group\":\"all\",\"bytes\":1}";
	struct to_error err;

	(void)state;
	assert_int_equal(groups_error(2, TO_GROUPS_MAX, two, &err), 0);
	assert_int_equal(groups_error(2, TO_GROUPS_MAX + 1, two, &err), -1);
	assert_string_equal(err.text, "job:1: allreduce: there are 32769, more than 32768");
	assert_int_equal(groups_error(4096, TO_MEMBERS_MAX / 4096, all, &err), 0);
	assert_int_equal(groups_error(4096, TO_MEMBERS_MAX / 4096 + 1, all, &err), -1);
	assert_string_equal(err.text, "job:1: allreduce[4096].group: with it the groups have more than 16777216 members in all");
}

/* All to all is a step for each server; every other server takes a quarter of the square. */
static void job_transfers(void **state)
{
	enum { N = 2048, RAGGED = (N / 2) * (N / 2) };
	char set[6 * N], entry[13 * N], *entries, *at = set;
	struct to_error err;

	(void)state;
	for (unsigned int i = 0; i < N; i += 2)
		at += sprintf(at, "%s%u", i ? "," : "", i);
	snprintf(entry, sizeof(entry), "{\"from\":\"%s\",\"to\":\"%s\",\"bytes\":1}", set, set);
	entries = repeat(entry, TO_TRANSFER_STEPS_MAX(N) / RAGGED);
	assert_int_equal(job_error(TO_SERVERS_MAX, &err,
				   "{\"name\":\"x\",\"servers\":%u,\"mp\":[%s]}", N, entries), 0);
	assert_int_equal(job_error(TO_SERVERS_MAX, &err,
				   "{\"name\":\"x\",\"servers\":%u,\"mp\":[%s,{\"from\":\"0\",\"to\":\"1\",\"bytes\":1}]}",
				   N, entries), -1);
	assert_non_null(strstr(err.text, "it takes more than"));
	free(entries);
}

/* ---- recordings ---- */

#define INTERVAL 50000000ull

/* Recording of s0 of two servers with samples in intervals @a and @b, one flow of @bytes. */
static struct to_tm *recording(uint64_t a, uint64_t b, uint64_t bytes)
{
	struct to_tm *tm = to_tm_new(2);
	struct to_tm_flow flow = { 0, 1, TO_TM_NO_PORT, 0, TO_TM_TCP, 1, bytes };
	const uint64_t slots[] = { a, b };

	strcpy(tm->servers[0], "s0");
	strcpy(tm->servers[1], "s1");
	tm->server = 0;
	tm->interval_ns = INTERVAL;
	tm->n_ports = 1;
	tm->ports = calloc(1, sizeof(*tm->ports));
	strcpy(tm->ports[0].name, "eth0");
	tm->ports[0].to = tm->ports[0].from = (struct to_tm_end){ 1, "eth0" };
	for (unsigned int i = 0; i < 2; i++) {
		struct to_tm_sample *sample = to_tm_add_sample(tm);

		sample->start_ns = slots[i] * INTERVAL;
		sample->end_ns = sample->start_ns + INTERVAL;
		sample->elapsed_ns = INTERVAL;
		sample->ports = calloc(1, sizeof(*sample->ports));
		assert_int_equal(to_tm_add_flow(sample, &flow), 0);
	}
	return tm;
}

static int merge_error(struct to_tm *record, struct to_error *err)
{
	struct to_tm *tm = to_tm_merge(&record, 1, true, err);

	to_tm_free(tm);
	to_tm_free(record);
	return tm ? 0 : -1;
}

static void record_sums(void **state)
{
	struct to_error err;

	(void)state;
	assert_int_equal(merge_error(recording(1, 2, TO_RECORD_SUM_MAX / 2), &err), 0);
	assert_int_equal(merge_error(recording(1, 2, TO_RECORD_SUM_MAX / 2 + 1), &err), -1);
	assert_string_equal(err.text, "the recording of s0 counts more than 2^56 packets or bytes");
}

static void merge_cells(void **state)
{
	/* two samples of one port; links both ways, and one recording */
	const uint64_t span = (TO_MERGE_CELLS_MIN + 2 * 2 * TO_MERGE_CELLS_PER_ROW) / (2 + 1 + 1);
	struct to_error err;

	(void)state;
	assert_int_equal(merge_error(recording(7, 7 + span - 1, 1), &err), 0);
	assert_int_equal(merge_error(recording(7, 7 + span, 1), &err), -1);
	assert_non_null(strstr(err.text, "the recordings span"));
	/* what took gigabytes */
	assert_int_equal(merge_error(recording(1, 1 << 24, 1), &err), -1);
	assert_int_equal(merge_error(recording(0, UINT64_MAX / INTERVAL - 1, 1), &err), -1);
}

/* A sample that reaches into the next one is of one server still. */
static void merge_overlap(void **state)
{
	struct to_tm *record = recording(1, 2, 1), *tm;
	struct to_error err;

	(void)state;
	record->samples[0].end_ns += 3 * INTERVAL;
	tm = to_tm_merge(&record, 1, true, &err);
	assert_non_null(tm);
	assert_int_equal(tm->n_samples, 2);
	assert_int_equal(tm->samples[0].absent, 0);
	assert_int_equal(tm->samples[1].absent, 0);
	to_tm_free(tm);
	to_tm_free(record);
}

/* ---- texts in etcd ---- */

static struct {
	char *data;
	size_t len;
} blob;

int __wrap_to_etcd_get_at(struct to_etcd *etcd, const char *key, int64_t revision,
			  struct to_etcd_kv **kv, size_t *n, struct to_error *err)
{
	const size_t at = strtoul(key + 4, NULL, 10) * 1000000;

	(void)etcd;
	(void)revision;
	(void)err;
	*n = at < blob.len;
	*kv = calloc(1, sizeof(**kv));
	if (*n) {
		(*kv)->len = blob.len - at < 1000000 ? blob.len - at : 1000000;
		(*kv)->value = malloc((*kv)->len + 1);
		memcpy((*kv)->value, blob.data + at, (*kv)->len);
	}
	return 0;
}

/* Of @len zeros, which compress to a thousandth, and @noise that does not. */
static int blob_error(size_t len, size_t noise, struct to_error *err)
{
	char *text = calloc(1, len), *got = NULL;
	uint64_t head = htobe64(len), dice = 1;
	uLongf room = compressBound(len);
	int ret;

	for (size_t i = 0; i < noise; i++) {
		dice = dice * 6364136223846793005ull + 1442695040888963407ull;
		text[i] = dice >> 56;
	}
	blob.data = malloc(8 + room);
	memcpy(blob.data, &head, 8);
	assert_int_equal(compress2((Bytef *)blob.data + 8, &room, (Bytef *)text, len, 1), Z_OK);
	blob.len = 8 + room;
	ret = to_etcd_download(NULL, "key", &got, err);
	if (!ret)
		assert_memory_equal(got, text, len);
	else
		assert_null(got);
	free(got);
	free(text);
	free(blob.data);
	return ret;
}

static void blob_size(void **state)
{
	struct to_error err;
	char *text;

	(void)state;
	assert_int_equal(blob_error(TO_BLOB_MAX, TO_BLOB_MAX / 50, &err), 0);
	assert_int_equal(blob_error(TO_BLOB_MAX + 1, TO_BLOB_MAX / 50, &err), -E2BIG);
	/* as it is, no text of that many bytes comes */
	blob.len = TO_BLOB_MAX + 1;
	blob.data = calloc(1, blob.len);
	assert_int_equal(to_etcd_download(NULL, "key", &text, &err), -E2BIG);
	assert_string_equal(err.text, "etcd: key has more than 67108864 bytes");
	free(blob.data);
}

static void blob_ratio(void **state)
{
	struct to_error err;

	(void)state;
	assert_int_equal(blob_error(TO_BLOB_SMALL, 0, &err), 0);
	assert_int_equal(blob_error(TO_BLOB_SMALL + TO_BLOB_RATIO_MAX, 0, &err), -E2BIG);
	assert_non_null(strstr(err.text, "or 100 times that"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(json_depth),
		cmocka_unit_test(json_memory),
		cmocka_unit_test(json_weighs_enough),
		cmocka_unit_test(job_servers),
		cmocka_unit_test(job_groups),
		cmocka_unit_test(job_transfers),
		cmocka_unit_test(record_sums),
		cmocka_unit_test(merge_cells),
		cmocka_unit_test(merge_overlap),
		cmocka_unit_test(blob_size),
		cmocka_unit_test(blob_ratio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
