// SPDX-License-Identifier: GPL-2.0-or-later
#include "transition.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define POLL_NS 2000000

const char *const to_transition_step_names[] = {
	[TO_TRANSITION_DRAIN] = "drain",
	[TO_TRANSITION_STAGE] = "stage",
	[TO_TRANSITION_SWITCH] = "switch",
	[TO_TRANSITION_CARRIER] = "carrier",
	[TO_TRANSITION_COMMIT] = "commit",
	[TO_TRANSITION_VERIFY] = "verify",
	NULL
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static int ended(const struct to_transition *t, enum to_transition_step step, double start,
		 int ret, const struct to_error *err, const char *note)
{
	if (t->report)
		t->report(t->data, step, now() - start, ret ? err->text : NULL, note);
	return ret;
}

static int interrupted(const struct to_transition *t, struct to_error *err)
{
	return t->stop && *t->stop ? to_error_set(err, -EINTR, "interrupted") : 0;
}

/* Per server, the ports that have a link, bit by index. */
static int check_carrier(const struct to_transition *t, const struct to_plan *plan,
			 struct to_error *err)
{
	const struct to_fabric_server *servers = to_fabric_servers(t->fabric);
	const struct to_cluster *cluster = plan->cluster;

	for (unsigned int l = 0; l < cluster->n_links; l++) {
		const struct to_port_ref ends[] = { cluster->links[l].a, cluster->links[l].b };

		for (unsigned int i = 0; i < 2; i++) {
			const struct to_server *server = &cluster->servers[ends[i].server];

			if (!(servers[ends[i].server].live >> ends[i].port & 1))
				return to_error_set(err, -ENOLINK, "%s:%s has no carrier",
						    server->name,
						    server->ports[ends[i].port].name);
		}
	}
	return 0;
}

static int wait_carrier(const struct to_transition *t, const struct to_plan *plan,
			struct to_error *err)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	double deadline = now() + t->carrier_ns * 1e-9;

	for (;;) {
		int ret = to_fabric_status(t->fabric, err);

		if (!ret)
			ret = check_carrier(t, plan, err);
		if (!ret || now() > deadline)
			return ret;
		nanosleep(&pause, NULL);
	}
}

static int set_switches(const struct to_transition *t, const struct to_plan *plan, bool *moved,
			struct to_error *err)
{
	int ret;

	*moved = false;
	if (!t->switches)
		return 0;
	ret = to_switches_compare(t->switches, plan, err);
	if (!ret && to_switches_differ(t->switches)) {
		*moved = true;
		ret = to_switches_apply(t->switches, err);
	}
	return ret;
}

static int check_switches(const struct to_transition *t, const struct to_plan *plan,
			  struct to_error *err)
{
	int ret;

	if (!t->switches)
		return 0;
	ret = to_switches_compare(t->switches, plan, err);
	if (!ret && to_switches_differ(t->switches))
		ret = to_error_set(err, -EIO,
				   "the optical switches are not as the plan says when read back");
	return ret;
}

static int drain(struct to_transition *t, const struct to_plan *old, const struct to_plan *next,
		 struct to_error *err)
{
	double start = now();
	char note[160];
	int ret;

	to_interim_free(&t->interim);
	ret = to_interim_make(old, next, &t->interim, err);
	if (ret)
		return ended(t, TO_TRANSITION_DRAIN, start, ret, err, NULL);
	if (!t->interim.cut)
		return 0;
	if (!t->interim.plan) {
		snprintf(note, sizeof(note),
			 "left out: the %u links that stay do not reach all servers; traffic waits while %u are dark",
			 t->interim.kept, t->interim.cut);
		return ended(t, TO_TRANSITION_DRAIN, start, 0, err, note);
	}
	snprintf(note, sizeof(note), "%u links are cut, %u stay", t->interim.cut,
		 t->interim.kept);
	ret = to_fabric_stage(t->fabric, t->interim.plan, NULL, err);
	if (!ret)
		ret = to_fabric_commit(t->fabric, err);
	if (!ret)
		ret = to_fabric_confirm(t->fabric, err);
	return ended(t, TO_TRANSITION_DRAIN, start, ret, err, note);
}

