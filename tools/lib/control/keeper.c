// SPDX-License-Identifier: GPL-2.0-or-later
#include "control/keeper.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/applied.h"
#include "control/removals.h"
#include "format/plan_json.h"
#include "kernel/apply.h"
#include "kernel/change_watch.h"
#include "kernel/device_lock.h"
#include "kernel/route_conflicts.h"

#define KEEPER_NS_PER_MS 1000000ull
#define KEEPER_DELAY_NS (20 * KEEPER_NS_PER_MS)		/* for further events of one change */
#define KEEPER_REST 9u		/* rest after a look, as a multiple of its time: a tenth of a processor */
#define KEEPER_REST_MAX_NS (500 * KEEPER_NS_PER_MS)
#define KEEPER_BUSY_NS (200 * KEEPER_NS_PER_MS)		/* until a locked device is looked at again */
#define KEEPER_RETRY_NS TO_NS_PER_S			/* after a refusal, doubled with each */
#define KEEPER_RETRY_MAX_NS (32 * TO_NS_PER_S)
#define KEEPER_TELL_NS (20 * KEEPER_NS_PER_MS)		/* between two calls of @changed */
#define KEEPER_FIRST_NS (2 * TO_NS_PER_S)		/* that a look may wait for the first one */
#define KEEPER_LISTED 8u	/* deviations of one kind that are named */
#define KEEPER_NAMED 3u		/* restored things that are named */

/** struct keeper_plan - a plan whose table may be the active one */
struct keeper_plan {
	struct to_plan *plan;	/* held, NULL: none */
	unsigned int server;
};

/** struct to_keeper - see keeper.h */
struct to_keeper {
	struct to_keeper_config config;
	pthread_t thread;
	int wake;			/* eventfd */
	pthread_mutex_t lock;		/* of the next block */

	struct keeper_plan given, shown;
	uint64_t taken;			/* number of plans that were given or shown */
	uint64_t looked;		/* @taken at the last look, plus 1; 0: there was none */
	uint64_t awaited;		/* what @looked is to be for to_keeper_wait() */
	bool paused, stop;
	pthread_cond_t first;		/* signalled when @looked changes */
	uint64_t restored;
	json_t *deviations;

	/* the thread's own */
	struct to_change_watch watch;
	struct to_apply_kept kept;
	struct to_removals removals;
	struct keeper_plan active;	/* that the active table is of */
	bool restores;			/* what was made of it */
	uint64_t compared;		/* @taken when the active table was looked up */
	uint64_t generation;		/* of that table, 0: not looked up */
	uint32_t device;		/* its ifindex, 0: there was none */
	struct to_applied_file applied;
	struct keeper_plan applied_plan;
	uint32_t own[2 * TO_PORTS_MAX + 1];	/* interfaces of the plan */
	unsigned int n_own;
	uint32_t *excused;		/* interfaces that were down since the last look */
	unsigned int n_excused;
	bool excuse_all;		/* anything may have been lost for long */
	bool changed;			/* to be told */
	uint64_t due_ns;		/* of the next look, UINT64_MAX: none is due */
	uint64_t rest_ns;		/* the next look is not before */
	uint64_t tell_ns;		/* nor is the next call of @changed */
	uint64_t retry_ns;		/* from a refusal to the next attempt */
};

/* ---- deviations ---- */

