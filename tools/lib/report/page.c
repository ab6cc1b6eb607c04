// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/page.h"

#include <ctype.h>

#include "base/text.h"

/* Style of the pages, NUL-terminated. */
extern const char page_css[];

__asm__(".section .rodata\n"
	".global page_css\n"
	"page_css: .incbin \"report/report.css\"\n.byte 0\n"
	".previous\n");

void to_page_begin(FILE *out, const char *title, const char *suffix, enum to_page_kind kind)
{
	static const char *const policies[] = {
		[TO_PAGE_STILL] = "",
		[TO_PAGE_SCRIPT] = "script-src 'unsafe-inline'; ",
		[TO_PAGE_LIVE] = "script-src 'unsafe-inline'; connect-src 'self'; ",
	};

	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; %simg-src data:\">\n<title>",
		policies[kind]);
	to_markup_print(out, title);
	fprintf(out, "%s</title>\n<style>\n%s</style></head>\n<body>\n", suffix, page_css);
}

void to_page_figure(FILE *out, enum to_figure which)
{
	const char *name = to_figure_name(which);

	fprintf(out, "<tr><th scope=\"row\">%c%s<small>%s</small></th>", toupper(name[0]), name + 1,
		to_figure_meaning(which));
}
