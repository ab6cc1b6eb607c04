// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/metrics_serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"
#include "kernel/metrics.h"

struct serve {
	const char *device, *version;	/* as of to_metrics_serve() */
};

static const char openmetrics_type[] =
	"application/openmetrics-text; version=1.0.0; charset=utf-8";
static const char prometheus_type[] = "text/plain; version=0.0.4; charset=utf-8";

static int serve_metrics(struct to_http_request *request, const struct serve *serve)
{
	const char *accept = to_http_header(request, "Accept");
	bool open = accept && strstr(accept, "application/openmetrics-text");
	struct to_metrics metrics = { .version = serve->version };
	struct to_error err;
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int ret;

	if (to_metrics_read(&metrics, serve->device, &err))
		return to_http_reply_line(request, 503, err.text);
	out = open_memstream(&text, &len);
	if (out) {
		to_metrics_print(&metrics, open ? TO_METRICS_OPENMETRICS :
				 TO_METRICS_PROMETHEUS, out);
		fclose(out);
	}
	to_metrics_free(&metrics);
	ret = text ? to_http_reply(request, 200, open ? openmetrics_type : prometheus_type, text, len) :
		     to_http_reply_line(request, 503, "out of memory");
	free(text);
	return ret;
}

static int serve_request(void *data, struct to_http_request *request, const char *path)
{
	if (!strcmp(path, "/"))
		return to_http_reply_line(request, 200, "toctl export: see /metrics");
	if (strcmp(path, "/metrics"))
		return to_http_reply_line(request, 404, "see /metrics");
	return serve_metrics(request, data);
}

int to_metrics_serve(const char *address, const char *device, const char *version,
		     void (*ready)(const char *url), struct to_error *err)
{
	struct serve serve = { .device = device, .version = version };
	const struct to_http_config config = {
		.address = address, .handler = serve_request, .data = &serve,
	};
	struct to_http *http;
	sigset_t signals;
	char url[128];
	int ret, got;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	ret = to_http_open(&http, &config, err);
	if (ret)
		return ret;
	snprintf(url, sizeof(url), "http://%s%.100s/metrics",
		 strchr(address, ':') ? "" : "127.0.0.1:", address);
	if (ready)
		ready(url);
	sigwait(&signals, &got);
	to_http_close(http);
	return 0;
}
