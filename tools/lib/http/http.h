/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HTTP_H
#define TOPOOPT_HTTP_H

/*
 * A small HTTP server, for pages and counters of this machine: libmicrohttpd in one thread
 * of its own. Connections that ask nothing keep no others out: the oldest is closed when
 * there are many.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "http/events.h"

struct to_http;
struct to_http_request;

/**
 * to_http_handler - answer a GET or HEAD of @path, by exactly one to_http_reply...()
 *
 * Called in the server's thread. Return: what that returned.
 */
typedef int (*to_http_handler)(void *data, struct to_http_request *request, const char *path);

/**
 * struct to_http_config - what to serve, and to whom; borrowed until to_http_close()
 * @address: "PORT", "ADDRESS:PORT" or "[ADDRESS]:PORT", addresses in numbers; 127.0.0.1
 *	without one
 * @private: not for everybody: without a @token only a loopback address is listened on,
 *	and requests that name another host are refused, so that no page of another site
 *	reads it by a name that it has pointed here (DNS rebinding)
 * @token: that requests must bring, as the password of any user (Basic, RFC 7617) or as a
 *	bearer token (RFC 6750); NULL: none
 */
struct to_http_config {
	const char *address, *token;
	bool private;
	to_http_handler handler;
	void *data;
};

/**
 * to_http_open() - listen, and answer from now on
 *
 * The thread blocks all signals. Return: 0, or a negative errno with @err: no such
 * address, one that is taken, or not to be listened on.
 */
int to_http_open(struct to_http **http, const struct to_http_config *config,
		 struct to_error *err);

/** to_http_close() - close all connections; streams must have ended, see to_events_end() */
void to_http_close(struct to_http *http);

/** to_http_header() - of a request, NULL when it has none of that name */
const char *to_http_header(struct to_http_request *request, const char *name);

/**
 * to_http_reply() - answer
 * @status: of HTTP
 * @type: of @text, with its charset
 * @text: @len bytes, copied
 *
 * Browsers keep nothing of it, and show it in no other site's frame.
 */
int to_http_reply(struct to_http_request *request, unsigned int status, const char *type,
		  const char *text, size_t len);

/** to_http_reply_line() - the same with one line of plain text */
int to_http_reply_line(struct to_http_request *request, unsigned int status, const char *line);

/** to_http_reply_events() - with server-sent events, until to_events_end(); a few at a time */
int to_http_reply_events(struct to_http_request *request, struct to_events *events);

#endif
