/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOCTL_LIVE_H
#define TOCTL_LIVE_H

/*
 * The live page of a fabric: for toctl watch, and for toctl run --listen, which also says
 * what it decides, and which server sends to which.
 */

#include <jansson.h>
#include <pthread.h>

#include "base/password.h"
#include "cli/command.h"
#include "http/http.h"
#include "log_follow.h"
#include "observer.h"
#include "plan/traffic.h"

/**
 * struct to_live_options - where the page is, and how often it is told something
 * @listen: see struct to_http_config
 * @token_file: see to_password_read(), NULL for no token
 */
struct to_live_options {
	const char *listen, *token_file;
	uint64_t interval_ns;
};

/** Options of commands that have the page; @member: a struct to_live_options; @flag: as in
 * TO_FABRIC_OPTIONS */
#define TO_LIVE_OPTIONS(type, member, flag) \
	{ "token-file", 0, TO_OPTION_STRING, offsetof(type, member.token_file), \
	  .argument = "FILE", .with = flag, \
	  .help = "password of the page, in a file that no other user may read; needed for an " \
		  "address other than loopback" }

/**
 * struct to_live - the page at work
 * @observer: open once @looking
 * @shown: the plan that the page was told of
 * @status: this look and the one before, by turns
 * @trouble: why the last look failed, as the page was told; "" when it did not
 * @log: of a toctl run elsewhere, followed; or unused
 * @lock: of @traffic and @stop, which threads share
 * @traffic: counted since the page was told of it last
 */
struct to_live {
	struct to_live_options options;
	struct to_fabric_options fabric;
	const char *plan, *log_path;
	char token[TO_PASSWORD_MAX];
	struct to_events *events;
	struct to_http *http;
	struct to_observer observer;
	bool looking;
	struct to_plan *shown;
	struct to_status status[2];
	unsigned int looks;
	char trouble[sizeof(((struct to_error *)NULL)->text)];
	struct to_log_follow log;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool threaded, stop;
	struct to_traffic traffic;
};

/**
 * to_live_open() - serve the page; says where on standard error
 * @plan, @log: paths, of the plan in force and of its loop's log or NULL; borrowed, as are
 *	the strings of the options
 */
int to_live_open(struct to_live *live, const struct to_live_options *options, const char *plan,
		 const char *log, const struct to_fabric_options *fabric, struct to_error *err);
void to_live_close(struct to_live *live);

/** to_live_look() - look at the fabric, and tell the page; also when that fails, with @err */
int to_live_look(struct to_live *live, struct to_error *err);

/** to_live_start() - do so every interval in a thread, until to_live_close() */
int to_live_start(struct to_live *live, struct to_error *err);

/** to_live_log() - tell the page a line of toctl run's log; from any thread */
void to_live_log(void *live, const json_t *line);

/** to_live_traffic() - the same of traffic measured in an interval */
void to_live_traffic(void *live, const struct to_traffic *traffic);

#endif
