// SPDX-License-Identifier: GPL-2.0-or-later
#include "http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/lazy_microhttpd.h"

#define CONNECTIONS 64
#define TIMEOUT 10	/* seconds without a byte until a connection is closed */

static const char http_plain[] = "text/plain; charset=utf-8";

/**
 * struct http_connection - an open one; all belong to the daemon's thread
 * @fd: negative: this one is free
 * @number: how many there had been when it came
 * @kept: it has a stream, or is being closed
 */
struct http_connection {
	int fd;
	uint64_t number;
	bool kept;
};

struct to_http {
	struct to_http_config config;
	struct MHD_Daemon *daemon;
	struct http_connection connections[CONNECTIONS];
	uint64_t accepted;
};

static struct MHD_Connection *http_connection(struct to_http_request *request)
{
	return (struct MHD_Connection *)request;
}

/* ---- replies ---- */

const char *to_http_header(struct to_http_request *request, const char *name)
{
	return to_mhd.lookup_connection_value(http_connection(request), MHD_HEADER_KIND, name);
}

static void http_headers(struct MHD_Response *response, const char *type)
{
	to_mhd.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	to_mhd.add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	to_mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
	to_mhd.add_response_header(response, "Content-Security-Policy", "frame-ancestors 'none'");
	to_mhd.add_response_header(response, "Referrer-Policy", "no-referrer");
}

static struct MHD_Response *http_text(const char *type, const char *text, size_t len)
{
	struct MHD_Response *response =
		to_mhd.create_response_from_buffer(len, (void *)text, MHD_RESPMEM_MUST_COPY);

	if (response)
		http_headers(response, type);
	return response;
}

static int http_send(struct to_http_request *request, unsigned int status,
		     struct MHD_Response *response)
{
	enum MHD_Result ret;

	if (!response)
		return MHD_NO;
	ret = to_mhd.queue_response(http_connection(request), status, response);
	to_mhd.destroy_response(response);
	return ret;
}

int to_http_reply(struct to_http_request *request, unsigned int status, const char *type,
		  const char *text, size_t len)
{
	struct MHD_Response *response = http_text(type, text, len);

	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		to_mhd.add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return http_send(request, status, response);
}

int to_http_reply_line(struct to_http_request *request, unsigned int status, const char *line)
{
	char text[sizeof(struct to_error) + 1];
	int len = snprintf(text, sizeof(text), "%s\n", line);

	return to_http_reply(request, status, http_plain, text,
			     len < (int)sizeof(text) ? len : (int)sizeof(text) - 1);
}

int to_http_reply_events(struct to_http_request *request, struct to_events *events)
{
	struct MHD_Response *response = to_events_response(events, http_connection(request));
	struct http_connection *c;

	if (!response)
		return to_http_reply_line(request, MHD_HTTP_SERVICE_UNAVAILABLE,
					  "too many watch already");
	http_headers(response, "text/event-stream");
	c = to_mhd.get_connection_info(http_connection(request),
				       MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	if (c)
		c->kept = true;
	return http_send(request, MHD_HTTP_OK, response);
}

/* ---- who may ask ---- */

/* Takes as long wherever they differ. */
static bool http_same(const char *given, const char *token)
{
	const size_t len = strlen(given), n = strlen(token);
	unsigned char differ = len != n;

	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)token[i] ^ (i < len ? (unsigned char)given[i] : 0);
	return !differ;
}

static bool http_knows(const struct to_http *http, struct to_http_request *request)
{
	const char *token = http->config.token;
	const char *header = to_http_header(request, MHD_HTTP_HEADER_AUTHORIZATION);
	char *user, *password = NULL;
	bool knows = false;

	if (!token)
		return true;
	if (header && !strncasecmp(header, "Bearer ", 7))
		return http_same(header + 7, token);
	user = to_mhd.basic_auth_get_username_password(http_connection(request), &password);
	if (password)
		knows = http_same(password, token);
	to_mhd.free(user);
	to_mhd.free(password);
	return knows;
}

/* Whether a request was meant for this machine, by its Host; without one it is no browser's. */
static bool http_is_local(struct to_http_request *request)
{
	const char *host = to_http_header(request, MHD_HTTP_HEADER_HOST);
	struct in_addr address;
	char name[64];
	size_t len;

	if (!host)
		return true;
	len = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	if (len >= sizeof(name))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)len, host);
	return !strcasecmp(name, "localhost") || !strcmp(name, "[::1]") ||
	       (inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127);
}

