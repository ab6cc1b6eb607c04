// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/unprotected.h"

#include <string.h>

const char *to_unprotected_link(const struct to_cluster *c, const struct to_link *l,
				char text[TO_UNPROTECTED_LINK_MAX])
{
	char a[TO_DOWN_NAME_MAX], b[TO_DOWN_NAME_MAX];

	snprintf(text, TO_UNPROTECTED_LINK_MAX, "%s %s %s", to_down_name(c, l->a, a),
		 c->link_mode == TO_LINKS_DUPLEX ? "-" : ">", to_down_name(c, l->b, b));
	return text;
}

const char *to_unprotected_text(const struct to_plan *plan, const struct to_unprotected *u,
				char text[TO_UNPROTECTED_TEXT_MAX])
{
	const struct to_cluster *c = plan->cluster;
	const struct to_server *dst = &c->servers[u->dst];
	char link[TO_UNPROTECTED_LINK_MAX], address[TO_DOWN_NAME_MAX + 4] = "";
	size_t at;

	if (u->slot)
		snprintf(address, sizeof(address), " (%s:%s)", dst->name, dst->ports[u->slot - 1].name);
	snprintf(text, TO_UNPROTECTED_TEXT_MAX, "%s > %s%s", c->servers[u->src].name, dst->name, address);
	at = strlen(text);
	if (u->link != UINT32_MAX)
		snprintf(text + at, TO_UNPROTECTED_TEXT_MAX - at, " while %s is dark",
			 to_unprotected_link(c, &c->links[u->link], link));
	at = strlen(text);
	if (u->packet_switch)
		snprintf(text + at, TO_UNPROTECTED_TEXT_MAX - at, " while %s is down",
			 c->packet_switches[u->packet_switch - 1].name);
	return text;
}

json_t *to_unprotected_json(const struct to_plan *plan, const struct to_unprotected *list,
			    unsigned int n)
{
	json_t *array = json_array();
	char text[TO_UNPROTECTED_TEXT_MAX];

	for (unsigned int i = 0; array && i < n; i++)
		json_array_append_new(array, json_string(to_unprotected_text(plan, &list[i], text)));
	return array;
}

json_t *to_failure_cases_json(const struct to_failure_cases *c)
{
	return json_pack("{s:I s:I s:I s:I s:I}",
			 "cases", (json_int_t)c->cases, "covered", (json_int_t)c->covered,
			 "uncovered", (json_int_t)c->uncovered,
			 "last_hops", (json_int_t)c->last_hops,
			 "disconnected", (json_int_t)c->disconnected);
}
