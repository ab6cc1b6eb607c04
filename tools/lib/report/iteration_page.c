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

/* @runs: @n simulations */
struct iteration {
	const char *version;
	const json_t *const *runs;
	unsigned int n;
};

/* A file that is read. */
struct iteration_file {
	struct to_json_doc doc;
	struct to_json at;
	char *text;
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
		return to_json_error(at, -EINVAL, "has no \"%s\": expected what tosim simulate -o writes", key);
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

static int iteration_check_mean(const struct to_json *at)
{
	const struct to_json times = to_json_member(at, "iteration_time_s");
	struct to_json mean = { .value = NULL };
	double seconds;

	if (json_is_object(times.value))
		mean = to_json_member(&times, "mean");
	if (!mean.value)
		return to_json_error(at, -EINVAL, "has no \"iteration_time_s\" with a \"mean\"");
	return to_json_real(&mean, &seconds);
}

static int iteration_check(const struct to_json *at)
{
	const struct to_json path = to_json_member(at, "critical_path");
	const struct to_json workload = to_json_member(at, "workload");
	const struct to_json fabric = to_json_member(at, "fabric");
	unsigned int n_tasks, n_transfers, n_path = 0;
	const char *text;
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
	ret = ret ? ret : to_json_string(&workload, &text);
	ret = ret ? ret : to_json_string(&fabric, &text);
	return ret ? ret : iteration_check_mean(at);
}

static const char *iteration_text(const struct iteration *page, unsigned int run, const char *key)
{
	return json_string_value(json_object_get(page->runs[run], key));
}

static void iteration_head(FILE *out, const struct iteration *page)
{
	const char *workload = iteration_text(page, 0, "workload");

	to_page_begin(out, workload, ": iteration", TO_PAGE_SCRIPT);
	fprintf(out, "<header><h1>");
	to_markup_print(out, workload);
	fprintf(out, "</h1>\n<p>on ");
	for (unsigned int i = 0; i < page->n; i++) {
		fprintf(out, "%s<b>", i ? ", " : "");
		to_markup_print(out, iteration_text(page, i, "fabric"));
		fprintf(out, "</b>");
	}
	fprintf(out, ": the last iteration that tosim simulate ran</p></header>\n<main>\n"
		"<noscript><p>The drawings need JavaScript.</p></noscript>\n"
		"<section id=\"figures\"><h2>Figures</h2></section>\n"
		"<section id=\"gantt\"><h2>Timeline</h2></section>\n"
		"<section id=\"utilisation\"><h2>Link utilisation over time</h2></section>\n"
		"<section id=\"completion\"><h2>Flow completion times</h2></section>\n"
		"<section id=\"shares\"><h2>Shares of the iteration</h2></section>\n</main>\n"
		"<footer>toctl %s</footer>\n", page->version);
}

static int iteration_write(FILE *out, const void *data, struct to_error *err)
{
	static const char *const keys[] = {
		"workload", "fabric", "iteration_time_s", "critical_path_s", "routing", "allreduce",
		"iterations", "tasks", "transfers", "critical_path", "utilisation" };
	const struct iteration *page = data;

	(void)err;
	iteration_head(out, page);
	fprintf(out, "<script type=\"application/json\" id=\"data\">\n");
	for (unsigned int run = 0; run < page->n; run++) {
		const char *before = run ? ",\n{" : "[{";

		for (unsigned int i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
			const json_t *value = json_object_get(page->runs[run], keys[i]);

			if (!value)
				continue;
			fprintf(out, "%s\"%s\":", before, keys[i]);
			to_report_print_json(out, value);
			before = ",\n";
		}
		fputc('}', out);
	}
	fprintf(out, "]\n</script>\n<script>\n%s</script>\n</body></html>\n", iteration_js);
	return 0;
}

int to_iteration_page_write(const json_t *const *runs, unsigned int n, const char *version,
			    const char *path, struct to_error *err)
{
	const struct iteration page = { .version = version, .runs = runs, .n = n };

	return to_file_write(path, iteration_write, &page, err);
}

static int iteration_open(struct iteration_file *file, const char *path, struct to_error *err)
{
	size_t len;
	int ret = to_file_read(path, TO_FILE_MAX, &file->text, &len, err);

	if (ret)
		return ret;
	ret = to_json_open(&file->doc, &file->at, file->text, len, path, NULL, err);
	return ret ? ret : iteration_check(&file->at);
}

int to_iteration_page_save(char *const *simulations, unsigned int n, const char *version,
			   const char *path, struct to_error *err)
{
	struct iteration_file *files = calloc(n, sizeof(*files));
	const json_t **runs = calloc(n, sizeof(*runs));
	int ret = files && runs ? 0 : to_error_set(err, -ENOMEM, "out of memory");

	for (unsigned int i = 0; !ret && i < n; i++) {
		ret = iteration_open(&files[i], simulations[i], err);
		runs[i] = files[i].at.value;
	}
	if (!ret)
		ret = to_iteration_page_write(runs, n, version, path, err);
	for (unsigned int i = 0; files && i < n; i++) {
		to_json_close(&files[i].doc);
		free(files[i].text);
	}
	free(files);
	free(runs);
	return ret;
}
