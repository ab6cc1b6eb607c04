// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/iteration_page.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "report/page.h"
#include "report/report_data.h"

/* Script of the page, NUL-terminated; its files make one. */
extern const char iteration_js[];

__asm__(".section .rodata\n"
	".global iteration_js\n"
	"iteration_js: .incbin \"report/page.js\"\n"
	".incbin \"report/iteration.js\"\n.byte 0\n"
	".previous\n");

/* What is read of a task or a transfer, to see that it is there. */
struct iteration_span {
	const char *text;
	double start, finish;
	uint64_t bytes;
};

struct iteration {
	const char *version;
	const char *workload, *fabric;
	const struct to_json *at;
};

static int iteration_kind(const struct to_json *at, void *to)
{
	static const char *const kinds[] = { "compute", "allreduce", "mp", NULL };
	int kind = to_json_choice(at, kinds);

	(void)to;
	return kind < 0 ? kind : 0;
}

#define SPAN(field) offsetof(struct iteration_span, field)

static const struct to_json_field iteration_task[] = {
	{ "kind", iteration_kind, 0, false },
	{ "server", to_json_string, SPAN(text), true },
	{ "name", to_json_string, SPAN(text), true },
	{ "start_s", to_json_real, SPAN(start), false },
	{ "finish_s", to_json_real, SPAN(finish), false },
	{}
};

static const struct to_json_field iteration_transfer[] = {
	{ "from", to_json_string, SPAN(text), false },
	{ "to", to_json_string, SPAN(text), false },
	{ "bytes", to_json_u64, SPAN(bytes), false },
	{ "start_s", to_json_real, SPAN(start), false },
	{ "finish_s", to_json_real, SPAN(finish), false },
	{}
};

static int iteration_check_spans(const struct to_json *at, const char *key,
				 const struct to_json_field *fields, unsigned int *n)
{
	const struct to_json list = to_json_member(at, key);
	int ret;

	if (!list.value)
		return to_json_error(at, -EINVAL, "has no \"%s\": expected what toctl simulate -o writes", key);
	ret = to_json_array(&list, 0, NULL, n);
	for (unsigned int i = 0; !ret && i < *n; i++) {
		const struct to_json element = to_json_element(&list, i);
		struct iteration_span span = {};

		ret = to_json_object(&element, fields, &span);
		if (!ret && span.finish < span.start)
			ret = to_json_error(&element, -EINVAL, "it finishes before it starts");
	}
	return ret;
}

static int iteration_check(struct iteration *run, const struct to_json *at)
{
	const struct to_json path = to_json_member(at, "critical_path");
	const struct to_json workload = to_json_member(at, "workload");
	const struct to_json fabric = to_json_member(at, "fabric");
	unsigned int n_tasks, n_transfers, n_path = 0;
	int ret;

	ret = iteration_check_spans(at, "tasks", iteration_task, &n_tasks);
	ret = ret ? ret : iteration_check_spans(at, "transfers", iteration_transfer, &n_transfers);
	if (!ret && (!path.value || !workload.value || !fabric.value))
		ret = to_json_error(at, -EINVAL, "expected \"critical_path\", \"workload\" and \"fabric\"");
	ret = ret ? ret : to_json_array(&path, 0, NULL, &n_path);
	for (unsigned int i = 0; !ret && i < n_path; i++) {
		const struct to_json element = to_json_element(&path, i);
		uint64_t task;

		ret = to_json_u64(&element, &task);
		if (!ret && task >= n_tasks)
			ret = to_json_error(&element, -ERANGE, "there are %u tasks", n_tasks);
	}
	ret = ret ? ret : to_json_string(&workload, &run->workload);
	return ret ? ret : to_json_string(&fabric, &run->fabric);
}

static int iteration_write(FILE *out, const void *data, struct to_error *err)
{
	static const char *const keys[] = { "tasks", "transfers", "critical_path" };
	const struct iteration *run = data;

	(void)err;
	to_page_begin(out, run->workload, ": iteration", TO_PAGE_SCRIPT);
	fprintf(out, "<header><h1>");
	to_markup_print(out, run->workload);
	fprintf(out, "</h1>\n<p>on <b>");
	to_markup_print(out, run->fabric);
	fprintf(out, "</b>: the last iteration that toctl simulate ran</p></header>\n<main>\n"
		"<noscript><p>The drawings need JavaScript.</p></noscript>\n"
		"<section id=\"gantt\"><h2>Timeline</h2></section>\n"
		"<section id=\"shares\"><h2>Shares of the iteration</h2></section>\n</main>\n"
		"<footer>toctl %s</footer>\n<script type=\"application/json\" id=\"data\">\n", run->version);
	for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		fprintf(out, "%s\"%s\":", i ? ",\n" : "{", keys[i]);
		to_report_print_json(out, json_object_get(run->at->value, keys[i]));
	}
	fprintf(out, "}\n</script>\n<script>\n%s</script>\n</body></html>\n", iteration_js);
	return 0;
}

int to_iteration_page_save(const char *simulation, const char *version, const char *path,
			   struct to_error *err)
{
	struct to_json_doc doc = {};
	struct to_json at;
	struct iteration run = { .version = version, .at = &at };
	size_t len;
	char *text;
	int ret = to_file_read(simulation, TO_FILE_MAX, &text, &len, err);

	if (ret)
		return ret;
	ret = to_json_open(&doc, &at, text, len, simulation, NULL, err);
	if (!ret) {
		ret = iteration_check(&run, &at);
		ret = ret ? ret : to_file_write(path, iteration_write, &run, err);
		to_json_close(&doc);
	}
	free(text);
	return ret;
}
