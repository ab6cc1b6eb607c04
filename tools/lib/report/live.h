/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LIVE_H
#define TOPOOPT_LIVE_H

/* The live page of a fabric, served and kept up to date; see live_page.h for its events. */

#include <jansson.h>
#include <pthread.h>

#include "base/password.h"
#include "control/log_follow.h"
#include "doctor/observer.h"
#include "http/http.h"
#include "plan/traffic.h"

/** struct to_live_options - address of a page, and time between its updates */
struct to_live_options {
	const char *listen;		/* see struct to_http_config */
	const char *token_file;		/* see to_password_read(); NULL: no password */
	const char *version;		/* version of the program, in the page */
	void (*ready)(const char *url);	/* called once the page is served, or NULL */
	uint64_t interval_ns;		/* time between two looks */
};

/** struct to_live - a page that is served */
struct to_live {
	struct to_live_options options;
	struct to_fabric_options fabric;
	const char *plan;		/* path of the plan */
	const char *log_path;		/* log of a toctl run elsewhere, or NULL */
	char token[TO_PASSWORD_MAX];
	struct to_events *events;
	struct to_http *http;
	struct to_observer observer;
	bool looking;			/* @observer is open */
	struct to_plan *shown;		/* plan that the page was told of */
	struct to_status status[2];	/* this look and the one before, in turns */
	unsigned int looks;		/* number of looks so far */
	char trouble[sizeof(((struct to_error *)NULL)->text)];	/* why the last look failed, or "" */
	struct to_log_follow log;
	pthread_t thread;
	pthread_mutex_t lock;		/* of @stop and @traffic */
	pthread_cond_t wake;		/* signalled when @stop is set */
	bool threaded;			/* @thread runs */
	bool stop;			/* @thread is to end */
	struct to_traffic traffic;	/* counted since the page was last told */
};

/**
 * to_live_open() - serve the page
 * @options: borrowed strings
 * @plan: path of the plan, borrowed
 * @log: path of the log of its toctl run, borrowed, or NULL
 * @fabric: how to reach the agents
 *
 * Return: 0, or a negative errno with @err. Call to_live_close() either way.
 */
int to_live_open(struct to_live *live, const struct to_live_options *options, const char *plan,
		 const char *log, const struct to_fabric_options *fabric, struct to_error *err);

/** to_live_close() - stop looking and serving */
void to_live_close(struct to_live *live);

/**
 * to_live_look() - look at the fabric and update the page
 *
 * Return: 0, or a negative errno with @err, which the page shows, too.
 */
int to_live_look(struct to_live *live, struct to_error *err);

/** to_live_start() - look every interval, in a thread, until to_live_close() */
int to_live_start(struct to_live *live, struct to_error *err);

/** to_live_log() - tell the page a line of toctl run's log; from any thread */
void to_live_log(void *live, const json_t *line);

/** to_live_traffic() - tell the page traffic that was measured; from any thread */
void to_live_traffic(void *live, const struct to_traffic *traffic);

#endif
