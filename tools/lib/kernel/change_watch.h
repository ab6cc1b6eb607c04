/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_CHANGE_WATCH_H
#define TOPOOPT_CHANGE_WATCH_H

/* Hears that this server's kernel has changed: by rtnetlink, and by a topoopt device. */

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/genl.h"

/** enum to_watch_kind - what a change is of */
enum to_watch_kind {
	TO_WATCH_LINK,
	TO_WATCH_ADDRESS,
	TO_WATCH_NEIGHBOUR,
	TO_WATCH_ROUTE,
	TO_WATCH_RULE,
	TO_WATCH_PORT,		/* light or a peer of a port of a topoopt device */
	TO_WATCH_TABLE,		/* a topoopt device has another table */
	TO_WATCH_LOST,		/* anything: events were lost */
};

/** struct to_watch_event - one event */
struct to_watch_event {
	enum to_watch_kind kind;
	uint32_t ifindex;	/* of a link, an address or a neighbour, else 0 */
	bool down;		/* a link that is not up, or is no more */
};

/** struct to_change_watch - sockets that hear changes; zeroed: none is open */
struct to_change_watch {
	struct mnl_socket *route;	/* rtnetlink */
	struct to_genl genl;		/* events of topoopt devices */
	uint32_t device;		/* ifindex of the device that @genl was opened for, 0: not open */
};

/** to_change_watch_open() - hear rtnetlink from now on; returns 0 or a negative errno */
int to_change_watch_open(struct to_change_watch *watch, struct to_error *err);
void to_change_watch_close(struct to_change_watch *watch);

/**
 * to_change_watch_device() - hear the events of topoopt devices, too
 * @device: ifindex of a device, 0: there is none. Another one may be of a module that was
 *	loaded anew, whose events need another socket
 */
int to_change_watch_device(struct to_change_watch *watch, uint32_t device, struct to_error *err);

/** to_change_watch_polls() - set what poll() waits for; returns how many of the two are set */
unsigned int to_change_watch_polls(const struct to_change_watch *watch, struct pollfd polls[2]);

/**
 * to_change_watch_read() - tell all that happened since the last call
 * @change: called for each event
 *
 * Does not wait.
 */
void to_change_watch_read(struct to_change_watch *watch,
			  void (*change)(const struct to_watch_event *change, void *arg),
			  void *arg);

#endif
