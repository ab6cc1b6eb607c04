// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/sweep_page.h"

#include "base/file.h"
#include "base/text.h"
#include "report/page.h"
#include "report/report_data.h"

/* Script of the page, NUL-terminated; its files make one. */
extern const char sweep_js[];

__asm__(".section .rodata\n"
	".global sweep_js\n"
	"sweep_js: .incbin \"report/page.js\"\n"
	".incbin \"report/sweep.js\"\n.byte 0\n"
	".previous\n");

struct sweep_page {
	const json_t *swept;
	const char *version;
};

static int sweep_page_write(FILE *out, const void *data, struct to_error *err)
{
	const struct sweep_page *page = data;
	const char *name = json_string_value(json_object_get(page->swept, "name"));

	(void)err;
	to_page_begin(out, name, ": sweep", TO_PAGE_SCRIPT);
	fprintf(out, "<header><h1>");
	to_markup_print(out, name);
	fprintf(out, "</h1>\n<p>Iterations that tosim simulate ran at each point</p></header>\n<main>\n"
		"<noscript><p>The drawings need JavaScript.</p></noscript>\n"
		"<section id=\"ratios\"><h2>Published, and here</h2></section>\n"
		"<section id=\"charts\"><h2>Iteration time</h2></section>\n"
		"<section id=\"points\"><h2>Points</h2></section>\n</main>\n"
		"<footer>toctl %s</footer>\n<script type=\"application/json\" id=\"data\">\n",
		page->version);
	to_report_print_json(out, page->swept);
	fprintf(out, "\n</script>\n<script>\n%s</script>\n</body></html>\n", sweep_js);
	return 0;
}

int to_sweep_page_save(const json_t *swept, const char *version, const char *path,
		       struct to_error *err)
{
	const struct sweep_page page = { swept, version };

	return to_file_write(path, sweep_page_write, &page, err);
}
