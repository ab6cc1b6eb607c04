// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "switch/switch.h"
#include "switch/switch_allow.h"
#include "switch/switch_driver.h"

#define SWITCHES_MAX 1024	/* threads that wait for a switch each */
#define SWITCHES_LATE 3		/* timeouts until a late change counts as lost */

int to_switch_set_open(struct to_switch_set *s, const struct to_cluster *cluster,
		       const char *allow, struct to_error *err)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->cluster = cluster;
	if (!cluster->n_switches)
		return to_error_set(err, -ENOENT, "there is no optical switch");
	if (cluster->n_switches > SWITCHES_MAX)
		return to_error_set(err, -ERANGE, "more than %d optical switches", SWITCHES_MAX);
	for (unsigned int i = 0; i < cluster->n_switches; i++) {
		ret = to_switch_allow_check(allow, &cluster->switches[i], err);
		if (ret)
			return ret;
	}
	s->changes = calloc(cluster->n_switches, sizeof(*s->changes));
	if (!s->changes)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (s->n = 0; s->n < cluster->n_switches; s->n++) {
		s->changes[s->n].sw = to_switch_open(cluster, s->n, err);
		if (!s->changes[s->n].sw) {
			to_switch_set_close(s);
			return -EIO;
		}
	}
	return 0;
}

static void switch_set_forget(struct to_switch_change *c)
{
	to_circuits_free(&c->has);
	to_circuits_free(&c->off);
	to_circuits_free(&c->on);
}

/* No change of it is late. */
static void switch_set_over(struct to_switch_change *c)
{
	to_circuits_free(&c->late_off);
	to_circuits_free(&c->late_on);
	c->late_until = 0;
}

void to_switch_set_close(struct to_switch_set *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		switch_set_forget(&s->changes[i]);
		switch_set_over(&s->changes[i]);
		to_switch_close(s->changes[i].sw);
	}
	free(s->changes);
	memset(s, 0, sizeof(*s));
}

/**
 * struct wanted - what is wanted of one switch
 * @out: per port, where light that enters it leaves; 0 for nowhere
 * @in: per port, where light that leaves it enters
 * @ours: ports that the plan has a say in
 * @home: ports of servers, by struct to_port.optical_port
 */
struct wanted {
	unsigned int n_ports;
	unsigned int *out, *in;
	bool *ours;
	struct to_port_ref *home;
};

/* Which fibre of the ports that have two. */
enum fibre { FIBRE_ACTIVE, FIBRE_LOOK_AHEAD };

/**
 * struct comparison - a plan on its switches
 * @wanted: one per switch
 * @gather: all 1x2 switches are to be at @end; else they are taken as they are
 */
struct comparison {
	struct to_switch_set *s;
	const struct to_plan *plan;
	struct wanted *wanted;
	bool gather;
	int end;
};

struct place {
	unsigned int optical_switch, port;
};

static int switch_set_wanted_circuit(struct wanted *w, unsigned int in, unsigned int out)
{
	if ((w->out[in] && w->out[in] != out) || (w->in[out] && w->in[out] != in))
		return -EEXIST;
	w->out[in] = out;
	w->in[out] = in;
	w->ours[in] = w->ours[out] = true;
	return 0;
}

/* Room for every port that the plan or the switch itself names. */
static int switch_set_wanted_alloc(struct wanted *w, unsigned int n_ports,
				   const struct to_circuits *has)
{
	for (unsigned int i = 0; i < has->n; i++) {
		if (has->circuit[i].in > n_ports)
			n_ports = has->circuit[i].in;
		if (has->circuit[i].out > n_ports)
			n_ports = has->circuit[i].out;
	}
	w->n_ports = n_ports;
	w->out = calloc((size_t)n_ports + 1, sizeof(*w->out));
	w->in = calloc((size_t)n_ports + 1, sizeof(*w->in));
	w->ours = calloc((size_t)n_ports + 1, sizeof(*w->ours));
	w->home = malloc(((size_t)n_ports + 1) * sizeof(*w->home));
	if (!w->out || !w->in || !w->ours || !w->home)
		return -ENOMEM;
	for (unsigned int port = 0; port <= n_ports; port++)
		w->home[port].server = TO_SERVER_NONE;
	return 0;
}

