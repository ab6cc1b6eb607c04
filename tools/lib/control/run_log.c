// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/run_log.h"

#include <errno.h>
#include <stdarg.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

int to_run_log_open(struct to_run_log *log, const char *path, bool json, struct to_error *err)
{
	*log = (struct to_run_log){ .json = json };
	if (!path)
		return 0;
	log->file = to_file_stream(path, true, err);
	return log->file ? 0 : -EIO;
}

void to_run_log_close(struct to_run_log *log)
{
	if (log->file)
		fclose(log->file);
	log->file = NULL;
}

static void run_log_write_json(FILE *out, const json_t *line)
{
	to_json_write(line, out, JSON_COMPACT | JSON_REAL_PRECISION(13));
	putc('\n', out);
	fflush(out);
}

void to_run_log(const struct to_run_log *log, const char *event, json_t *fields,
		const char *fmt, ...)
{
	const uint64_t now = to_clock_realtime_ns();
	const time_t seconds = now / TO_NS_PER_S;
	const unsigned int ns = now % TO_NS_PER_S;
	char clock[16], text[TO_LINE_MAX + 1], clean[TO_LINE_MAX];
	struct tm tm;
	json_t *line;
	va_list ap;

	line = json_pack("{s:f, s:s}", "time", seconds + ns * 1e-9, "event", event);
	if (fields)
		json_object_update(line, fields);
	json_decref(fields);
	if (log->file)
		run_log_write_json(log->file, line);
	if (log->tell)
		log->tell(log->data, line);
	if (log->json) {
		run_log_write_json(stdout, line);
	} else {
		localtime_r(&seconds, &tm);
		strftime(clock, sizeof(clock), "%T", &tm);
		va_start(ap, fmt);
		vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		printf("%s.%03u %s\n", clock, ns / 1000000,
		       to_text_clean(clean, sizeof(clean), text));
		fflush(stdout);
	}
	json_decref(line);
}