static json_t *keeper_deviate(json_t *list, const char *kind, bool fault, const char *port,
			      const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

/* Return: the new deviation, borrowed. */
static json_t *keeper_deviate(json_t *list, const char *kind, bool fault, const char *port,
			      const char *fix, const char *fmt, ...)
{
	char text[256];
	json_t *one;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	one = json_pack("{s:s, s:b, s:s*, s:s, s:s*}", "kind", kind, "fault", fault, "port", port,
			"text", text, "fix", fix && fix[0] ? fix : NULL);
	json_array_append_new(list, one);
	return one;
}

/* @restores: what is lost with a port that is down comes back by itself */
static void keeper_add_ports(const struct to_upkeep *u, const struct to_server *self,
			     bool restores, json_t *list)
{
	for (unsigned int p = 0; p < self->n_ports; p++) {
		const char *port = self->ports[p].name;
		const struct to_nic *nic = to_rtnl_nic_find(u->found.nics, u->found.n_nics, port);
		const uint32_t ends[] = { u->found.port[p], u->found.transmit[p] };
		char fix[64], mac[18];
		json_t *one;

		if (u->missing[p]) {
			one = keeper_deviate(list, u->missing[p] == -ENODEV ? "port-missing" :
						   u->missing[p] == -EBUSY ? "port-taken" :
						   "port-mac", true, port, NULL, "%s", u->why[p].text);
			if (!nic || u->missing[p] != -EINVAL)
				continue;
			snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", nic->mac[0],
				 nic->mac[1], nic->mac[2], nic->mac[3], nic->mac[4], nic->mac[5]);
			json_object_set_new(one, "mac", json_string(mac));
			continue;
		}
		for (unsigned int i = 0; i < 1 + (ends[0] != ends[1]); i++) {
			nic = to_rtnl_nic_by_index(u->found.nics, u->found.n_nics, ends[i]);
			if (!nic || !to_upkeep_is_down(u, ends[i]))
				continue;
			snprintf(fix, sizeof(fix), "ip link set %s up", nic->name);
			keeper_deviate(list, "port-down", true, port, fix,
				       "somebody set %s down%s", nic->name, !restores ? "" :
				       ": it stays down, and what apply made on it comes back with it");
		}
	}
}

/* Whether the device is down, and stays so. */
static bool keeper_leaves_down(const struct to_upkeep *u)
{
	for (unsigned int i = 0; i < u->n_lost; i++)
		if (u->lost[i].kind == TO_LOST_UP && !u->lost[i].restore)
			return true;
	return false;
}

/* The kernel removes routes and neighbours with the address that they need: it, or NULL. */
static const struct to_lost *keeper_needs(const struct to_upkeep *u, const struct to_lost *lost)
{
	const struct to_entry *entry = &lost->change.entry;

	if (lost->kind != TO_LOST_ENTRY || entry->kind == TO_ENTRY_ADDRESS ||
	    entry->kind == TO_ENTRY_RULE)
		return NULL;
	for (unsigned int i = 0; i < u->n_lost; i++) {
		const struct to_entry *other = &u->lost[i].change.entry;

		if (u->lost[i].kind != TO_LOST_ENTRY)
			continue;
		if (other->kind != TO_ENTRY_ADDRESS)
			return NULL;
		if (other->family == entry->family && u->lost[i].ifindex == lost->ifindex)
			return &u->lost[i];
	}
	return NULL;
}

/* What is due with the device or an address that is left alone. */
static bool keeper_waits(const struct to_upkeep *u, const struct to_lost *lost)
{
	const struct to_lost *address = keeper_needs(u, lost);

	return (address && !address->restore) ||
	       (lost->kind == TO_LOST_ENTRY && lost->ifindex == u->found.device &&
		keeper_leaves_down(u));
}

static void keeper_add_lost(const struct to_upkeep *u, const struct to_error *refusal, json_t *list)
{
	unsigned int n_left = 0;
	bool refused = false;
	char text[192];

	for (unsigned int i = 0; i < u->n_lost; i++) {
		const struct to_lost *lost = &u->lost[i];

		refused |= lost->restore && !lost->restored;
		if (lost->restore || keeper_waits(u, lost) || n_left++ >= KEEPER_LISTED)
			continue;
		to_upkeep_text(u, lost, text, sizeof(text));
		keeper_deviate(list, "left-alone", true, NULL, "toctl apply PLAN",
			       "removed three times within a minute, so left alone: %s", text);
	}
	if (n_left > KEEPER_LISTED)
		keeper_deviate(list, "left-alone", true, NULL, "toctl apply PLAN",
			       "%u more were removed three times within a minute", n_left - KEEPER_LISTED);
	if (refused)
		keeper_deviate(list, "refused", true, NULL, "toctl doctor PLAN", "not restored: %s",
			       refusal->text);
}

