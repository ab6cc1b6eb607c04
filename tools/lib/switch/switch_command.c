// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any other optical switch: a command (see to_argv_split()) that gets one JSON object on
 * standard input,
 *
 *	{"action": "read", "switch": "ocs0", "address": "...", "ports": 24,
 *	 "link_mode": "duplex"}
 *	{"action": "change", ..., "remove": [[1, 17]], "add": [[1, 18]]}
 *
 * and exits with 0 when it is done; what it writes to standard error says why
 * not. "read" is answered by {"cross_connects": [[1, 18], [2, 19]]}. Simplex
 * cross-connects go from the first port to the second, as in a plan.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "switch/switch_driver.h"

static json_t *command_array(const struct to_circuits *pairs)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < pairs->n; i++)
		json_array_append_new(array, json_pack("[I, I]", (json_int_t)pairs->circuit[i].in,
						       (json_int_t)pairs->circuit[i].out));
	return array;
}

static int command_call(const struct to_switch *sw, const char *action, json_t *more,
			char **output, struct to_error *err)
{
	const struct to_switch_control *control = &sw->optical->control;
	json_t *request = json_pack("{s:s, s:s, s:I, s:s}", "action", action,
		"switch", sw->optical->name, "ports", (json_int_t)sw->optical->n_ports,
		"link_mode", sw->mode == TO_LINKS_DUPLEX ? "duplex" : "simplex");
	struct to_argv command;
	char *input;
	int ret;

	if (control->address[0])
		json_object_set_new(request, "address", json_string(control->address));
	json_object_update_new(request, more);
	input = json_dumps(request, 0);
	json_decref(request);
	if (!input)
		return to_error_set(err, -ENOMEM, "out of memory");
	ret = to_argv_split(&command, control->command, err);
	if (!ret)
		ret = to_child_run(&command, input, control->timeout_ns, output, err);
	to_argv_free(&command);
	free(input);
	return ret;
}

static int command_take(json_t *answer, struct to_circuits *pairs, struct to_error *err)
{
	json_t *array = json_object_get(answer, "cross_connects"), *pair;
	json_int_t a, b;
	size_t i;

	if (!json_is_array(array))
		return to_error_set(err, -EPROTO, "its answer has no array \"cross_connects\"");
	json_array_foreach(array, i, pair) {
		if (json_unpack(pair, "[I, I!]", &a, &b) || a < 1 || b < 1 || a > UINT32_MAX ||
		    b > UINT32_MAX)
			return to_error_set(err, -EPROTO,
					    "its answer: cross_connects[%zu] is no pair of ports", i);
		if (to_circuits_add(pairs, a, b))
			return to_error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int command_read(struct to_switch *sw, struct to_circuits *pairs, struct to_error *err)
{
	json_error_t error;
	json_t *answer;
	char *output;
	int ret = command_call(sw, "read", json_object(), &output, err);

	if (ret)
		return ret;
	answer = json_loads(output, 0, &error);
	if (answer)
		ret = command_take(answer, pairs, err);
	else
		ret = to_error_set(err, -EPROTO, "its answer is not JSON: %s", error.text);
	json_decref(answer);
	free(output);
	return ret;
}

static int command_change(struct to_switch *sw, const struct to_circuits *off,
			  const struct to_circuits *on, struct to_error *err)
{
	struct to_circuits remove = {}, add = {};
	char *output = NULL;
	int ret = to_switch_driver_pairs(sw, off, &remove, err);

	if (!ret)
		ret = to_switch_driver_pairs(sw, on, &add, err);
	if (!ret)
		ret = command_call(sw, "change", json_pack("{s:o, s:o}", "remove",
				   command_array(&remove), "add", command_array(&add)),
				   &output, err);
	to_circuits_free(&remove);
	to_circuits_free(&add);
	free(output);
	return ret;
}

const struct to_switch_driver to_switch_command = {
	.read = command_read,
	.change = command_change,
};