static void switch_set_comparison_free(struct comparison *c)
{
	for (unsigned int i = 0; c->wanted && i < c->s->n; i++) {
		free(c->wanted[i].out);
		free(c->wanted[i].in);
		free(c->wanted[i].ours);
		free(c->wanted[i].home);
	}
	free(c->wanted);
}

static const struct to_port *switch_set_comparison_port(const struct comparison *c,
							struct to_port_ref ref)
{
	return &c->plan->cluster->servers[ref.server].ports[ref.port];
}

/* The end that the 1x2 switch of a port has joined to it, or is to have: 0 or 1. */
static int switch_set_comparison_end(const struct comparison *c, struct to_port_ref ref,
				     struct to_error *err)
{
	const struct to_look_ahead *ahead = &switch_set_comparison_port(c, ref)->look_ahead;
	const struct to_circuits *has = &c->s->changes[ahead->selector].has;

	if (c->gather)
		return c->end;
	for (unsigned int i = 0; i < has->n; i++)
		for (int end = 0; end < 2; end++)
			if (has->circuit[i].in == ahead->common &&
			    has->circuit[i].out == ahead->ends[end])
				return end;
	return to_error_set(err, -ENOLINK, "optical switch %s: the 1x2 switch of %s:%s is at neither end",
			    c->plan->cluster->switches[ahead->selector].name,
			    c->plan->cluster->servers[ref.server].name,
			    switch_set_comparison_port(c, ref)->name);
}

/* Where a fibre of a port leads. */
static int switch_set_comparison_place(const struct comparison *c, struct to_port_ref ref,
				       enum fibre fibre, struct place *place, struct to_error *err)
{
	const struct to_port *port = switch_set_comparison_port(c, ref);
	int end = port->look_ahead.common ? switch_set_comparison_end(c, ref, err) : 0;

	if (end < 0)
		return end;
	if (fibre == FIBRE_LOOK_AHEAD && !port->look_ahead.common)
		return to_error_set(err, -ENOTSUP, "%s:%s has no look-ahead port",
				    c->plan->cluster->servers[ref.server].name, port->name);
	if (end ^ (fibre == FIBRE_LOOK_AHEAD))
		*place = (struct place){ port->look_ahead.optical_switch,
					 port->look_ahead.optical_port };
	else
		*place = (struct place){ port->optical_switch, port->optical_port };
	return 0;
}

/* Does the plan have a say in @fibre of this port? */
static bool switch_set_comparison_has_fibre(const struct to_port *port, enum fibre fibre)
{
	return port->optical_switch >= 0 && (fibre == FIBRE_ACTIVE || port->look_ahead.common);
}

static int switch_set_comparison_ports(struct comparison *c, enum fibre fibre, struct to_error *err)
{
	const struct to_cluster *cluster = c->plan->cluster;
	int ret = 0;

	for (unsigned int i = 0; i < cluster->n_servers; i++)
		for (unsigned int q = 0; q < cluster->servers[i].n_ports && !ret; q++) {
			const struct to_port *port = &cluster->servers[i].ports[q];
			struct to_port_ref ref = { i, q };
			struct place at;

			if (!switch_set_comparison_has_fibre(port, fibre))
				continue;
			ret = switch_set_comparison_place(c, ref, fibre, &at, err);
			if (!ret)
				c->wanted[at.optical_switch].ours[at.port] = true;
		}
	return ret;
}

/* Where port @number of a cross-connect is on this fibre; as it is when no server has it. */
static int switch_set_comparison_number(const struct comparison *c, unsigned int optical_switch,
					unsigned int number, enum fibre fibre, struct place *at,
					struct to_error *err)
{
	struct to_port_ref ref = c->wanted[optical_switch].home[number];

	*at = (struct place){ optical_switch, number };
	return ref.server == TO_SERVER_NONE ? 0
					    : switch_set_comparison_place(c, ref, fibre, at, err);
}

static int switch_set_comparison_cross_connects(struct comparison *c, enum fibre fibre,
						struct to_error *err)
{
	const struct to_cluster *cluster = c->plan->cluster;
	int ret = 0;