/* A device that is down is told as such, with what waits for it. */
static void keeper_add_unrestored(const struct to_upkeep *u, json_t *list)
{
	unsigned int n = 0;
	char text[192];

	for (unsigned int i = 0; i < u->n_lost; i++)
		if (u->lost[i].kind != TO_LOST_UP && !keeper_waits(u, &u->lost[i]) && !n++)
			to_upkeep_text(u, &u->lost[i], text, sizeof(text));
	if (n > 1)
		keeper_deviate(list, "lost", true, NULL, "toctl apply PLAN",
			       "somebody removed: %s, and %u more", text, n - 1);
	else if (n)
		keeper_deviate(list, "lost", true, NULL, "toctl apply PLAN",
			       "somebody removed: %s", text);
}

static void keeper_add_conflicts(struct to_keeper *k, const struct to_upkeep *u, json_t *list)
{
	struct to_route_conflicts conflicts;

	if (to_route_conflicts_find(&k->kept.rt, k->active.plan, k->active.server, &u->found,
				    &u->entries, &conflicts, NULL))
		return;
	if (conflicts.n > KEEPER_LISTED) {
		conflicts.more += conflicts.n - KEEPER_LISTED;
		conflicts.n = KEEPER_LISTED;
	}
	for (unsigned int i = 0; i < conflicts.n; i++) {
		const struct to_route_conflict *c = &conflicts.items[i];

		if (c->n > 1)
			keeper_deviate(list, "conflict", true, NULL, c->fix,
				       "%s and %u more: %s", c->subject, c->n - 1, c->text);
		else
			keeper_deviate(list, "conflict", true, NULL, c->fix, "%s: %s",
				       c->subject, c->text);
	}
	if (conflicts.more)
		keeper_deviate(list, "conflict", true, NULL, "toctl doctor PLAN names them",
			       "%u more routes of others win over the plan's", conflicts.more);
}

static bool keeper_lists(const json_t *list, const json_t *deviation)
{
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (json_equal(one, deviation))
			return true;
	return false;
}

/* Takes @list over. What is new in it is noted. */
static void keeper_publish(struct to_keeper *k, json_t *list)
{
	json_t *old, *one;
	size_t i;

	pthread_mutex_lock(&k->lock);
	old = k->deviations;
	k->deviations = list;
	pthread_mutex_unlock(&k->lock);
	k->changed |= !json_equal(old, list);
	json_array_foreach(list, i, one)
		if (!keeper_lists(old, one))
			k->config.note(json_string_value(json_object_get(one, "text")));
	json_decref(old);
}

/* ---- which plan ---- */

static void keeper_drop(struct keeper_plan *p)
{
	to_plan_free(p->plan);
	*p = (struct keeper_plan){};
}

static bool keeper_is_paused(struct to_keeper *k)
{
	bool paused;

	pthread_mutex_lock(&k->lock);
	paused = k->paused;
	pthread_mutex_unlock(&k->lock);
	return paused;
}

/* Return @plan held, if it is any. @k->lock protects those that the agent sets. */
static struct keeper_plan keeper_hold(struct to_keeper *k, const struct keeper_plan *plan)
{
	struct keeper_plan held;

	pthread_mutex_lock(&k->lock);
	held = *plan;
	held.plan = held.plan ? to_plan_hold(held.plan) : NULL;
	pthread_mutex_unlock(&k->lock);
	return held;
}

/* Load what toctl apply made active last, unless it is loaded. */
static void keeper_load_applied(struct to_keeper *k)
{
	struct to_applied_file latest;
	char host[256] = "";
	int server;

	to_applied_latest(&latest);
	if (!memcmp(&latest.written, &k->applied.written, sizeof(latest.written)))
		return;
	k->applied = latest;
	keeper_drop(&k->applied_plan);
	k->applied_plan.plan = to_plan_load_shared(latest.path, NULL);
	gethostname(host, sizeof(host) - 1);
	server = k->applied_plan.plan ?
		 to_cluster_find_host(k->applied_plan.plan->cluster,
				      k->config.node ? k->config.node : host) : -1;
	if (server < 0)
		keeper_drop(&k->applied_plan);
	else
		k->applied_plan.server = server;
}

