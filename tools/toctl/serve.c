// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/lazy.h"
#include "kernel/metrics.h"

#define CONNECTIONS 64
#define TIMEOUT 10	/* seconds without a byte until a connection is closed */

#define MHD_FUNCTIONS(X)						\
	X(add_response_header) X(create_response_from_buffer)		\
	X(destroy_response) X(get_connection_info)			\
	X(lookup_connection_value) X(queue_response)			\
	X(start_daemon) X(stop_daemon)

static struct {
#define X(name) __typeof__(MHD_##name) *name;
	MHD_FUNCTIONS(X)
#undef X
} mhd;

static const char openmetrics_type[] =
	"application/openmetrics-text; version=1.0.0; charset=utf-8";
static const char prometheus_type[] = "text/plain; version=0.0.4; charset=utf-8";
static const char plain_type[] = "text/plain; charset=utf-8";

static enum MHD_Result serve_text(struct MHD_Connection *connection, unsigned int status,
				  const char *type, char *text, size_t len)
{
	struct MHD_Response *response;
	enum MHD_Result ret;

	response = mhd.create_response_from_buffer(len, text, MHD_RESPMEM_MUST_COPY);
	if (!response)
		return MHD_NO;
	mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		mhd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	ret = mhd.queue_response(connection, status, response);
	mhd.destroy_response(response);
	return ret;
}

static enum MHD_Result serve_line(struct MHD_Connection *connection, unsigned int status,
				  const char *line)
{
	char text[sizeof(struct to_error) + 1];
	int len = snprintf(text, sizeof(text), "%s\n", line);

	return serve_text(connection, status, plain_type, text, len);
}

static enum MHD_Result serve_metrics(struct MHD_Connection *connection, const char *device)
{
	const char *accept = mhd.lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ACCEPT);
	bool open = accept && strstr(accept, "application/openmetrics-text");
	struct to_metrics metrics = { .version = TO_VERSION };
	enum MHD_Result ret;
	struct to_error err;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (to_metrics_read(&metrics, device, &err))
		return serve_line(connection, MHD_HTTP_SERVICE_UNAVAILABLE, err.text);
	out = open_memstream(&text, &len);
	if (out) {
		to_metrics_print(&metrics, open ? TO_METRICS_OPENMETRICS :
				 TO_METRICS_PROMETHEUS, out);
		fclose(out);
	}
	to_metrics_free(&metrics);
	ret = text ? serve_text(connection, MHD_HTTP_OK,
				open ? openmetrics_type : prometheus_type, text, len) : MHD_NO;
	free(text);
	return ret;
}

static enum MHD_Result serve_request(void *arg, struct MHD_Connection *connection,
				     const char *url, const char *method, const char *version,
				     const char *upload, size_t *upload_size, void **state)
{
	(void)version;
	(void)upload;
	/* the first call is for the headers alone; a body is of no interest */
	if (!*state) {
		*state = connection;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return serve_line(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD");
	if (!strcmp(url, "/"))
		return serve_line(connection, MHD_HTTP_OK, "toctl export: see /metrics");
	if (strcmp(url, "/metrics"))
		return serve_line(connection, MHD_HTTP_NOT_FOUND, "see /metrics");
	return serve_metrics(connection, arg);
}

/**
 * struct serve_connection - an open one; all belong to the daemon's thread
 * @fd: negative: this one is free
 * @number: how many there had been when it came
 * @left: it is being closed
 */
struct serve_connection {
	int fd;
	uint64_t number;
	bool left;
};

static struct serve_connection serve_connections[CONNECTIONS];
static uint64_t serve_accepted;

/* A place for one more: the oldest, which would have been answered if it had asked, goes. */
static void serve_make_room(void)
{
	struct serve_connection *oldest = NULL;

	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		struct serve_connection *c = &serve_connections[i];

		if (c->fd < 0)
			return;
		if (!c->left && (!oldest || c->number < oldest->number))
			oldest = c;
	}
	if (oldest) {
		oldest->left = true;
		shutdown(oldest->fd, SHUT_RDWR);
	}
}

static void serve_note(void *arg, struct MHD_Connection *connection, void **context,
		       enum MHD_ConnectionNotificationCode code)
{
	struct serve_connection *c = *context;
	unsigned int i = 0;

	(void)arg;
	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c)
			c->fd = -1;
		return;
	}
	while (i < CONNECTIONS && serve_connections[i].fd >= 0)
		i++;
	if (i == CONNECTIONS)
		return;
	c = &serve_connections[i];
	c->fd = mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	c->number = serve_accepted++;
	c->left = false;
	*context = c;
	serve_make_room();
}

static int serve_resolve(const char *address, struct addrinfo **info, struct to_error *err)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
		.ai_socktype = SOCK_STREAM,
	};
	const char *colon = strrchr(address, ':');
	const char *port = colon ? colon + 1 : address, *host = address;
	size_t len = colon ? colon - address : 0;
	bool bracket = len > 1 && host[0] == '[' && host[len - 1] == ']';
	char name[64] = "127.0.0.1";
	char *end;

	if (bracket) {
		host++;
		len -= 2;
	}
	if (colon && len < sizeof(name))
		snprintf(name, sizeof(name), "%.*s", (int)len, host);
	errno = 0;
	if (len >= sizeof(name) || bracket != !!strchr(name, ':') ||
	    strtoul(port, &end, 10) - 1 >= 65535 || errno || *end ||
	    getaddrinfo(name, port, &hints, info))
		return to_error_set(err, -EINVAL,
				    "--listen: expected PORT, ADDRESS:PORT or [ADDRESS]:PORT, not \"%s\"",
				    address);
	return 0;
}

static int serve_socket(const char *address, struct to_error *err)
{
	struct addrinfo *info;
	int ret, fd, one = 1;

	ret = serve_resolve(address, &info, err);
	if (ret)
		return ret;
	fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, 0);
	/* a restart need not wait for connections that linger */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, CONNECTIONS)) {
		ret = -errno;
		to_error_set(err, ret, "cannot listen on %s: %s", address, strerror(-ret));
		if (fd >= 0)
			close(fd);
		fd = ret;
	}
	freeaddrinfo(info);
	return fd;
}

static int serve_load(struct to_error *err)
{
#define X(name) { "MHD_" #name, (void **)&mhd.name },
	static const struct to_lazy_symbol symbols[] = { MHD_FUNCTIONS(X) };
#undef X

	return to_lazy_load("libmicrohttpd.so.12", symbols, sizeof(symbols) / sizeof(symbols[0]),
			    err);
}

int to_serve_metrics(const char *address, const char *device, struct to_error *err)
{
	struct MHD_Daemon *daemon;
	sigset_t signals;
	int ret, fd, got;

	ret = serve_load(err);
	if (ret)
		return ret;
	fd = serve_socket(address, err);
	if (fd < 0)
		return fd;
	/* before the daemon's thread is made, which inherits it */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (unsigned int i = 0; i < CONNECTIONS; i++)
		serve_connections[i].fd = -1;
	daemon = mhd.start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL,
				  NULL, serve_request, (void *)device,
				  MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				  MHD_OPTION_NOTIFY_CONNECTION, serve_note, NULL,
				  MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT, MHD_OPTION_END);
	if (!daemon) {
		close(fd);
		return to_error_set(err, -ENOMEM, "cannot start the HTTP server");
	}
	fprintf(stderr, "serving http://%s%s/metrics\n",
		strchr(address, ':') ? "" : "127.0.0.1:", address);
	sigwait(&signals, &got);
	mhd.stop_daemon(daemon);
	return 0;
}
