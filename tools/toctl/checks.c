// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks.h"

#include "base/json.h"

void to_checks_print(FILE *out, const struct to_call *call, const struct to_checks *checks)
{
	if (call->json) {
		json_t *list = to_checks_json(checks);

		to_json_write(list, out, JSON_INDENT(2));
		putc('\n', out);
		json_decref(list);
		return;
	}
	for (unsigned int i = 0; i < checks->n; i++) {
		const struct to_check *c = &checks->items[i];

		fprintf(out, "%-4s %s: %s: %s\n", to_verdict_names[c->verdict], c->subject,
			c->name, c->text);
		if (c->fix[0])
			fprintf(out, "     fix: %s\n", c->fix);
	}
}
