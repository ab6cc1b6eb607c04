/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLY_SERVER_H
#define TOPOOPT_APPLY_SERVER_H

/* Applies a plan to this server's kernel, in one step or in two. */

#include "control/confirm.h"
#include "kernel/apply.h"
#include "kernel/xdp.h"

#define TO_APPLY_ANY_GENERATION UINT64_MAX

/** enum to_apply_part - which part of a change is done */
enum to_apply_part {
	TO_APPLY_ALL,		/* stage and commit */
	TO_APPLY_STAGE,		/* set up links and stage the table */
	TO_APPLY_COMMIT,	/* commit a stage that is there */
};

/** struct to_apply_job - what is applied, and how */
struct to_apply_job {
	const struct to_plan *plan;
	unsigned int server;		/* index of this server in the plan */
	const char *device;		/* name of the topoopt device */
	enum to_apply_part part;
	uint64_t base;			/* generation that must be active, or TO_APPLY_ANY_GENERATION */
	enum to_xdp_mode xdp;		/* TO_XDP_KEEP leaves XDP programs as they are */
	const struct to_confirm *confirm;	/* undo unless confirmed; NULL: the change stays */
};

/** struct to_applied_server - what to_apply_server() has done */
struct to_applied_server {
	uint64_t generation;		/* active one; of a stage: the one that it replaces */
	bool changed;			/* something was staged or committed */
	bool staged;			/* only staged */
	bool unchecked;			/* the module has no continuity checks, so the table has none */
	bool table;			/* the table was staged or committed, not only entries */
	double seconds;			/* time that the change took */
	struct to_apply_counts counts;	/* sizes of the plan's table and of the difference */
	unsigned int n_ports;		/* ports of @ports; 0 with TO_XDP_KEEP */
	struct to_xdp_port ports[TO_PORTS_MAX];	/* where each relays, and why not at XDP */
	struct to_error xdp;		/* why no port relays at XDP, or "" */
};

/**
 * to_apply_server() - bring this server's kernel to its part of a plan, all or nothing
 * @result: filled in on success
 *
 * Keeps other toctl processes from the device. Ports that have to relay without XDP are
 * no failure.
 *
 * Return: 0; -ESTALE with @err: another generation than @job->base is active; -ECANCELED
 * with @err: not confirmed, the kernel is as it was; another negative errno with @err.
 */
int to_apply_server(const struct to_apply_job *job, struct to_applied_server *result,
		    struct to_error *err);

/**
 * to_apply_compare() - tell what to_apply_server() would change
 * @differs: set if there is anything to change
 * @line: called for each change
 *
 * Return: 0; -ESTALE as to_apply_server(); another negative errno with @err.
 */
int to_apply_compare(const struct to_apply_job *job, bool *differs, to_diff_line line, void *arg,
		     struct to_error *err);

/**
 * to_apply_drop_stage() - drop the stage of a device
 * @state: gets the device as it was before
 *
 * Return: 0; -ENOENT with @err if it has no stage; another negative errno with @err.
 */
int to_apply_drop_stage(const char *device, struct to_device *state, struct to_error *err);

#endif
