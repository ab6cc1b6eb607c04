// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "switch.h"
#include "switch_driver.h"

#define SWITCHES_MAX 1024	/* threads that wait for a switch each */

int to_switches_open(struct to_switches *s, const struct to_cluster *cluster,
		     struct to_error *err)
{
	memset(s, 0, sizeof(*s));
	s->cluster = cluster;
	if (!cluster->n_switches)
		return to_error_set(err, -ENOENT, "there is no optical switch");
	if (cluster->n_switches > SWITCHES_MAX)
		return to_error_set(err, -ERANGE, "more than %d optical switches", SWITCHES_MAX);
	s->changes = calloc(cluster->n_switches, sizeof(*s->changes));
	if (!s->changes)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (s->n = 0; s->n < cluster->n_switches; s->n++) {
		s->changes[s->n].sw = to_switch_open(cluster, s->n, err);
		if (!s->changes[s->n].sw) {
			to_switches_close(s);
			return -EIO;
		}
	}
	return 0;
}

static void switches_forget(struct to_switch_change *c)
{
	to_circuits_free(&c->has);
	to_circuits_free(&c->off);
	to_circuits_free(&c->on);
}

void to_switches_close(struct to_switches *s)
{
	for (unsigned int i = 0; i < s->n; i++) {
		switches_forget(&s->changes[i]);
		to_switch_close(s->changes[i].sw);
	}
	free(s->changes);
	memset(s, 0, sizeof(*s));
}

/**
 * struct wanted - what a plan wants of one switch
 * @out: per port, where light that enters it leaves; 0 for nowhere
 * @in: per port, where light that leaves it enters
 * @ours: ports that the plan has a say in
 */
struct wanted {
	unsigned int n_ports;
	unsigned int *out, *in;
	bool *ours;
};

static void wanted_free(struct wanted *w)
{
	free(w->out);
	free(w->in);
	free(w->ours);
}

static int wanted_circuit(struct wanted *w, unsigned int in, unsigned int out)
{
	if ((w->out[in] && w->out[in] != out) || (w->in[out] && w->in[out] != in))
		return -EEXIST;
	w->out[in] = out;
	w->in[out] = in;
	w->ours[in] = w->ours[out] = true;
	return 0;
}

/* Room for every port that the plan or the switch itself names. */
static int wanted_alloc(struct wanted *w, unsigned int n_ports, const struct to_circuits *has)
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
	return w->out && w->in && w->ours ? 0 : -ENOMEM;
}

static int wanted_fill(struct wanted *w, const struct to_plan *plan, unsigned int index,
		       struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	int ret = 0;

	for (unsigned int i = 0; i < c->n_servers; i++)
		for (unsigned int q = 0; q < c->servers[i].n_ports; q++) {
			const struct to_port *p = &c->servers[i].ports[q];

			if (p->optical_switch == (int)index)
				w->ours[p->optical_port] = true;
		}
	for (unsigned int i = 0; i < plan->n_cross_connects && !ret; i++) {
		const struct to_cross_connect *x = &plan->cross_connects[i];

		if (x->optical_switch != index)
			continue;
		ret = wanted_circuit(w, x->a, x->b);
		if (!ret && c->link_mode == TO_LINKS_DUPLEX)
			ret = wanted_circuit(w, x->b, x->a);
		if (ret)
			to_error_set(err, ret,
				     "the plan's cross-connects collide: port %u or %u of optical switch %s is on two",
				     x->a, x->b, c->switches[index].name);
	}
	return ret;
}

/* What ends and what is made, from what the switch has and what is wanted. */
static int switches_differences(struct to_switch_change *c, const struct wanted *w)
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

static int switches_compare(struct to_switches *s, const struct to_plan *plan, unsigned int i,
			    struct to_error *err)
{
	struct to_switch_change *c = &s->changes[i];
	struct wanted w = {};
	int ret = to_switch_read(c->sw, &c->has, err);

	if (ret)
		return ret;
	ret = wanted_alloc(&w, plan->cluster->switches[i].n_ports, &c->has);
	if (!ret)
		ret = wanted_fill(&w, plan, i, err);
	if (!ret)
		ret = switches_differences(c, &w);
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	wanted_free(&w);
	return ret;
}

int to_switches_compare(struct to_switches *s, const struct to_plan *plan, struct to_error *err)
{
	const struct to_cluster *c = plan->cluster;
	int ret = 0;

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
	for (unsigned int i = 0; i < s->n; i++)
		switches_forget(&s->changes[i]);
	for (unsigned int i = 0; i < s->n && !ret; i++)
		ret = switches_compare(s, plan, i, err);
	return ret;
}

bool to_switches_differ(const struct to_switches *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (s->changes[i].off.n || s->changes[i].on.n)
			return true;
	return false;
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

static void *task_run(void *arg)
{
	struct task *t = arg;

	t->ret = t->run(t->change, &t->err);
	return NULL;
}

/*
 * @run for all switches at once. Return: how many failed, their words in @err,
 * or a negative errno.
 */
static int switches_each(struct to_switches *s,
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
		tasks[i].started = i + 1 < s->n &&
				   !pthread_create(&tasks[i].thread, NULL, task_run, &tasks[i]);
		if (!tasks[i].started)
			task_run(&tasks[i]);
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

static int switches_change(struct to_switch_change *c, struct to_error *err)
{
	return to_switch_change(c->sw, &c->has, &c->off, &c->on, err);
}

/* Elements of the sorted @a that the sorted @b has not. */
static int circuits_without(const struct to_circuits *a, const struct to_circuits *b,
			 struct to_circuits *result)
{
	unsigned int k = 0;
	int ret = 0;

	for (unsigned int i = 0; i < a->n && !ret; i++) {
		while (k < b->n && b->circuit[k].in < a->circuit[i].in)
			k++;
		if (k == b->n || b->circuit[k].in != a->circuit[i].in ||
		    b->circuit[k].out != a->circuit[i].out)
			ret = to_circuits_add(result, a->circuit[i].in, a->circuit[i].out);
	}
	return ret;
}

static int switches_put_back(struct to_switch_change *c, struct to_error *err)
{
	struct to_circuits now = {}, off = {}, on = {};
	int ret;

	if (!c->off.n && !c->on.n)
		return 0;
	ret = to_switch_read(c->sw, &now, err);
	if (ret)
		return ret;
	ret = circuits_without(&now, &c->has, &off);
	if (!ret)
		ret = circuits_without(&c->has, &now, &on);
	if (ret)
		to_error_set(err, ret, "out of memory");
	else
		ret = to_switch_change(c->sw, &now, &off, &on, err);
	to_circuits_free(&now);
	to_circuits_free(&off);
	to_circuits_free(&on);
	return ret;
}

int to_switches_restore(struct to_switches *s, struct to_error *err)
{
	return switches_each(s, switches_put_back, err) ? -EIO : 0;
}

int to_switches_apply(struct to_switches *s, struct to_error *err)
{
	struct to_error why = {}, back = {};

	if (!switches_each(s, switches_change, &why))
		return 0;
	if (to_switches_restore(s, &back))
		return to_error_set(err, -EIO, "%s; NOT BACK at the old cross-connects: %s",
				    why.text, back.text);
	return to_error_set(err, -EIO, "%s; all switches have their old cross-connects", why.text);
}