static int rewire(const struct to_transition *t, const struct to_plan *next, struct to_error *err)
{
	double start = now();
	bool moved;
	int ret;

	ret = ended(t, TO_TRANSITION_SWITCH, start, set_switches(t, next, &moved, err), err, NULL);
	if (ret)
		return ret;
	start = now();
	return ended(t, TO_TRANSITION_CARRIER, start, wait_carrier(t, next, err), err, NULL);
}

static int verify(const struct to_transition *t, const struct to_plan *next, struct to_error *err)
{
	uint64_t generation;
	int ret = to_fabric_status(t->fabric, err);

	if (!ret)
		ret = to_fabric_generation(t->fabric, &generation, err);
	if (!ret)
		ret = check_carrier(t, next, err);
	if (!ret)
		ret = check_switches(t, next, err);
	return ret;
}

int to_transition_make(struct to_transition *t, const struct to_plan *old,
		       const struct to_plan *next, struct to_error *err)
{
	double start;
	int ret;

	ret = interrupted(t, err);
	if (!ret)
		ret = drain(t, old, next, err);
	if (!ret)
		ret = interrupted(t, err);
	if (ret)
		return ret;
	start = now();
	ret = ended(t, TO_TRANSITION_STAGE, start, to_fabric_stage(t->fabric, next, NULL, err),
		    err, NULL);
	if (!ret)
		ret = interrupted(t, err);
	/* from here on it is sooner finished than undone */
	if (!ret && t->interim.cut)
		ret = rewire(t, next, err);
	if (ret)
		return ret;
	start = now();
	ret = ended(t, TO_TRANSITION_COMMIT, start, to_fabric_commit(t->fabric, err), err, NULL);
	if (ret)
		return ret;
	start = now();
	ret = verify(t, next, err);
	if (!ret)
		ret = to_fabric_confirm(t->fabric, err);
	return ended(t, TO_TRANSITION_VERIFY, start, ret, err, NULL);
}

/* The first failure is the one that is told. */
static int first(int ret, const struct to_error *now, int was, struct to_error *err)
{
	if (!ret || was)
		return was;
	*err = *now;
	return ret;
}

int to_transition_restore(struct to_transition *t, const struct to_plan *from,
			  const struct to_plan *plan, bool *changed, struct to_error *err)
{
	bool differs = false, moved;
	struct to_error why = { 0 };
	int ret, staged;

	/* Neither is open after most failures; what matters is what comes then. */
	to_fabric_revert(t->fabric, &why);
	to_fabric_abort(t->fabric, &why);
	to_fabric_status(t->fabric, &why);
	if (from)
		drain(t, from, plan, &why);
	staged = to_fabric_stage(t->fabric, plan, &differs, &why);
	ret = first(staged, &why, 0, err);
	/* Also when a server does not answer: others need their links. */
	ret = first(set_switches(t, plan, &moved, &why), &why, ret, err);
	if (moved && !ret)
		ret = first(wait_carrier(t, plan, &why), &why, ret, err);
	if (!staged && differs) {
		staged = to_fabric_commit(t->fabric, &why);
		if (!staged)
			staged = to_fabric_confirm(t->fabric, &why);
		ret = first(staged, &why, ret, err);
	} else if (!staged) {
		ret = first(to_fabric_abort(t->fabric, &why), &why, ret, err);
	}
	if (changed)
		*changed = differs || moved;
	return ret;
}

int to_transition_at(struct to_transition *t, const struct to_plan *plan, struct to_error *err)
{
	bool differs;
	int ret;

	if (t->switches) {
		ret = to_switches_compare(t->switches, plan, err);
		if (ret || to_switches_differ(t->switches))
			return ret;
	}
	ret = to_fabric_stage(t->fabric, plan, &differs, err);
	if (!ret)
		ret = to_fabric_abort(t->fabric, err);
	return ret ? ret : !differs;
}

void to_transition_free(struct to_transition *t)
{
	to_interim_free(&t->interim);
}