/* Take @p up if the active table is its, else drop it. Return: whether it was. */
static bool keeper_take_up(struct to_keeper *k, struct keeper_plan *p, bool restores)
{
	struct to_apply *apply;
	bool matches;

	if (!p->plan)
		return false;
	apply = to_apply_open(p->plan, p->server, k->config.device, true, &k->kept, NULL);
	matches = apply && !to_apply_routes_differ(apply) &&
		  to_apply_current(apply)->generation == k->generation;
	to_apply_close(apply);
	if (!matches) {
		keeper_drop(p);
		return false;
	}
	k->active = *p;
	k->restores = restores;
	return true;
}

/* Find the plan that the active table is of. */
static void keeper_look_up(struct to_keeper *k)
{
	struct keeper_plan plan;

	keeper_drop(&k->active);
	if (!k->generation)
		return;
	plan = keeper_hold(k, &k->given);
	if (keeper_take_up(k, &plan, true))
		return;
	plan = keeper_hold(k, &k->shown);
	if (keeper_take_up(k, &plan, false))
		return;
	keeper_load_applied(k);
	plan = keeper_hold(k, &k->applied_plan);
	keeper_take_up(k, &plan, k->config.applied);
}

/* Read which table is active. Return: 0, or a negative errno: the device cannot be read. */
static int keeper_read_device(struct to_keeper *k, uint32_t *ifindex, uint64_t *generation)
{
	struct to_device device = {};
	int ret = 0;

	*ifindex = if_nametoindex(k->config.device);
	if (*ifindex) {
		ret = to_apply_kept_device(&k->kept, *ifindex, NULL);
		ret = ret ? ret : to_genl_device(&k->kept.genl, *ifindex, &device, NULL);
	}
	/* toctl clear leaves an empty table where it leaves the device */
	*generation = device.routes ? device.generation : 0;
	return ret;
}

/* Return: 0, or a negative errno: look again later. */
static int keeper_find_plan(struct to_keeper *k)
{
	uint64_t generation, taken;
	uint32_t device;
	int ret = keeper_read_device(k, &device, &generation);

	ret = ret ? ret : to_change_watch_device(&k->watch, device, NULL);
	if (ret)
		return ret;
	pthread_mutex_lock(&k->lock);
	taken = k->taken;
	pthread_mutex_unlock(&k->lock);
	if (device == k->device && generation == k->generation && taken == k->compared)
		return 0;
	k->changed |= device != k->device || generation != k->generation;
	k->device = device;
	k->generation = generation;
	k->compared = taken;
	keeper_look_up(k);
	return 0;
}

/* There was a plan, and there is no table: whoever has the plan can give it. */
static void keeper_add_no_table(struct to_keeper *k, json_t *list)
{
	struct keeper_plan given = keeper_hold(k, &k->given);
	const char *job = given.plan ? given.plan->demand->name : NULL;
	json_t *one;

	if (!job) {
		keeper_load_applied(k);
		job = k->applied_plan.plan ? k->applied_plan.plan->demand->name : NULL;
	}
	if (job) {
		one = keeper_deviate(list, "no-table", true, NULL, "toctl apply PLAN",
				     "no table; the plan of job \"%s\" was active here", job);
		json_object_set_new(one, "job", json_string(job));
	}
	keeper_drop(&given);
}

/* ---- looks ---- */

static void keeper_schedule(struct to_keeper *k, uint64_t delay_ns)
{
	uint64_t due = to_clock_monotonic_ns() + delay_ns;

	due = due < k->rest_ns ? k->rest_ns : due;
	k->due_ns = due < k->due_ns ? due : k->due_ns;
}

static bool keeper_owns(const struct to_keeper *k, uint32_t ifindex)
{
	for (unsigned int i = 0; i < k->n_own; i++)
		if (k->own[i] == ifindex)
			return true;
	return false;
}

static bool keeper_excuses(const struct to_keeper *k, uint32_t ifindex)
{
	for (unsigned int i = 0; i < k->n_excused; i++)
		if (k->excused[i] == ifindex)
			return true;
	return k->excuse_all;
}

/* What is lost while its interface is down was not removed by itself. */
static void keeper_excuse(struct to_keeper *k, uint32_t ifindex)
{
	uint32_t *excused;

	if (keeper_excuses(k, ifindex) || !keeper_owns(k, ifindex))
		return;
	excused = realloc(k->excused, (k->n_excused + 1) * sizeof(*excused));
	if (!excused)
		return;
	k->excused = excused;
	excused[k->n_excused++] = ifindex;
}

