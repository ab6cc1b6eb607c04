// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/comparison.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "format/plan_diff.h"
#include "report/page.h"
#include "report/report_data.h"

/* Script of the page, NUL-terminated; its files make one. */
extern const char comparison_js[];

__asm__(".section .rodata\n"
	".global comparison_js\n"
	"comparison_js: .incbin \"report/page.js\"\n"
	".incbin \"report/heatmap.js\"\n"
	".incbin \"report/circle.js\"\n"
	".incbin \"report/comparison.js\"\n.byte 0\n"
	".previous\n");

/**
 * struct comparison - both plans, and what is different
 * @names: of files
 */
struct comparison {
	struct to_report sides[2];
	const char *const *names;
	struct to_plan_diff diff;
};

static int comparison_servers(const struct to_plan *a, const struct to_plan *b,
			      const char *const names[2], struct to_error *err)
{
	const struct to_cluster *p = a->cluster, *q = b->cluster;
	bool same = p->n_servers == q->n_servers;

	for (unsigned int i = 0; same && i < p->n_servers; i++)
		same = !strcmp(p->servers[i].name, q->servers[i].name);
	return same ? 0 : to_error_set(err, -EINVAL,
				       "%s: has other servers than %s: toctl diff compares these",
				       names[1], names[0]);
}

/* The rest of a row: how much more @b is than @a. */
static void comparison_change(FILE *out, double a, double b)
{
	if (a > 0)
		fprintf(out, "<td>%+.1f&#8239;%%</td></tr>\n", 100 * (b / a - 1));
	else
		fprintf(out, "<td>&ndash;</td></tr>\n");
}

static void comparison_figure(FILE *out, const struct to_figures *a, const struct to_figures *b,
			      enum to_figure which)
{
	const double before = to_figure_value(a, which), after = to_figure_value(b, which);
	char texts[2][24];

	to_page_figure(out, which);
	fprintf(out, "<td>%s</td><td>%s</td>", to_figure_text(which, before, texts[0]),
		to_figure_text(which, after, texts[1]));
	comparison_change(out, before, after);
}

static void comparison_figures(FILE *out, const struct comparison *c)
{
	const struct to_figures *a = &c->sides[0].verdict.figures;
	const struct to_figures *b = &c->sides[1].verdict.figures;

	fprintf(out, "<section><h2>Figures</h2>\n<p>Recomputed, each plan for its own demand.</p>\n"
		"<table id=\"compared\"><thead><tr><th scope=\"col\">Figure</th><th scope=\"col\">A</th>"
		"<th scope=\"col\">B</th><th scope=\"col\">B against A</th></tr></thead>\n<tbody>\n");
	for (unsigned int i = 0; i < TO_FIGURES; i++)
		comparison_figure(out, a, b, i);
	fprintf(out, "<tr><th scope=\"row\">Violations<small>of what a plan has to be, by toctl verify"
		"</small></th><td>%lu</td><td>%lu</td>", c->sides[0].verdict.violations,
		c->sides[1].verdict.violations);
	comparison_change(out, c->sides[0].verdict.violations, c->sides[1].verdict.violations);
	fprintf(out, "</tbody></table></section>\n");
}

static void comparison_end(FILE *out, const struct to_cluster *c, struct to_port_ref end)
{
	fprintf(out, "<td>");
	to_markup_print(out, c->servers[end.server].name);
	fprintf(out, ":");
	to_markup_print(out, c->servers[end.server].ports[end.port].name);
	fprintf(out, "</td>");
}

static void comparison_links(FILE *out, const char *what, const struct to_cluster *c,
			     const struct to_link *links, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		fprintf(out, "<tr><th scope=\"row\">%s</th>", what);
		comparison_end(out, c, links[i].a);
		comparison_end(out, c, links[i].b);
		fprintf(out, "</tr>\n");
	}
}