	for (unsigned int i = 0; i < c->plan->n_cross_connects && !ret; i++) {
		const struct to_cross_connect *x = &c->plan->cross_connects[i];
		struct wanted *w;
		struct place a, b;

		ret = switch_set_comparison_number(c, x->optical_switch, x->a, fibre, &a, err);
		if (!ret)
			ret = switch_set_comparison_number(c, x->optical_switch, x->b, fibre, &b,
							   err);
		if (ret)
			return ret;
		if (a.optical_switch != b.optical_switch)
			return to_error_set(err, -EINVAL,
					    "cross-connect %u-%u of %s: by their 1x2 switches, its ports are on %s and %s",
					    x->a, x->b, cluster->switches[x->optical_switch].name,
					    cluster->switches[a.optical_switch].name,
					    cluster->switches[b.optical_switch].name);
		w = &c->wanted[a.optical_switch];
		ret = switch_set_wanted_circuit(w, a.port, b.port);
		if (!ret && cluster->link_mode == TO_LINKS_DUPLEX)
			ret = switch_set_wanted_circuit(w, b.port, a.port);
		if (ret)
			to_error_set(err, ret,
				     "the plan's cross-connects collide: port %u or %u of optical switch %s is on two",
				     a.port, b.port, cluster->switches[a.optical_switch].name);
	}
	return ret;
}

static void switch_set_comparison_to_end(struct comparison *c, const struct to_look_ahead *ahead,
					 int end)
{
	struct wanted *w = &c->wanted[ahead->selector];

	w->ours[ahead->ends[!end]] = true;
	switch_set_wanted_circuit(w, ahead->common, ahead->ends[end]);
	switch_set_wanted_circuit(w, ahead->ends[end], ahead->common);
}

/* Every 1x2 switch of the plan's servers to its other end. */
static int switch_set_comparison_flip(struct comparison *c, struct to_error *err)
{
	const struct to_cluster *cluster = c->plan->cluster;

	for (unsigned int i = 0; i < cluster->n_servers; i++)
		for (unsigned int q = 0; q < cluster->servers[i].n_ports; q++) {
			const struct to_look_ahead *ahead =
				&cluster->servers[i].ports[q].look_ahead;
			int end;

			if (!ahead->common)
				continue;
			end = switch_set_comparison_end(c, (struct to_port_ref){ i, q }, err);
			if (end < 0)
				return end;
			switch_set_comparison_to_end(c, ahead, !end);
		}
	return 0;
}

/* Are the 1x2 switches of the plan's servers all at the same end? */
static bool switch_set_comparison_is_gathered(const struct comparison *c)
{
	const struct to_cluster *cluster = c->plan->cluster;
	struct to_error unused;
	int first = -1, end;

	for (unsigned int i = 0; i < cluster->n_servers; i++)
		for (unsigned int q = 0; q < cluster->servers[i].n_ports; q++) {
			if (!cluster->servers[i].ports[q].look_ahead.common)
				continue;
			end = switch_set_comparison_end(c, (struct to_port_ref){ i, q }, &unused);
			if (end < 0 || (first >= 0 && end != first))
				return false;
			first = end;
		}
	return true;
}

/* How many of the plan's cross-connects are in place with all 1x2 switches at c->end. */
static unsigned int switch_set_comparison_in_place(const struct comparison *c)
{
	struct to_error unused;
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->plan->n_cross_connects; i++) {
		const struct to_cross_connect *x = &c->plan->cross_connects[i];
		const struct to_circuits *has;
		struct place a, b;

		if (switch_set_comparison_number(c, x->optical_switch, x->a, FIBRE_ACTIVE, &a,
						 &unused) ||
		    switch_set_comparison_number(c, x->optical_switch, x->b, FIBRE_ACTIVE, &b,
						 &unused))
			continue;
		has = &c->s->changes[a.optical_switch].has;
		for (unsigned int k = 0; k < has->n && a.optical_switch == b.optical_switch; k++)
			n += has->circuit[k].in == a.port && has->circuit[k].out == b.port;
	}
	return n;
}