static void keeper_hear(const struct to_watch_event *event, void *arg)
{
	struct to_keeper *k = arg;

	switch (event->kind) {
	case TO_WATCH_PORT:
		k->changed = true;
		return;
	case TO_WATCH_ADDRESS:
	case TO_WATCH_NEIGHBOUR:
		if (!keeper_owns(k, event->ifindex))
			return;
		break;
	case TO_WATCH_LINK:
		if (event->down)
			keeper_excuse(k, event->ifindex);
		break;
	case TO_WATCH_LOST:
		k->excuse_all = k->changed = true;
		break;
	case TO_WATCH_ROUTE:
	case TO_WATCH_RULE:
	case TO_WATCH_TABLE:
		break;
	}
	keeper_schedule(k, KEEPER_DELAY_NS);
}

static void keeper_note_own(struct to_keeper *k, const struct to_upkeep *u, unsigned int n_ports)
{
	k->n_own = 0;
	k->own[k->n_own++] = u->found.device;
	for (unsigned int p = 0; p < n_ports; p++) {
		k->own[k->n_own++] = u->found.port[p];
		k->own[k->n_own++] = u->found.transmit[p];
	}
}

/* An interface that is still down may lose more before it is up. */
static void keeper_end_excuses(struct to_keeper *k, const struct to_upkeep *u)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < k->n_excused; i++)
		if (to_upkeep_is_down(u, k->excused[i]) ||
		    (k->excused[i] == u->found.device && keeper_leaves_down(u)))
			k->excused[n++] = k->excused[i];
	k->n_excused = n;
	k->excuse_all = false;
}

static void keeper_note_restored(struct to_keeper *k, const struct to_upkeep *u)
{
	char text[700] = "restored: ", one[192];
	size_t len = strlen(text);
	unsigned int n = 0;

	for (unsigned int i = 0; i < u->n_lost; i++) {
		if (!u->lost[i].restored || n++ >= KEEPER_NAMED)
			continue;
		to_upkeep_text(u, &u->lost[i], one, sizeof(one));
		len += snprintf(text + len, sizeof(text) - len, "%s%s", n > 1 ? ", " : "", one);
	}
	if (n > KEEPER_NAMED)
		snprintf(text + len, sizeof(text) - len, ", and %u more", n - KEEPER_NAMED);
	if (!n)
		return;
	k->config.note(text);
	pthread_mutex_lock(&k->lock);
	k->restored++;
	pthread_mutex_unlock(&k->lock);
}

/* With the device locked: restore what is lost, but for what is left alone. */
static void keeper_restore(struct to_keeper *k, struct to_upkeep *u, struct to_error *refusal)
{
	const uint64_t now = to_clock_monotonic_ns();
	bool refused = false;

	to_change_watch_read(&k->watch, keeper_hear, k);
	for (unsigned int i = 0; i < u->n_lost; i++) {
		struct to_lost *lost = &u->lost[i];
		const bool excused = lost->kind == TO_LOST_ENTRY ?
				     keeper_needs(u, lost) || keeper_excuses(k, lost->ifindex) :
				     k->excuse_all;

		if (!keeper_waits(u, lost))
			lost->restore = to_removals_note(&k->removals, lost, excused, now);
	}
	to_upkeep_restore(u, &k->kept, refusal);
	for (unsigned int i = 0; i < u->n_lost; i++) {
		if (u->lost[i].restored)
			to_removals_restored(&k->removals, &u->lost[i]);
		refused |= u->lost[i].restore && !u->lost[i].restored;
	}
	keeper_note_restored(k, u);
	k->retry_ns = !refused ? KEEPER_RETRY_NS :
		      2 * k->retry_ns < KEEPER_RETRY_MAX_NS ? 2 * k->retry_ns : KEEPER_RETRY_MAX_NS;
	if (refused)
		keeper_schedule(k, k->retry_ns);
}

