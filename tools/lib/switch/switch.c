// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/switch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "switch/switch_driver.h"

static const struct to_switch_driver *const switch_drivers[] = {
	[TO_SWITCH_COMMAND] = &to_switch_command,
	[TO_SWITCH_NETNS] = &to_switch_netns,
	[TO_SWITCH_POLATIS_SCPI] = &to_switch_polatis_scpi,
	[TO_SWITCH_POLATIS_RESTCONF] = &to_switch_polatis_restconf,
	[TO_SWITCH_SONIC] = &to_switch_sonic,
};

#define SWITCH_PORTS_MAX (1U << 20)	/* what counts ports allocates for each */

struct to_switch *to_switch_open(const struct to_cluster *cluster, unsigned int index,
				 struct to_error *err)
{
	const struct to_optical_switch *optical = &cluster->switches[index];
	struct to_switch *sw = calloc(1, sizeof(*sw));
	struct to_error why = {};

	if (!sw) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (optical->control.driver == TO_SWITCH_BY_HAND || optical->n_ports > SWITCH_PORTS_MAX) {
		to_error_set(err, -ENOTSUP, optical->n_ports > SWITCH_PORTS_MAX ?
			     "optical switch %s has more than 2^20 ports" :
			     "optical switch %s has no \"control\": it is set by hand",
			     optical->name);
		free(sw);
		return NULL;
	}
	sw->optical = optical;
	sw->mode = cluster->link_mode;
	sw->driver = switch_drivers[optical->control.driver];
	sw->sides = sw->driver->sides || optical->control.egress_offset ||
		    sw->mode == TO_LINKS_SIMPLEX;
	if (sw->driver->open && sw->driver->open(sw, &why)) {
		to_error_set(err, -EIO, "optical switch %s: %s", optical->name, why.text);
		to_switch_close(sw);
		return NULL;
	}
	return sw;
}

void to_switch_close(struct to_switch *sw)
{
	if (!sw)
		return;
	if (sw->driver->close)
		sw->driver->close(sw);
	free(sw);
}

/* Pairs as the switch numbers them become circuits. */
static int switch_take(const struct to_switch *sw, const struct to_circuits *pairs,
		       struct to_circuits *circuits, struct to_error *err)
{
	unsigned int offset = sw->optical->control.egress_offset;
	int ret = 0;

	for (unsigned int i = 0; i < pairs->n && !ret; i++) {
		struct to_circuit p = pairs->circuit[i];

		/* some tell the lower port of a pair first */
		if (offset && p.out <= offset && p.in > offset)
			p = (struct to_circuit){ p.out, p.in };
		if (!p.in || p.out <= offset || (offset && p.in > offset) ||
		    p.in > SWITCH_PORTS_MAX || p.out - offset > SWITCH_PORTS_MAX)
			return to_error_set(err, -EPROTO,
					    "it says that port %u joins %u, which are no input and output by \"egress_offset\" %u",
					    p.in, p.out, offset);
		ret = to_circuits_add(circuits, p.in, p.out - offset);
		if (!ret && !sw->sides)
			ret = to_circuits_add(circuits, p.out, p.in);
	}
	return ret ? to_error_set(err, ret, "out of memory") : 0;
}

static int switch_read(struct to_switch *sw, struct to_circuits *circuits, struct to_error *err)
{
	struct to_circuits pairs = {};
	const struct to_circuit *twice;
	int ret;

	memset(circuits, 0, sizeof(*circuits));
	ret = sw->driver->read(sw, &pairs, err);
	if (!ret)
		ret = switch_take(sw, &pairs, circuits, err);
	to_circuits_free(&pairs);
	twice = ret ? NULL : to_circuits_collision(circuits);
	if (twice)
		ret = to_error_set(err, -EPROTO, "it says that port %u or %u is joined twice",
				   twice->in, twice->out);
	if (ret) {
		to_circuits_free(circuits);
		return ret;
	}
	to_circuits_sort(circuits);
	return 0;
}

int to_switch_read(struct to_switch *sw, struct to_circuits *circuits, struct to_error *err)
{
	struct to_error why = {};
	int ret = switch_read(sw, circuits, &why);

	return ret ? to_error_set(err, ret, "optical switch %s: %s", sw->optical->name, why.text) :
		     0;
}

/* Does @p enter or leave the switch where one of @circuits does? */
static bool switch_meets(const struct to_circuits *circuits, const struct to_circuit *p)
{
	for (unsigned int i = 0; i < circuits->n; i++)
		if (circuits->circuit[i].in == p->in || circuits->circuit[i].out == p->out)
			return true;
	return false;
}

int to_switch_differences(const struct to_circuits *now, const struct to_circuits *wanted,
			  const struct to_circuits *unwanted, struct to_circuits *off,
			  struct to_circuits *on)
{
	int ret = 0;

	for (unsigned int i = 0; i < now->n && !ret; i++) {
		const struct to_circuit *p = &now->circuit[i];

		if ((switch_meets(wanted, p) || switch_meets(unwanted, p)) &&
		    !to_circuits_has(wanted, p))
			ret = to_circuits_add(off, p->in, p->out);
	}
	for (unsigned int i = 0; i < wanted->n && !ret; i++)
		if (!to_circuits_has(now, &wanted->circuit[i]))
			ret = to_circuits_add(on, wanted->circuit[i].in, wanted->circuit[i].out);
	return ret;
}

/* "port 1 is not joined to port 17", the first difference; empty when there is none. */
static void switch_say(const struct to_circuits *off, const struct to_circuits *on, char *text,
		       size_t size)
{
	const struct to_circuit *p = on->n ? on->circuit : off->circuit;

	text[0] = '\0';
	if (on->n || off->n)
		snprintf(text, size, "port %u is %s joined to port %u", p->in,
			 on->n ? "not" : "still", p->out);
}

/* What is not as asked after a change, in @difference. */
static int switch_read_back(struct to_switch *sw, const struct to_circuits *off,
			    const struct to_circuits *on, char *difference, size_t size,
			    struct to_error *err)
{
	struct to_circuits now = {}, still = {}, missing = {};
	int ret = switch_read(sw, &now, err);

	if (!ret) {
		ret = to_switch_differences(&now, on, off, &still, &missing);
		if (ret)
			to_error_set(err, ret, "out of memory");
	}
	if (ret)
		snprintf(difference, size, "it cannot be read back");
	else
		switch_say(&still, &missing, difference, size);
	to_circuits_free(&now);
	to_circuits_free(&still);
	to_circuits_free(&missing);
	return ret;
}

int to_switch_change(struct to_switch *sw, const struct to_circuits *off,
		     const struct to_circuits *on, struct to_error *err)
{
	struct to_error why = {}, unread = {};
	char difference[80];
	int ret;

	if (!off->n && !on->n)
		return 0;
	ret = sw->driver->change(sw, off, on, &why);
	switch_read_back(sw, off, on, difference, sizeof(difference), &unread);
	if (ret)
		return to_error_set(err, ret, "optical switch %s: %s%s%s", sw->optical->name,
				    why.text, difference[0] ? "; " : "", difference);
	if (unread.text[0])
		return to_error_set(err, -EIO, "optical switch %s: %s when read back: %s",
				    sw->optical->name, difference, unread.text);
	if (difference[0])
		return to_error_set(err, -EPROTO,
				    "optical switch %s: it said that the change was done, but reads back that %s",
				    sw->optical->name, difference);
	return 0;
}
