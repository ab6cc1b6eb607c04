// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/apply_server.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "kernel/device_lock.h"

/*
 * XDP only makes an active plan faster, so a port that has to do without is no failure. One that
 * cannot be rid of it is.
 */
static int apply_xdp(const struct to_apply_job *job, const struct to_interfaces *found,
		     struct to_applied_server *result, struct to_error *err)
{
	const struct to_server *self = &job->plan->cluster->servers[job->server];
	struct to_xdp_port *ports = result->ports;
	int ret = 0;

	result->n_ports = self->n_ports;
	for (unsigned int p = 0; p < self->n_ports; p++) {
		ports[p].ifindex = found->port[p];
		ports[p].transmit = found->transmit[p];
		snprintf(ports[p].name, IFNAMSIZ, "%s", self->ports[p].name);
		if_indextoname(ports[p].transmit, ports[p].transmit_name);
	}
	if (job->xdp == TO_XDP_OFF)
		ret = to_xdp_detach(found->device, ports, self->n_ports, err);
	else if (!to_xdp_attach(found->device, ports, self->n_ports, job->xdp, &result->xdp))
		result->xdp.text[0] = '\0';
	for (unsigned int p = 0; p < self->n_ports; p++)
		ports[p].path = to_xdp_path(ports[p].ifindex);
	return ret;
}

static int apply_change(const struct to_apply_job *job, struct to_apply *apply,
			struct to_applied_server *result, struct to_error *err)
{
	const uint64_t base = to_apply_current(apply)->generation;
	const bool stage = job->part == TO_APPLY_STAGE;
	int ret = 0;

	result->table = job->part != TO_APPLY_ALL || to_apply_table_differs(apply);
	if (job->part == TO_APPLY_COMMIT) {
		ret = to_apply_check_stage(apply, err);
	} else {
		ret = to_apply_links(apply, err);
		if (!ret && result->table)
			ret = to_apply_stage(apply, stage, err);
	}
	result->changed = true;
	result->staged = stage;
	result->generation = base;
	if (ret || stage)
		return ret;
	result->generation = 0;
	return to_apply_commit(apply, result->table, base, &result->generation, err);
}

/* Undo the change unless it is confirmed. */
static int apply_confirm(const struct to_apply_job *job, struct to_apply *apply,
			 const struct to_applied_server *result, int *lock, struct to_error *err)
{
	uint64_t generation = 0;
	char what[64];
	int ret;

	snprintf(what, sizeof(what), "%s: generation %llu is active", job->device,
		 (unsigned long long)result->generation);
	/* Others may change the device meanwhile; a table of theirs is not reverted. */
	close(*lock);
	*lock = -1;
	if (to_confirm_wait(job->confirm, what))
		return 0;
	*lock = to_device_lock_take("toctl", job->device, TO_DEVICE_LOCK_WAIT_S, err);
	if (*lock < 0)
		return *lock;
	ret = to_apply_revert(apply, result->generation, &generation, err);
	if (ret)
		return ret;
	return to_error_set(err, -ECANCELED, generation ?
			    "%s: not confirmed: went back, as generation %llu" :
			    "%s: not confirmed: went back to no plan", job->device,
			    (unsigned long long)generation);
}

static int apply_open(const struct to_apply_job *job, bool full, struct to_apply **apply,
		      struct to_error *err)
{
	uint64_t active;

	*apply = to_apply_open(job->plan, job->server, job->device, full, NULL, err);
	if (!*apply)
		return -EIO;
	active = to_apply_current(*apply)->generation;
	if (job->base == TO_APPLY_ANY_GENERATION || job->base == active)
		return 0;
	to_apply_close(*apply);
	return to_error_set(err, -ESTALE, "%s: stale generation: the active one is %llu, not %llu",
			    job->device, (unsigned long long)active, (unsigned long long)job->base);
}

static int apply_locked(const struct to_apply_job *job, struct to_applied_server *result, int *lock,
			struct to_error *err)
{
	const uint64_t start = to_clock_monotonic_ns();
	struct to_apply *apply;
	int ret = apply_open(job, job->confirm, &apply, err);

	if (ret)
		return ret;
	if (job->part == TO_APPLY_ALL && !to_apply_differs(apply)) {
		result->generation = to_apply_current(apply)->generation;
	} else {
		ret = apply_change(job, apply, result, err);
		result->seconds = to_clock_seconds_since(start);
		if (!ret && job->confirm)
			ret = apply_confirm(job, apply, result, lock, err);
	}
	if (!ret && job->xdp != TO_XDP_KEEP)
		ret = apply_xdp(job, to_apply_interfaces(apply), result, err);
	result->counts = to_apply_count(apply);
	result->unchecked = to_apply_is_unchecked(apply);
	to_apply_close(apply);
	return ret;
}

int to_apply_server(const struct to_apply_job *job, struct to_applied_server *result,
		    struct to_error *err)
{
	int lock = to_device_lock_take("toctl", job->device, TO_DEVICE_LOCK_WAIT_S, err), ret;

	*result = (struct to_applied_server){};
	if (lock < 0)
		return lock;
	ret = apply_locked(job, result, &lock, err);
	if (lock >= 0)
		close(lock);
	return ret;
}

int to_apply_compare(const struct to_apply_job *job, bool *differs, to_diff_line line, void *arg,
		     struct to_error *err)
{
	struct to_apply *apply;
	int ret = apply_open(job, true, &apply, err);

	if (ret)
		return ret;
	*differs = to_apply_differs(apply);
	ret = to_apply_print(apply, line, arg, err);
	to_apply_close(apply);
	return ret;
}

static int apply_abort(const char *device, struct to_device *state, struct to_error *err)
{
	const uint32_t ifindex = if_nametoindex(device);
	struct to_genl genl;
	int ret;

	if (!ifindex)
		return to_error_set(err, -ENODEV, "there is no device %s", device);
	ret = to_genl_open(&genl, err);
	if (ret)
		return ret;
	ret = to_genl_device(&genl, ifindex, state, err);
	if (!ret && !state->staged)
		ret = to_error_set(err, -ENOENT, "%s has no stage", device);
	if (!ret)
		ret = to_genl_abort(&genl, ifindex, err);
	to_genl_close(&genl);
	return ret;
}

int to_apply_drop_stage(const char *device, struct to_device *state, struct to_error *err)
{
	int lock = to_device_lock_take("toctl", device, TO_DEVICE_LOCK_WAIT_S, err), ret;

	if (lock < 0)
		return lock;
	ret = apply_abort(device, state, err);
	close(lock);
	return ret;
}
