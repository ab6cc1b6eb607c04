// SPDX-License-Identifier: GPL-2.0-or-later
#include "checks.h"

#include "base/json.h"

static const char *const checks_verdicts[] = {
	[TO_CHECK_OK] = "ok", [TO_CHECK_WARN] = "warn", [TO_CHECK_FAIL] = "FAIL",
};

json_t *to_checks_json(const struct to_checks *checks)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < checks->n; i++) {
		const struct to_check *c = &checks->items[i];

		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "verdict",
			checks_verdicts[c->verdict], "check", c->name, "subject", c->subject,
			"text", c->text, "fix", c->fix));
	}
	return list;
}

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

		fprintf(out, "%-4s %s: %s: %s\n", checks_verdicts[c->verdict], c->subject,
			c->name, c->text);
		if (c->fix[0])
			fprintf(out, "     fix: %s\n", c->fix);
	}
}

bool to_checks_failed(const struct to_checks *checks)
{
	for (unsigned int i = 0; i < checks->n; i++)
		if (checks->items[i].verdict == TO_CHECK_FAIL)
			return true;
	return false;
}