/* Look again with the device locked, and restore. Return: as keeper_keep(). */
static int keeper_restore_locked(struct to_keeper *k, struct to_upkeep *u, struct to_error *refusal)
{
	int lock = to_device_lock_take("toctl", k->config.device, 0, NULL), ret;
	uint64_t generation;
	uint32_t device;

	if (lock < 0)
		return lock;
	ret = keeper_read_device(k, &device, &generation);
	if (!ret && (device != k->device || generation != k->generation || keeper_is_paused(k)))
		ret = -ESTALE;
	if (!ret) {
		to_upkeep_close(u);
		ret = to_upkeep_look(u, k->active.plan, k->active.server, k->config.device,
				     &k->kept, NULL);
	}
	if (!ret)
		keeper_restore(k, u, refusal);
	close(lock);
	return ret;
}

/* Keep what apply made. Return: 0, or a negative errno: look again later. */
static int keeper_keep(struct to_keeper *k, json_t *list)
{
	const struct to_server *self = &k->active.plan->cluster->servers[k->active.server];
	struct to_error refusal = {};
	struct to_upkeep u;
	int ret = to_upkeep_look(&u, k->active.plan, k->active.server, k->config.device, &k->kept,
				 NULL);

	if (!ret)
		keeper_note_own(k, &u, self->n_ports);
	if (!ret && u.n_lost && k->restores)
		ret = keeper_restore_locked(k, &u, &refusal);
	if (!ret) {
		to_removals_end(&k->removals, to_clock_monotonic_ns());
		keeper_end_excuses(k, &u);
		keeper_add_ports(&u, self, k->restores, list);
		if (k->restores)
			keeper_add_lost(&u, &refusal, list);
		else
			keeper_add_unrestored(&u, list);
		keeper_add_conflicts(k, &u, list);
	}
	to_upkeep_close(&u);
	return ret;
}

static void keeper_look(struct to_keeper *k)
{
	const uint64_t since = to_clock_monotonic_ns();
	json_t *list = json_array();
	uint64_t rest, taken;
	int ret = 0;

	pthread_mutex_lock(&k->lock);
	taken = k->taken;
	pthread_mutex_unlock(&k->lock);
	k->due_ns = UINT64_MAX;
	if (!keeper_is_paused(k)) {
		ret = keeper_find_plan(k);
		if (!ret && k->active.plan)
			ret = keeper_keep(k, list);
		else if (!ret && !k->generation)
			keeper_add_no_table(k, list);
	} else {
		ret = -EBUSY;
	}
	if (ret)
		json_decref(list);
	else
		keeper_publish(k, list);
	pthread_mutex_lock(&k->lock);
	k->looked = taken + 1;
	pthread_cond_broadcast(&k->first);
	pthread_mutex_unlock(&k->lock);
	rest = KEEPER_REST * (to_clock_monotonic_ns() - since);
	k->rest_ns = to_clock_monotonic_ns() + (rest < KEEPER_REST_MAX_NS ? rest : KEEPER_REST_MAX_NS);
	/* to_keeper_take() ends a pause */
	if (ret && !keeper_is_paused(k))
		keeper_schedule(k, KEEPER_BUSY_NS);
}

/* ---- the thread ---- */

static void keeper_wait(struct to_keeper *k)
{
	const uint64_t now = to_clock_monotonic_ns();
	uint64_t until = k->due_ns, woken;
	struct pollfd polls[3] = { { .fd = k->wake, .events = POLLIN } };
	unsigned int n = 1 + to_change_watch_polls(&k->watch, polls + 1);

	if (k->changed && k->tell_ns < until)
		until = k->tell_ns;
	poll(polls, n, until == UINT64_MAX ? -1 : until <= now ? 0 :
	     (int)((until - now) / KEEPER_NS_PER_MS + 1));
	if (polls[0].revents && read(k->wake, &woken, sizeof(woken)) > 0)
		keeper_schedule(k, 0);
}

static bool keeper_is_stopped(struct to_keeper *k)
{
	bool stop;

	pthread_mutex_lock(&k->lock);
	stop = k->stop;
	pthread_mutex_unlock(&k->lock);
	return stop;
}

static void *keeper_run(void *arg)
{
	struct to_keeper *k = arg;

	while (!keeper_is_stopped(k)) {
		keeper_wait(k);
		to_change_watch_read(&k->watch, keeper_hear, k);
		if (k->due_ns <= to_clock_monotonic_ns())
			keeper_look(k);
		if (!k->changed || k->tell_ns > to_clock_monotonic_ns())
			continue;
		k->changed = false;
		k->tell_ns = to_clock_monotonic_ns() + KEEPER_TELL_NS;
		if (k->config.changed)
			k->config.changed(k, k->config.arg);
	}
	return NULL;
}

