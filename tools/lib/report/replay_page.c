// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/replay_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "report/page.h"
#include "report/report_data.h"

/* Script of the page, NUL-terminated; its files make one. */
extern const char replay_js[];

__asm__(".section .rodata\n"
	".global replay_js\n"
	"replay_js: .incbin \"report/page.js\"\n"
	".incbin \"report/timeline.js\"\n"
	".incbin \"report/replay.js\"\n.byte 0\n"
	".previous\n");

struct replay {
	const char *log, *version;
	json_t *lines;
};

static int replay_line(json_t *lines, const char *text, size_t len, const char *path,
		       unsigned int number, struct to_error *err)
{
	struct to_error why = {};
	json_t *line = to_json_load(text, len, TO_JSON_MEMORY_MAX, path, &why);

	if (json_is_number(json_object_get(line, "time")) &&
	    json_is_string(json_object_get(line, "event")))
		return json_array_append_new(lines, line) ?
		       to_error_set(err, -ENOMEM, "out of memory") : 0;
	json_decref(line);
	return to_error_set(err, -EINVAL,
			    "%s:%u: expected a line of toctl run's log, an object with \"time\" and \"event\"",
			    path, number);
}

static int replay_read(struct replay *r, struct to_error *err)
{
	char *text, *end;
	unsigned int number = 0;
	size_t len;
	int ret = to_file_read(r->log, TO_FILE_MAX, &text, &len, err);

	if (ret)
		return ret;
	r->lines = json_array();
	for (char *at = text; !ret && (end = memchr(at, '\n', text + len - at)); at = end + 1)
		ret = replay_line(r->lines, at, end - at, r->log, ++number, err);
	free(text);
	if (!ret && !json_array_size(r->lines))
		ret = to_error_set(err, -EINVAL, "%s: has no line", r->log);
	return ret;
}

static int replay_write(FILE *out, const void *data, struct to_error *err)
{
	const struct replay *r = data;

	(void)err;
	to_page_begin(out, r->log, ": toctl run", TO_PAGE_SCRIPT);
	fprintf(out, "<header><h1>");
	to_markup_print(out, r->log);
	fprintf(out, "</h1>\n<p>What toctl run saw, decided and did.</p></header>\n<main>\n"
		"<noscript><p>The page needs JavaScript.</p></noscript>\n"
		"<section id=\"replay\"></section>\n"
		"<section id=\"candidates\"><h2>Candidates</h2></section>\n"
		"<section id=\"gray\"><h2>Lossy links and slow ports</h2></section>\n"
		"<section id=\"timeline\"><h2>Timeline</h2></section>\n</main>\n"
		"<footer>toctl %s</footer>\n<script type=\"application/json\" id=\"data\">\n", r->version);
	to_report_print_json(out, r->lines);
	fprintf(out, "\n</script>\n<script>\n%s</script>\n</body></html>\n", replay_js);
	return 0;
}

int to_replay_page_save(const char *log, const char *version, const char *path,
			struct to_error *err)
{
	struct replay r = { .log = log, .version = version };
	int ret = replay_read(&r, err);

	ret = ret ? ret : to_file_write(path, replay_write, &r, err);
	json_decref(r.lines);
	return ret;
}