/* All 1x2 switches of the plan's servers to the end where more of the plan is in place. */
static void switch_set_comparison_gather(struct comparison *c)
{
	const struct to_cluster *cluster = c->plan->cluster;
	unsigned int in_place[2];

	c->gather = true;
	for (c->end = 0; c->end < 2; c->end++)
		in_place[c->end] = switch_set_comparison_in_place(c);
	c->end = in_place[1] > in_place[0];
	for (unsigned int i = 0; i < cluster->n_servers; i++)
		for (unsigned int q = 0; q < cluster->servers[i].n_ports; q++)
			if (cluster->servers[i].ports[q].look_ahead.common)
				switch_set_comparison_to_end(
					c, &cluster->servers[i].ports[q].look_ahead, c->end);
}

/* What ends and what is made, from what the switch has and what is wanted. */
static int switch_set_differences(struct to_switch_change *c, const struct wanted *w)
{
	struct to_circuits *has = &c->has;
	unsigned int k = 0;
	int ret = 0;

	for (unsigned int i = 0; i < has->n && !ret; i++) {
		const struct to_circuit *p = &has->circuit[i];

		if ((w->ours[p->in] || w->ours[p->out]) && w->out[p->in] != p->out)
			ret = to_circuits_add(&c->off, p->in, p->out);
	}
	for (unsigned int in = 1; in <= w->n_ports && !ret; in++) {
		while (k < has->n && has->circuit[k].in < in)
			k++;
		if (w->out[in] && !(k < has->n && has->circuit[k].in == in &&
				    has->circuit[k].out == w->out[in]))
			ret = to_circuits_add(&c->on, in, w->out[in]);
	}
	return ret;
}

static int switch_set_same(const struct to_switch_set *s, const struct to_plan *plan,
			   struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;

	if (c->n_switches != s->n || c->link_mode != s->cluster->link_mode)
		return to_error_set(err, -EINVAL, "the plan is not for these optical switches");
	for (unsigned int i = 0; i < s->n; i++) {
		if (strcmp(c->switches[i].name, s->cluster->switches[i].name))
			return to_error_set(err, -EINVAL,
					    "the plan's optical switch %u is %s, not %s", i,
					    c->switches[i].name, s->cluster->switches[i].name);
		if (c->switches[i].n_ports > s->cluster->switches[i].n_ports)
			return to_error_set(err, -EINVAL,
					    "the plan gives optical switch %s %u ports, it has %u",
					    c->switches[i].name, c->switches[i].n_ports,
					    s->cluster->switches[i].n_ports);
	}
	return 0;
}

static uint64_t switch_set_timeout(const struct to_switch_change *c)
{
	return c->sw->optical->control.timeout_ns;
}

static bool switch_set_is_late(const struct to_switch_change *c)
{
	return to_clock_monotonic_ns() < c->late_until;
}

/* A read shows, too, whether a late change was made. */
static int switch_set_read(struct to_switch_change *c, struct to_circuits *now,
			   struct to_error *err)
{
	struct to_circuits off = {}, on = {};
	int ret = to_switch_read(c->sw, now, err);

	if (ret || !c->late_until)
		return ret;
	ret = to_switch_differences(now, &c->late_on, &c->late_off, &off, &on);
	if (ret)
		to_error_set(err, ret, "out of memory");
	else if (!off.n && !on.n)
		switch_set_over(c);
	to_circuits_free(&off);
	to_circuits_free(&on);
	return ret;
}

static void switch_set_comparison_homes(struct comparison *c)
{
	const struct to_cluster *cluster = c->plan->cluster;

	for (unsigned int i = 0; i < cluster->n_servers; i++)
		for (unsigned int q = 0; q < cluster->servers[i].n_ports; q++) {
			const struct to_port *port = &cluster->servers[i].ports[q];

			if (port->optical_switch >= 0)
				c->wanted[port->optical_switch].home[port->optical_port] =
					(struct to_port_ref){ i, q };
		}
}

/* Read all switches, make room for what is wanted of them. */
static int switch_set_comparison_open(struct comparison *c, struct to_error *err)
{
	struct to_switch_set *s = c->s;
	int ret = switch_set_same(s, c->plan, err);

	if (ret)
		return ret;
	c->wanted = calloc(s->n, sizeof(*c->wanted));
	if (!c->wanted)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < s->n && !ret; i++) {
		switch_set_forget(&s->changes[i]);
		ret = switch_set_read(&s->changes[i], &s->changes[i].has, err);
		if (!ret && switch_set_wanted_alloc(&c->wanted[i], s->cluster->switches[i].n_ports,
						    &s->changes[i].has))
			ret = to_error_set(err, -ENOMEM, "out of memory");
	}
	if (!ret)
		switch_set_comparison_homes(c);
	return ret;
}