static void keeper_free(struct to_keeper *k)
{
	if (k->wake >= 0)
		close(k->wake);
	to_change_watch_close(&k->watch);
	to_apply_kept_close(&k->kept);
	to_removals_free(&k->removals);
	keeper_drop(&k->given);
	keeper_drop(&k->shown);
	keeper_drop(&k->active);
	keeper_drop(&k->applied_plan);
	json_decref(k->deviations);
	pthread_cond_destroy(&k->first);
	pthread_mutex_destroy(&k->lock);
	free(k->excused);
	free(k);
}

/* Signals are for the thread that started the keeper. */
static int keeper_start_thread(struct to_keeper *k)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&k->thread, NULL, keeper_run, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -ret;
}

struct to_keeper *to_keeper_start(const struct to_keeper_config *config, struct to_error *err)
{
	struct to_keeper *k = calloc(1, sizeof(*k));
	int ret;

	if (!k) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	k->config = *config;
	k->excuse_all = true;
	k->awaited = 1;
	k->retry_ns = KEEPER_RETRY_NS;
	k->deviations = json_array();
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->first, NULL);
	k->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = k->wake < 0 ? to_error_set(err, -errno, "eventfd: %s", strerror(errno)) :
			    to_change_watch_open(&k->watch, err);
	if (!ret) {
		ret = keeper_start_thread(k);
		if (ret)
			to_error_set(err, ret, "thread: %s", strerror(-ret));
	}
	if (!ret)
		return k;
	keeper_free(k);
	return NULL;
}

static void keeper_wake(struct to_keeper *k)
{
	const uint64_t one = 1;

	/* it fails only when the thread is woken already */
	if (write(k->wake, &one, sizeof(one)) < 0)
		errno = 0;
}

void to_keeper_stop(struct to_keeper *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_mutex_unlock(&k->lock);
	keeper_wake(k);
	pthread_join(k->thread, NULL);
	keeper_free(k);
}

void to_keeper_take(struct to_keeper *k, const struct to_plan *plan, unsigned int server,
		    bool paused)
{
	struct to_plan *old = NULL;
	bool wake;

	pthread_mutex_lock(&k->lock);
	wake = k->paused && !paused;
	k->paused = paused;
	if (k->given.plan != plan) {
		old = k->given.plan;
		k->given = (struct keeper_plan){ plan ? to_plan_hold(plan) : NULL, server };
		k->taken++;
		wake = true;
	}
	pthread_mutex_unlock(&k->lock);
	to_plan_free(old);
	if (wake)
		keeper_wake(k);
}

void to_keeper_show(struct to_keeper *k, struct to_plan *plan, unsigned int server)
{
	struct to_plan *old;

	pthread_mutex_lock(&k->lock);
	old = k->shown.plan;
	k->shown = (struct keeper_plan){ plan, server };
	k->awaited = ++k->taken + 1;
	pthread_mutex_unlock(&k->lock);
	to_plan_free(old);
	keeper_wake(k);
}

void to_keeper_wait(struct to_keeper *k)
{
	const uint64_t until = to_clock_realtime_ns() + KEEPER_FIRST_NS;
	const struct timespec deadline = { until / TO_NS_PER_S, until % TO_NS_PER_S };

	pthread_mutex_lock(&k->lock);
	while (k->looked < k->awaited && !pthread_cond_timedwait(&k->first, &k->lock, &deadline))
		;
	pthread_mutex_unlock(&k->lock);
}

uint64_t to_keeper_restored(struct to_keeper *k)
{
	uint64_t restored;

	pthread_mutex_lock(&k->lock);
	restored = k->restored;
	pthread_mutex_unlock(&k->lock);
	return restored;
}

void to_keeper_report(struct to_keeper *k, json_t *reply)
{
	pthread_mutex_lock(&k->lock);
	if (json_array_size(k->deviations))
		json_object_set_new(reply, "deviations", json_deep_copy(k->deviations));
	pthread_mutex_unlock(&k->lock);
}
