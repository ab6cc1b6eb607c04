// SPDX-License-Identifier: GPL-2.0
/* Rules and groups that a table is to be built from, in compact form. */

#include <linux/errno.h>
#include <linux/string.h>

#include "table.h"

struct topoopt_rule4 {
	const struct topoopt_group *group;
	__be32 dst;
	__be32 src;
	u32 server;
	u8 dst_len;
	u8 src_len;
	u8 type;
};

struct topoopt_rule6 {
	const struct topoopt_group *group;
	struct in6_addr dst;
	struct in6_addr src;
	u32 server;
	u8 dst_len;
	u8 src_len;
	u8 type;
};

void topoopt_routes_init(struct topoopt_routes *routes)
{
	routes->rules4.size = sizeof(struct topoopt_rule4);
	routes->rules6.size = sizeof(struct topoopt_rule6);
	routes->groups.size = sizeof(struct topoopt_group *);
}

void topoopt_routes_free(struct topoopt_routes *routes)
{
	u32 i;

	for (i = 0; i < routes->groups.count; i++)
		topoopt_group_free(*(struct topoopt_group **)
				   topoopt_array_at(&routes->groups, i));
	topoopt_routes_truncate(routes, 0, 0, 0);
}

void topoopt_routes_truncate(struct topoopt_routes *routes, u32 rules4,
			     u32 rules6, u32 groups)
{
	topoopt_array_truncate(&routes->rules4, rules4);
	topoopt_array_truncate(&routes->rules6, rules6);
	topoopt_array_truncate(&routes->groups, groups);
}

int topoopt_routes_add(struct topoopt_routes *routes,
		       const struct topoopt_rule *rule)
{
	struct topoopt_rule4 *rule4;
	struct topoopt_rule6 *rule6;

	if (!rule->v6) {
		rule4 = topoopt_array_push(&routes->rules4);
		if (!rule4)
			return -ENOMEM;
		rule4->group = rule->route.group;
		rule4->dst = rule->dst.s6_addr32[0];
		rule4->src = rule->src.s6_addr32[0];
		rule4->server = rule->route.server;
		rule4->dst_len = rule->dst_len;
		rule4->src_len = rule->src_len;
		rule4->type = rule->route.type;
		return 0;
	}

	rule6 = topoopt_array_push(&routes->rules6);
	if (!rule6)
		return -ENOMEM;
	rule6->group = rule->route.group;
	rule6->dst = rule->dst;
	rule6->src = rule->src;
	rule6->server = rule->route.server;
	rule6->dst_len = rule->dst_len;
	rule6->src_len = rule->src_len;
	rule6->type = rule->route.type;
	return 0;
}

bool topoopt_routes_at(const struct topoopt_routes *routes, u32 index,
		       struct topoopt_rule *rule)
{
	const struct topoopt_rule4 *rule4;
	const struct topoopt_rule6 *rule6;

	if (index < routes->rules4.count) {
		rule4 = topoopt_array_at(&routes->rules4, index);
		memset(rule, 0, sizeof(*rule));
		rule->dst.s6_addr32[0] = rule4->dst;
		rule->src.s6_addr32[0] = rule4->src;
		rule->route.group = rule4->group;
		rule->route.server = rule4->server;
		rule->route.type = rule4->type;
		rule->dst_len = rule4->dst_len;
		rule->src_len = rule4->src_len;
		return true;
	}

	index -= routes->rules4.count;
	if (index >= routes->rules6.count)
		return false;
	rule6 = topoopt_array_at(&routes->rules6, index);
	rule->dst = rule6->dst;
	rule->src = rule6->src;
	rule->route.group = rule6->group;
	rule->route.server = rule6->server;
	rule->route.type = rule6->type;
	rule->dst_len = rule6->dst_len;
	rule->src_len = rule6->src_len;
	rule->v6 = true;
	return true;
}
