/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_COMPAT_GENL_H
#define TOPOOPT_COMPAT_GENL_H

/*
 * Generic netlink operations with separate entries for do and dump, for kernels before
 * 6.2. These have one entry per command, of the same fields, whose policy is for both.
 */

#include <net/genetlink.h>
#include <linux/topoopt.h>

#define genl_split_ops	genl_ops
#define split_ops	ops
#define n_split_ops	n_ops

/* The separate entries, as the family has them. */
static const struct genl_ops *topoopt_compat_genl_ops;

/*
 * Validate a dump request by the policy of the dump, which takes no more than that of
 * the do, by which the core has validated it.
 */
static inline int topoopt_compat_genl_dumpit(struct sk_buff *skb,
					     struct netlink_callback *cb)
{
	const struct genlmsghdr *header = nlmsg_data(cb->nlh);
	const struct genl_ops *op = topoopt_compat_genl_ops;
	int err;

	while (op->cmd != header->cmd || !op->dumpit)
		op++;
	err = __nla_validate(nlmsg_attrdata(cb->nlh, GENL_HDRLEN),
			     nlmsg_attrlen(cb->nlh, GENL_HDRLEN), op->maxattr,
			     op->policy, NL_VALIDATE_STRICT, cb->extack);
	return err ?: op->dumpit(skb, cb);
}

/* Merge the dump of a command, which comes after its do if there is one, into one entry. */
static inline int topoopt_compat_genl_register(struct genl_family *family)
{
	static struct genl_ops merged[TOPOOPT_CMD_MAX];
	unsigned int i, n = 0;

	topoopt_compat_genl_ops = family->ops;
	for (i = 0; i < family->n_ops; i++) {
		if (family->ops[i].dumpit && n && merged[n - 1].cmd == family->ops[i].cmd)
			merged[n - 1].dumpit = topoopt_compat_genl_dumpit;
		else
			merged[n++] = family->ops[i];
	}
	family->ops = merged;
	family->n_ops = n;
	return genl_register_family(family);
}

#define genl_register_family	topoopt_compat_genl_register

#endif