static void comparison_changes(FILE *out, const struct comparison *c)
{
	const struct to_plan_diff *d = &c->diff;

	fprintf(out, "<section><h2>From A to B</h2>\n<p>%u links are cut and %u made; %u of %u servers get "
		"other routes, addresses or ports.</p>\n", d->n_cut, d->n_made, d->n_servers,
		c->sides[0].plan->cluster->n_servers);
	if (d->n_cut + d->n_made) {
		fprintf(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
			"aria-label=\"Links cut and made\"><table id=\"patches\"><thead><tr><th scope=\"col\">Link</th>"
			"<th scope=\"col\">From</th><th scope=\"col\">To</th></tr></thead>\n<tbody>\n");
		comparison_links(out, "cut", c->sides[0].plan->cluster, d->cut, d->n_cut);
		comparison_links(out, "made", c->sides[1].plan->cluster, d->made, d->n_made);
		fprintf(out, "</tbody></table></div>\n");
	}
	fprintf(out, "</section>\n");
}

/* Places that comparison.js fills. */
static const char comparison_drawings[] =
"<noscript><p>The drawings need JavaScript.</p></noscript>\n"
"<section id=\"topologies\"><h2>Topologies</h2>\n<p>Links in the colour of their load. Red and dashed in A: cut; "
"thick in B: made. Select a server to see its links.</p>\n<div class=\"pair\"><div><h3>A</h3>"
"<div class=\"drawing\"></div></div><div><h3>B</h3><div class=\"drawing\"></div></div></div></section>\n"
"<section id=\"loads\"><h2>Link load</h2>\n<p>Bytes per iteration, in each direction, on the busiest link "
"between two servers, on one scale. Blank: no link.</p>\n<div class=\"pair\"><div><h3>A</h3><div class=\"map\">"
"</div></div><div><h3>B</h3><div class=\"map\"></div></div></div></section>\n"
"<section id=\"curves\"><h2>Ports by load</h2></section>\n";

static int comparison_write(FILE *out, const void *data, struct to_error *err)
{
	const struct comparison *c = data;
	int ret = 0;

	to_page_begin(out, c->sides[0].plan->demand->name, ": two plans", TO_PAGE_SCRIPT);
	fprintf(out, "<header><h1>");
	to_markup_print(out, c->sides[0].plan->demand->name);
	fprintf(out, "</h1>\n<p>");
	for (unsigned int i = 0; i < 2; i++) {
		fprintf(out, "%s<b>%c</b>: ", i ? ", " : "", 'A' + i);
		to_markup_print(out, c->names[i]);
		fprintf(out, ", family %s", c->sides[i].verdict.figures.family);
	}
	fprintf(out, "</p></header>\n<main>\n");
	comparison_figures(out, c);
	comparison_changes(out, c);
	fprintf(out, "%s</main>\n<footer>toctl %s</footer>\n"
		"<script type=\"application/json\" id=\"data\">\n", comparison_drawings,
		c->sides[0].version);
	for (unsigned int i = 0; !ret && i < 2; i++) {
		fprintf(out, "%s{", i ? ",\n" : "[");
		to_report_print_arcs(out, &c->sides[i]);
		ret = to_report_print_plan(out, c->sides[i].plan);
		fprintf(out, "\"side\":%u}", i);
	}
	if (ret)
		return to_error_set(err, -ENOMEM, "out of memory");
	fprintf(out, "]\n</script>\n<script>\n%s</script>\n</body></html>\n", comparison_js);
	return 0;
}

int to_comparison_save(const struct to_plan *const plans[2], const char *const names[2],
		       const char *version, const char *path, struct to_error *err)
{
	struct comparison c = { .names = names };
	int ret = comparison_servers(plans[0], plans[1], names, err);

	for (unsigned int i = 0; !ret && i < 2; i++) {
		struct to_error why = {};

		c.sides[i] = (struct to_report){ .plan = plans[i], .version = version };
		ret = to_report_compute(&c.sides[i], &why);
		if (ret)
			to_error_set(err, ret, "%s: %.400s", names[i], why.text);
	}
	ret = ret ? ret : to_plan_diff(plans[0], plans[1], &c.diff, err);
	if (!ret) {
		ret = to_file_write(path, comparison_write, &c, err);
		to_plan_diff_free(&c.diff);
	}
	to_report_free(&c.sides[0]);
	to_report_free(&c.sides[1]);
	return ret;
}
