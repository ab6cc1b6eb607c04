// SPDX-License-Identifier: GPL-2.0-or-later
#include "moves.h"

void to_moves_print(FILE *out, const struct to_cluster *c, const char *verb,
		    const struct to_cross_connect *list, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct to_optical_switch *optical = &c->switches[list[i].optical_switch];

		if (optical->control.driver == TO_SWITCH_BY_HAND)
			fprintf(out, "%s %s %u %u\n", verb, optical->name, list[i].a, list[i].b);
	}
}

json_t *to_moves_json(const struct to_cluster *c, const struct to_cross_connect *list,
		      unsigned int n)
{
	json_t *array = json_array();

	for (unsigned int i = 0; array && i < n; i++)
		if (json_array_append_new(array, json_pack("{s:s s:I s:I}",
				"optical_switch", c->switches[list[i].optical_switch].name,
				"a", (json_int_t)list[i].a, "b", (json_int_t)list[i].b))) {
			json_decref(array);
			return NULL;
		}
	return array;
}
