// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Optical switches that run SONiC. Cross-connects are entries of CONFIG_DB,
 * each from an input (A) to an output (B):
 *
 *	OCS_CROSS_CONNECT|1A-2B		a_side 1A, b_side 2B
 *
 * They are read by sonic-db-dump and changed by a JSON patch that "config
 * apply-patch" checks against the model and applies as one; both over ssh,
 * which every SONiC has. (Its REST and gNMI servers are not in every image,
 * and its own "config ocs" commands differ from one vendor to the next.)
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "switch/switch_driver.h"

#define SONIC_SSH "ssh -o BatchMode=yes --"
#define SONIC_READ "sonic-db-dump -n CONFIG_DB -y -k 'OCS_CROSS_CONNECT|*'"
/* a file, as what ssh makes of standard input cannot be opened by name */
#define SONIC_CHANGE "f=$(mktemp) && cat >\"$f\" && sudo config apply-patch \"$f\"; s=$?; " \
	"rm -f \"$f\"; exit $s"

/* Run @remote on the switch: by ssh, or by the control's own command. */
static int sonic_run(const struct to_switch *sw, const char *remote, const char *input,
		     char **output, struct to_error *err)
{
	const struct to_switch_control *control = &sw->optical->control;
	struct to_argv command;
	int ret = to_argv_split(&command, control->command[0] ? control->command : SONIC_SSH, err);

	if (!ret && control->address[0])
		ret = to_argv_add(&command, "%s", control->address);
	if (!ret)
		ret = to_argv_add(&command, "%s", remote);
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	if (!ret)
		ret = to_child_run(&command, input, control->timeout_ns, output, err);
	to_argv_free(&command);
	return ret;
}

static int sonic_take(json_t *entries, struct to_circuits *pairs, struct to_error *err)
{
	const char *key;
	json_t *entry;

	json_object_foreach(entries, key, entry) {
		json_t *value = json_object_get(entry, "value");
		const char *a = json_string_value(json_object_get(value, "a_side"));
		const char *b = json_string_value(json_object_get(value, "b_side"));
		unsigned int in, out;
		int used_a = 0, used_b = 0;

		if (!a || !b || sscanf(a, "%uA%n", &in, &used_a) != 1 || !used_a || a[used_a] ||
		    sscanf(b, "%uB%n", &out, &used_b) != 1 || !used_b || b[used_b])
			return to_error_set(err, -EPROTO, "its entry %s does not go from an A to a B side", key);
		if (to_circuits_add(pairs, in, out))
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int sonic_read(struct to_switch *sw, struct to_circuits *pairs, struct to_error *err)
{
	char *output;
	json_t *entries;
	int ret = sonic_run(sw, SONIC_READ, "", &output, err);

	if (ret)
		return ret;
	entries = json_loads(output, 0, NULL);
	if (json_is_object(entries))
		ret = sonic_take(entries, pairs, err);
	else
		ret = to_error_set(err, -EPROTO, "sonic-db-dump did not answer with a JSON object");
	json_decref(entries);
	free(output);
	return ret;
}

static json_t *sonic_entry(const struct to_circuit *c)
{
	char a[16], b[16];

	snprintf(a, sizeof(a), "%uA", c->in);
	snprintf(b, sizeof(b), "%uB", c->out);
	return json_pack("{s:s, s:s}", "a_side", a, "b_side", b);
}

static json_t *sonic_step(const char *op, const struct to_circuit *c)
{
	char path[64];

	snprintf(path, sizeof(path), "/OCS_CROSS_CONNECT/%uA-%uB", c->in, c->out);
	if (!strcmp(op, "remove"))
		return json_pack("{s:s, s:s}", "op", op, "path", path);
	return json_pack("{s:s, s:s, s:o}", "op", op, "path", path, "value", sonic_entry(c));
}

/*
 * The patch, for a switch that has @n_pairs. SONiC holds no empty tables: the
 * first entry comes with its table, and the last one takes it away. Both are
 * all that another job's change may get lost in, when it comes just then.
 */
static json_t *sonic_patch(const struct to_circuits *off, const struct to_circuits *on,
			   unsigned int n_pairs)
{
	json_t *patch = json_array(), *table;

	if (n_pairs == off->n && !on->n) {
		json_array_append_new(patch, json_pack("{s:s, s:s}", "op", "remove",
						       "path", "/OCS_CROSS_CONNECT"));
		return patch;
	}
	if (!n_pairs && !off->n) {
		table = json_object();
		for (unsigned int i = 0; i < on->n; i++) {
			char key[40];

			snprintf(key, sizeof(key), "%uA-%uB", on->circuit[i].in,
				 on->circuit[i].out);
			json_object_set_new(table, key, sonic_entry(&on->circuit[i]));
		}
		json_array_append_new(patch, json_pack("{s:s, s:s, s:o}", "op", "add",
						       "path", "/OCS_CROSS_CONNECT",
						       "value", table));
		return patch;
	}
	for (unsigned int i = 0; i < off->n; i++)
		json_array_append_new(patch, sonic_step("remove", &off->circuit[i]));
	for (unsigned int i = 0; i < on->n; i++)
		json_array_append_new(patch, sonic_step("add", &on->circuit[i]));
	return patch;
}

static int sonic_change(struct to_switch *sw, const struct to_circuits *off,
			const struct to_circuits *on, struct to_error *err)
{
	struct to_circuits pairs = {};
	int ret = sonic_read(sw, &pairs, err);
	char *text, *output = NULL;
	json_t *patch;

	if (ret) {
		to_circuits_free(&pairs);
		return ret == -ETIMEDOUT ? -EIO : ret;	/* nothing was asked for */
	}
	patch = sonic_patch(off, on, pairs.n);
	to_circuits_free(&pairs);
	text = json_dumps(patch, JSON_COMPACT);
	ret = text ? sonic_run(sw, SONIC_CHANGE, text, &output, err) :
	      to_error_set(err, -ENOMEM, "out of memory");
	json_decref(patch);
	free(text);
	free(output);
	return ret;
}

const struct to_switch_driver to_switch_sonic = {
	.sides = true,
	.read = sonic_read,
	.change = sonic_change,
};