static int switch_set_comparison_close(struct comparison *c, int ret, struct to_error *err)
{
	for (unsigned int i = 0; i < c->s->n && !ret; i++)
		if (switch_set_differences(&c->s->changes[i], &c->wanted[i]))
			ret = to_error_set(err, -ENOMEM, "out of memory");
	switch_set_comparison_free(c);
	return ret;
}

static int switch_set_compare(struct to_switch_set *s, const struct to_plan *plan, enum fibre fibre,
			      bool gather, struct to_error *err)
{
	struct comparison c = { .s = s, .plan = plan };
	int ret = switch_set_comparison_open(&c, err);

	if (!ret && gather && !switch_set_comparison_is_gathered(&c))
		switch_set_comparison_gather(&c);
	if (!ret)
		ret = switch_set_comparison_ports(&c, fibre, err);
	if (!ret)
		ret = switch_set_comparison_cross_connects(&c, fibre, err);
	return switch_set_comparison_close(&c, ret, err);
}

int to_switch_set_compare(struct to_switch_set *s, const struct to_plan *plan, struct to_error *err)
{
	return switch_set_compare(s, plan, FIBRE_ACTIVE, false, err);
}

int to_switch_set_compare_ahead(struct to_switch_set *s, const struct to_plan *plan,
				struct to_error *err)
{
	return switch_set_compare(s, plan, FIBRE_LOOK_AHEAD, false, err);
}

int to_switch_set_compare_gathered(struct to_switch_set *s, const struct to_plan *plan,
				   struct to_error *err)
{
	return switch_set_compare(s, plan, FIBRE_ACTIVE, true, err);
}

int to_switch_set_compare_flip(struct to_switch_set *s, const struct to_plan *plan,
			       struct to_error *err)
{
	struct comparison c = { .s = s, .plan = plan };
	int ret = to_switch_set_compare_ahead(s, plan, err);

	if (!ret && to_switch_set_differ(s))
		ret = to_error_set(err, -EAGAIN,
				   "the look-ahead ports do not have the plan's cross-connects: prepare them first");
	if (ret)
		return ret;
	ret = switch_set_comparison_open(&c, err);
	if (!ret)
		ret = switch_set_comparison_flip(&c, err);
	return switch_set_comparison_close(&c, ret, err);
}

unsigned int to_switch_set_differ(const struct to_switch_set *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n; i++)
		n += s->changes[i].off.n + s->changes[i].on.n;
	return n;
}

/* One switch's part of a change, in a thread that waits for it. */
struct task {
	struct to_switch_change *change;
	int (*run)(struct to_switch_change *c, struct to_error *err);
	pthread_t thread;
	bool started;
	int ret;
	struct to_error err;
};

static void *switch_set_task_run(void *arg)
{
	struct task *t = arg;

	t->ret = t->run(t->change, &t->err);
	return NULL;
}

/*
 * @run for all switches at once. Return: how many failed, their words in @err,
 * or a negative errno.
 */
static int switch_set_each(struct to_switch_set *s,
			   int (*run)(struct to_switch_change *c, struct to_error *err),
			   struct to_error *err)
{
	struct task *tasks = calloc(s->n, sizeof(*tasks));
	int failed = 0;
	size_t len = 0;

	if (!tasks)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < s->n; i++) {
		tasks[i].change = &s->changes[i];
		tasks[i].run = run;
		/* the last one here: most fabrics have one switch */
		tasks[i].started = i + 1 < s->n && !pthread_create(&tasks[i].thread, NULL,
								   switch_set_task_run, &tasks[i]);
		if (!tasks[i].started)
			switch_set_task_run(&tasks[i]);
	}
	for (unsigned int i = 0; i < s->n; i++) {
		if (tasks[i].started)
			pthread_join(tasks[i].thread, NULL);
		if (!tasks[i].ret)
			continue;
		if (len < sizeof(err->text))
			len += snprintf(err->text + len, sizeof(err->text) - len, "%s%s",
					failed ? "; " : "", tasks[i].err.text);
		failed++;
	}
	free(tasks);
	return failed;
}

