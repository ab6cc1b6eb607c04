// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/qdisc.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

/* A dump of all interfaces' qdiscs. */
struct qdisc_list {
	uint32_t ifindex, length;
	struct to_qdisc *found;
	unsigned int n;
};

static const struct nlattr *qdisc_option(const struct nlattr *options, int type)
{
	const struct nlattr *option;

	mnl_attr_for_each_nested(option, options)
		if (mnl_attr_get_type(option) == type)
			return option;
	return NULL;
}

static uint32_t qdisc_number(const struct nlattr *options, int type)
{
	const struct nlattr *option = qdisc_option(options, type);

	return option ? to_attr_u32(option) : 0;
}

static void qdisc_red(struct to_qdisc *q, const struct nlattr *options)
{
	const struct nlattr *option = qdisc_option(options, TCA_RED_PARMS);
	struct tc_red_qopt parms;

	if (!option || mnl_attr_get_payload_len(option) < sizeof(parms))
		return;
	memcpy(&parms, mnl_attr_get_payload(option), sizeof(parms));
	q->bytes = parms.limit;
	q->marks = parms.flags & TC_RED_ECN;
	q->mark_bytes = parms.qth_min;
}

static void qdisc_codel(struct to_qdisc *q, const struct nlattr *options)
{
	const struct nlattr *threshold = qdisc_option(options, TCA_FQ_CODEL_CE_THRESHOLD);

	q->packets = qdisc_number(options, TCA_FQ_CODEL_LIMIT);
	q->marks = threshold || qdisc_number(options, TCA_FQ_CODEL_ECN);
	q->mark_us = threshold ? to_attr_u32(threshold) :
				 qdisc_number(options, TCA_FQ_CODEL_TARGET);
}

static void qdisc_fifo(struct to_qdisc *q, const struct nlattr *options)
{
	const struct tc_fifo_qopt *fifo = mnl_attr_get_payload(options);
	const bool told = mnl_attr_get_payload_len(options) >= sizeof(*fifo);

	if (!strcmp(q->kind, "bfifo"))
		q->bytes = told ? fifo->limit : 0;
	else
		q->packets = told ? fifo->limit : 0;
}

static void qdisc_parse(struct to_qdisc *q, const struct nlattr *options, uint32_t length)
{
	if (!strcmp(q->kind, "pfifo_fast"))
		q->packets = length;
	else if (options && !strcmp(q->kind, "red"))
		qdisc_red(q, options);
	else if (options && !strcmp(q->kind, "fq_codel"))
		qdisc_codel(q, options);
	else if (options && (!strcmp(q->kind, "pfifo") || !strcmp(q->kind, "bfifo")))
		qdisc_fifo(q, options);
	else if (options && !strcmp(q->kind, "fq"))
		q->packets = qdisc_number(options, TCA_FQ_PLIMIT);
}

static int qdisc_add(const struct nlmsghdr *nlh, void *data)
{
	const struct tcmsg *tcm = to_netlink_header(nlh, sizeof(*tcm));
	const struct nlattr *attr, *options = NULL;
	struct qdisc_list *list = data;
	struct to_qdisc q = {};

	if (!tcm || tcm->tcm_ifindex != (int)list->ifindex || tcm->tcm_parent == TC_H_INGRESS ||
	    list->n == TO_QDISCS_MAX)
		return 0;
	mnl_attr_for_each(attr, nlh, sizeof(*tcm)) {
		if (mnl_attr_get_type(attr) == TCA_KIND)
			strncpy(q.kind, to_attr_text(attr), sizeof(q.kind) - 1);
		else if (mnl_attr_get_type(attr) == TCA_OPTIONS)
			options = attr;
	}
	q.parent = tcm->tcm_parent;
	q.handle = tcm->tcm_handle;
	qdisc_parse(&q, options, list->length);
	list->found[list->n++] = q;
	return 0;
}

static void qdisc_forget(void *data)
{
	((struct qdisc_list *)data)->n = 0;
}

/* Is another one in a class of it? */
static bool qdisc_outer(const struct qdisc_list *list, const struct to_qdisc *q)
{
	for (unsigned int i = 0; i < list->n; i++)
		if (list->found[i].parent != TC_H_ROOT &&
		    TC_H_MAJ(list->found[i].parent) == TC_H_MAJ(q->handle))
			return true;
	return false;
}

int to_qdiscs_read(struct to_netlink *rt, uint32_t ifindex, uint32_t length,
		   struct to_qdisc *found, struct to_error *err)
{
	struct qdisc_list list = { ifindex, length, found, 0 };
	char buf[MNL_NLMSG_HDRLEN + MNL_ALIGN(sizeof(struct tcmsg))] = {};
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct tcmsg *tcm = mnl_nlmsg_put_extra_header(nlh, sizeof(*tcm));
	bool outer[TO_QDISCS_MAX];
	unsigned int i, n = 0;
	int ret;

	nlh->nlmsg_type = RTM_GETQDISC;
	tcm->tcm_ifindex = ifindex;
	ret = to_netlink_dump(rt, nlh, qdisc_add, qdisc_forget, &list, err);
	if (ret)
		return ret;
	for (i = 0; i < list.n; i++)
		outer[i] = qdisc_outer(&list, &found[i]);
	for (i = 0; i < list.n; i++)
		if (!outer[i])
			found[n++] = found[i];
	return n;
}
