// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/live_page.h"

#include "report/page.h"
#include "report/report_data.h"

/* Script of the page, NUL-terminated; its files make one. */
extern const char live_js[];

__asm__(".section .rodata\n"
	".global live_js\n"
	"live_js: .incbin \"report/page.js\"\n"
	".incbin \"report/heatmap.js\"\n"
	".incbin \"report/timeline.js\"\n"
	".incbin \"report/circle.js\"\n"
	".incbin \"report/live.js\"\n.byte 0\n"
	".previous\n");

static const char live_places[] =
"<p id=\"state\" class=\"verdict\" role=\"status\" aria-live=\"polite\">Waiting for the first look.</p>\n"
"<ul id=\"checks\"></ul>\n"
"<section id=\"topology\"><h2>Topology</h2>\n<div class=\"stage\"><div class=\"drawing\"></div>"
"<aside></aside></div></section>\n"
"<section id=\"matrix\"><h2>Traffic beside the plan</h2></section>\n"
"<section id=\"links\"><h2>Busiest links</h2></section>\n"
"<section id=\"timeline\"><h2>Timeline</h2></section>\n";

void to_live_page_print(FILE *out, const char *version)
{
	to_page_begin(out, "toctl", "", TO_PAGE_LIVE);
	fprintf(out, "<header><h1>A fabric</h1>\n<p id=\"summary\"></p></header>\n<main>\n"
		"<noscript><p>The page needs JavaScript.</p></noscript>\n%s</main>\n"
		"<footer>toctl %s</footer>\n<script>\n%s</script>\n</body></html>\n",
		live_places, version, live_js);
}

int to_live_plan_print(FILE *out, const struct to_plan *plan)
{
	int ret;

	fprintf(out, "{");
	ret = to_report_print_plan(out, plan);
	fprintf(out, "\"seed\":%llu}\n", (unsigned long long)plan->seed);
	return ret;
}

int to_live_traffic_print(FILE *out, const struct to_traffic *traffic)
{
	int ret;

	fprintf(out, "{");
	ret = to_report_print_matrix(out, "bytes", traffic->bytes, NULL, traffic->n);
	fprintf(out, "\"seconds\":%.6g}\n", traffic->seconds);
	return ret;
}