static enum MHD_Result http_request(void *data, struct MHD_Connection *connection,
				    const char *path, const char *method, const char *version,
				    const char *upload, size_t *upload_size, void **state)
{
	struct to_http_request *request = (struct to_http_request *)connection;
	const struct to_http *http = data;

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
	if (http->config.private && !http->config.token && !http_is_local(request))
		return to_http_reply_line(request, MHD_HTTP_FORBIDDEN,
					  "without --token-file, only for this machine: ask for localhost");
	if (!http_knows(http, request)) {
		static const char text[] = "the password is the token\n";
		struct MHD_Response *response = http_text(http_plain, text, sizeof(text) - 1);
		enum MHD_Result ret;

		if (!response)
			return MHD_NO;
		ret = to_mhd.queue_basic_auth_fail_response(connection, "toctl", response);
		to_mhd.destroy_response(response);
		return ret;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return to_http_reply_line(request, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD");
	return http->config.handler(http->config.data, request, path);
}

/* ---- connections ---- */

/* A place for one more: the oldest, which would have been answered if it had asked, goes. */
static void http_make_room(struct to_http *http)
{
	struct http_connection *oldest = NULL;

	for (unsigned int i = 0; i < CONNECTIONS; i++) {
		struct http_connection *c = &http->connections[i];

		if (c->fd < 0)
			return;
		if (!c->kept && (!oldest || c->number < oldest->number))
			oldest = c;
	}
	if (oldest) {
		oldest->kept = true;
		shutdown(oldest->fd, SHUT_RDWR);
	}
}

static void http_note(void *data, struct MHD_Connection *connection, void **context,
		      enum MHD_ConnectionNotificationCode code)
{
	struct http_connection *c = *context;
	struct to_http *http = data;
	unsigned int i = 0;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c)
			c->fd = -1;
		return;
	}
	while (i < CONNECTIONS && http->connections[i].fd >= 0)
		i++;
	if (i == CONNECTIONS)
		return;
	c = &http->connections[i];
	c->fd = to_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	c->number = http->accepted++;
	c->kept = false;
	*context = c;
	http_make_room(http);
}

/* ---- listening ---- */

static int http_resolve(const char *address, struct addrinfo **info, struct to_error *err)
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

static bool http_is_loopback(const struct addrinfo *info)
{
	const struct sockaddr_in *v4 = (const void *)info->ai_addr;
	const struct sockaddr_in6 *v6 = (const void *)info->ai_addr;

	return info->ai_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127 :
					    IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static int http_listen(const struct to_http_config *config, struct to_error *err)
{
	struct addrinfo *info;
	int ret, fd = -1, one = 1;

	ret = http_resolve(config->address, &info, err);
	if (ret)
		return ret;
	if (config->private && !config->token && !http_is_loopback(info)) {
		ret = to_error_set(err, -EPERM,
				   "--listen %s: others reach this address, so --token-file is needed",
				   config->address);
		goto out;
	}
	fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, 0);
	/* a restart need not wait for connections that linger */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, info->ai_addr, info->ai_addrlen) || listen(fd, CONNECTIONS)) {
		ret = -errno;
		to_error_set(err, ret, "cannot listen on %s: %s", config->address, strerror(-ret));
	}
out:
	freeaddrinfo(info);
	if (ret && fd >= 0)
		close(fd);
	return ret ? ret : fd;
}

int to_http_open(struct to_http **out, const struct to_http_config *config, struct to_error *err)
{
	struct to_http *http;
	sigset_t all, before;
	int fd, ret;

	ret = to_lazy_microhttpd(err);
	if (ret)
		return ret;
	fd = http_listen(config, err);
	if (fd < 0)
		return fd;
	http = calloc(1, sizeof(*http));
	if (http) {
		http->config = *config;
		for (unsigned int i = 0; i < CONNECTIONS; i++)
			http->connections[i].fd = -1;
		/* the daemon's thread inherits it */
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, &before);
		http->daemon = to_mhd.start_daemon(
			MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0,
			NULL, NULL, http_request, http, MHD_OPTION_LISTEN_SOCKET, fd,
			MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_NOTIFY_CONNECTION,
			http_note, http, MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT, MHD_OPTION_END);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (!http || !http->daemon) {
		free(http);
		close(fd);
		return to_error_set(err, -ENOMEM, "cannot start the HTTP server");
	}
	*out = http;
	return 0;
}

void to_http_close(struct to_http *http)
{
	if (!http)
		return;
	to_mhd.stop_daemon(http->daemon);
	free(http);
}