static int switch_set_circuits_copy(const struct to_circuits *from, struct to_circuits *to)
{
	int ret = 0;

	for (unsigned int i = 0; i < from->n && !ret; i++)
		ret = to_circuits_add(to, from->circuit[i].in, from->circuit[i].out);
	return ret;
}

/*
 * Change a switch; what it does not answer in time is late. One that refuses may
 * do so because of that: only a change that it made ends what was late before.
 */
static int switch_set_set(struct to_switch_change *c, const struct to_circuits *off,
			  const struct to_circuits *on, struct to_error *err)
{
	struct to_circuits late_off = {}, late_on = {};
	int ret = switch_set_circuits_copy(off, &late_off);

	if (!ret)
		ret = switch_set_circuits_copy(on, &late_on);
	if (ret)
		to_error_set(err, ret, "out of memory");
	else
		ret = to_switch_change(c->sw, off, on, err);
	if (ret == -ETIMEDOUT || (!ret && (off->n || on->n)))
		switch_set_over(c);
	if (ret == -ETIMEDOUT) {
		c->late_off = late_off;
		c->late_on = late_on;
		c->late_until = to_clock_monotonic_ns() + SWITCHES_LATE * switch_set_timeout(c);
		return ret;
	}
	to_circuits_free(&late_off);
	to_circuits_free(&late_on);
	return ret;
}

static int switch_set_change(struct to_switch_change *c, struct to_error *err)
{
	return switch_set_set(c, &c->off, &c->on, err);
}

/* Where the change met the switch, all that was there is in c->off. */
static int switch_set_undo(struct to_switch_change *c, struct to_error *err)
{
	struct to_circuits now = {}, off = {}, on = {};
	int ret = switch_set_read(c, &now, err);

	if (!ret) {
		ret = to_switch_differences(&now, &c->off, &c->on, &off, &on);
		if (ret)
			to_error_set(err, ret, "out of memory");
	}
	if (!ret)
		ret = switch_set_set(c, &off, &on, err);
	to_circuits_free(&now);
	to_circuits_free(&off);
	to_circuits_free(&on);
	return ret;
}

static int switch_set_say_late(const struct to_switch_change *c, struct to_error *err)
{
	return to_error_set(err, -EINPROGRESS,
			    "optical switch %s may yet make a change that it did not answer in time",
			    c->sw->optical->name);
}

static int switch_set_put_back(struct to_switch_change *c, struct to_error *err)
{
	int ret;

	if (!c->off.n && !c->on.n)
		return 0;
	ret = switch_set_undo(c, err);
	if (!switch_set_is_late(c))
		return ret;
	/* also when a signal cuts this short: who is late still is asked of the clock */
	to_clock_sleep(switch_set_timeout(c));
	ret = switch_set_undo(c, err);
	return ret || !switch_set_is_late(c) ? ret : switch_set_say_late(c, err);
}

int to_switch_set_restore(struct to_switch_set *s, struct to_error *err)
{
	return switch_set_each(s, switch_set_put_back, err) ? -EIO : 0;
}

int to_switch_set_apply(struct to_switch_set *s, struct to_error *err)
{
	struct to_error why = {}, back = {};

	if (!switch_set_each(s, switch_set_change, &why))
		return 0;
	if (to_switch_set_restore(s, &back))
		return to_error_set(err, -EIO, "%s; NOT BACK at the old cross-connects: %s",
				    why.text, back.text);
	return to_error_set(err, -EIO, "%s; all switches have their old cross-connects", why.text);
}

int to_switch_set_late(const struct to_switch_set *s, struct to_error *err)
{
	struct to_error one;
	size_t len = 0;
	int ret = 0;

	for (unsigned int i = 0; i < s->n; i++) {
		if (!switch_set_is_late(&s->changes[i]))
			continue;
		switch_set_say_late(&s->changes[i], &one);
		if (len < sizeof(err->text))
			len += snprintf(err->text + len, sizeof(err->text) - len, "%s%s",
					ret ? "; " : "", one.text);
		ret = -EINPROGRESS;
	}
	return ret;
}
