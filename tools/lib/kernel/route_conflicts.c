// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/route_conflicts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/upkeep.h"

#define CONFLICT_BATCH 256u	/* questions at once; their answers fit into the receive queue */
#define CONFLICT_MESSAGE 96u	/* bytes of a question at most */

/** struct question - which way to an address? */
struct question {
	uint8_t family;
	bool has_source;
	uint8_t dst[16], source[16];
	uint32_t expected;	/* interface that the plan's route leads to, 0: none */
	uint32_t table;		/* that has this route */
	uint8_t len;		/* prefix length of this route */
};

/** struct answer - the kernel's route to it */
struct answer {
	int code;		/* 0, or a negative errno: there is none, or it rejects */
	uint8_t type, protocol, dst_len, dst[16];
	uint32_t table, ifindex;
	uint32_t metric;	/* of one that rejects, 0: not set */
};

/** struct rule - a rule of the kernel's, as far as packets of this server without a mark go */
struct rule {
	uint32_t priority, table;
	uint8_t family, action, src_len, dst_len, src[16], dst[16];
};

/** struct search - what is asked, and what came of it */
struct search {
	struct to_netlink *rt;
	const struct to_interfaces *found;
	const struct to_entries *entries;
	struct question *questions;
	struct answer *answers;
	unsigned int n, room;
	struct rule *rules;
	unsigned int n_rules;
	struct answer *rejects;	/* routes that reject */
	unsigned int n_rejects;
	uint32_t first;		/* sequence number of the first question of the batch */
	unsigned int base;	/* its index */
	struct to_route_conflicts *conflicts;
};

static unsigned int conflict_bytes(uint8_t family)
{
	return family == AF_INET ? 4 : 16;
}

static bool conflict_covers(const uint8_t *prefix, unsigned int len, const uint8_t *address)
{
	const unsigned int bytes = len / 8, bits = len % 8;

	return !memcmp(prefix, address, bytes) &&
	       (!bits || !((prefix[bytes] ^ address[bytes]) & (0xff00 >> bits) & 0xff));
}

/* ---- questions ---- */

static bool conflict_is_up(const struct search *s, uint32_t ifindex)
{
	const struct to_nic *nic = to_rtnl_nic_by_index(s->found->nics, s->found->n_nics, ifindex);

	return nic && nic->flags & IFF_UP;
}

static int conflict_compare(const void *a, const void *b)
{
	return memcmp(a, b, TO_ENTRY_KEY);
}

/*
 * The longest route to @q->dst of @q->table among @entries, which are sorted. An interface that is
 * down has none.
 */
static void conflict_expect(const struct search *s, struct question *q)
{
	struct to_entry key = { .kind = TO_ENTRY_ROUTE, .family = q->family, .table = q->table,
				.dst_len = 8 * conflict_bytes(q->family) };
	const struct to_entry *best;

	memcpy(key.dst, q->dst, sizeof(key.dst));
	best = bsearch(&key, s->entries->items, s->entries->n, sizeof(key), conflict_compare);
	while (!best && key.dst_len) {
		key.dst_len--;
		key.dst[key.dst_len / 8] &= 0xff00 >> key.dst_len % 8;
		best = bsearch(&key, s->entries->items, s->entries->n, sizeof(key),
			       conflict_compare);
	}
	q->expected = best && conflict_is_up(s, best->ifindex) ? best->ifindex : 0;
	q->len = key.dst_len;
}

static int conflict_add(struct search *s, const struct question *q)
{
	struct question *questions = s->questions;

	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		questions = realloc(questions, s->room * sizeof(*questions));
		if (!questions)
			return -ENOMEM;
		s->questions = questions;
	}
	questions[s->n++] = *q;
	return 0;
}

/* From all sources that have a rule, and from none: @family's address of a server or a port. */
static int conflict_add_address(struct search *s, uint8_t family, const struct to_address *address,
				bool port)
{
	struct question q = { .family = family, .table = RT_TABLE_MAIN };
	int ret = 0;

	if (!(family == AF_INET ? address->has_v4 : address->has_v6))
		return 0;
	memcpy(q.dst, family == AF_INET ? (const void *)&address->v4 : &address->v6,
	       conflict_bytes(family));
	conflict_expect(s, &q);
	if (q.expected)
		ret = conflict_add(s, &q);
	for (unsigned int i = 0; !ret && port && i < s->entries->n; i++) {
		const struct to_entry *rule = &s->entries->items[i];

		if (rule->kind != TO_ENTRY_RULE || rule->family != family)
			continue;
		q.has_source = true;
		memcpy(q.source, rule->dst, sizeof(q.source));
		q.table = rule->table;
		conflict_expect(s, &q);
		if (q.expected)
			ret = conflict_add(s, &q);
	}
	return ret;
}

static int conflict_ask_all(struct search *s, const struct to_plan *plan, unsigned int server)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	const struct to_cluster *c = plan->cluster;
	int ret = 0;

	for (unsigned int f = 0; f < 2; f++)
		for (unsigned int i = 0; !ret && i < c->n_servers; i++) {
			const struct to_server *other = &c->servers[i];

			if (i == server)
				continue;
			ret = conflict_add_address(s, families[f], &other->address, false);
			for (unsigned int p = 0; !ret && p < other->n_ports; p++)
				ret = conflict_add_address(s, families[f],
							   &other->ports[p].address, true);
		}
	return ret;
}

/* ---- answers ---- */

static void conflict_copy(uint8_t to[16], const struct nlattr *nla)
{
	if (mnl_attr_get_payload_len(nla) <= 16)
		memcpy(to, mnl_attr_get_payload(nla), mnl_attr_get_payload_len(nla));
}

static int conflict_reply(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = to_netlink_header(nlh, sizeof(*rtm));
	const unsigned int i = nlh->nlmsg_seq - ((struct search *)arg)->first;
	struct search *s = arg;
	const struct nlattr *nla;
	struct answer *a;

	if (!rtm || i >= CONFLICT_BATCH || s->base + i >= s->n)
		return -EBADMSG;
	a = &s->answers[s->base + i];
	*a = (struct answer){ .type = rtm->rtm_type, .protocol = rtm->rtm_protocol,
			      .dst_len = rtm->rtm_dst_len, .table = rtm->rtm_table };
	mnl_attr_for_each(nla, nlh, sizeof(*rtm)) {
		switch (mnl_attr_get_type(nla)) {
		case RTA_TABLE:
			a->table = to_attr_u32(nla);
			break;
		case RTA_OIF:
			a->ifindex = to_attr_u32(nla);
			break;
		case RTA_DST:
			conflict_copy(a->dst, nla);
			break;
		}
	}
	return 0;
}

static int conflict_failed(unsigned int index, int code, void *arg)
{
	struct search *s = arg;

	s->answers[s->base + index].code = code;
	return 0;
}

static size_t conflict_put(void *buf, const struct question *q)
{
	const unsigned int bytes = conflict_bytes(q->family);
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));

	nlh->nlmsg_type = RTM_GETROUTE;
	rtm->rtm_family = q->family;
	rtm->rtm_dst_len = 8 * bytes;
	/* IPv6 tells the table without being asked, and refuses the flag */
	rtm->rtm_flags = RTM_F_FIB_MATCH | (q->family == AF_INET ? RTM_F_LOOKUP_TABLE : 0);
	mnl_attr_put(nlh, RTA_DST, bytes, q->dst);
	if (q->has_source) {
		rtm->rtm_src_len = 8 * bytes;
		mnl_attr_put(nlh, RTA_SRC, bytes, q->source);
	}
	return NLMSG_ALIGN(nlh->nlmsg_len);
}

static int conflict_ask(struct search *s, struct to_error *err)
{
	char *buf = malloc(CONFLICT_BATCH * CONFLICT_MESSAGE);
	int ret = 0;

	s->answers = calloc((size_t)s->n + 1, sizeof(*s->answers));
	if (!buf || !s->answers)
		ret = to_error_set(err, -ENOMEM, "out of memory");
	for (s->base = 0; !ret && s->base < s->n; s->base += CONFLICT_BATCH) {
		size_t len = 0;

		for (unsigned int i = s->base; i < s->n && i < s->base + CONFLICT_BATCH; i++)
			len += conflict_put(buf + len, &s->questions[i]);
		s->first = s->rt->seq + 1;
		ret = to_netlink_get(s->rt, buf, len, conflict_reply, conflict_failed, s, err);
	}
	free(buf);
	return ret;
}

/* ---- rules ---- */

static int conflict_add_rule(const struct nlmsghdr *nlh, void *arg)
{
	const struct fib_rule_hdr *frh = to_netlink_header(nlh, sizeof(*frh));
	struct search *s = arg;
	const struct nlattr *nla;
	struct rule rule, *rules;

	if (!frh)
		return -EBADMSG;
	if (frh->tos || frh->flags & FIB_RULE_INVERT)
		return 0;
	rule = (struct rule){ .family = frh->family, .action = frh->action, .table = frh->table,
			      .src_len = frh->src_len, .dst_len = frh->dst_len };
	mnl_attr_for_each(nla, nlh, sizeof(*frh)) {
		switch (mnl_attr_get_type(nla)) {
		case FRA_TABLE:
			rule.table = to_attr_u32(nla);
			break;
		case FRA_PRIORITY:
			rule.priority = to_attr_u32(nla);
			break;
		case FRA_SRC:
			conflict_copy(rule.src, nla);
			break;
		case FRA_DST:
			conflict_copy(rule.dst, nla);
			break;
		case FRA_FWMARK:
			if (to_attr_u32(nla))
				return 0;
			break;
		case FRA_IIFNAME:
			if (strcmp(to_attr_text(nla), "lo"))
				return 0;
			break;
		case FRA_OIFNAME:
		case FRA_IP_PROTO:
		case FRA_SPORT_RANGE:
		case FRA_DPORT_RANGE:
			return 0;
		}
	}
	rules = realloc(s->rules, (s->n_rules + 1) * sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	s->rules = rules;
	rules[s->n_rules++] = rule;
	return 0;
}

static void conflict_clear_rules(void *arg)
{
	((struct search *)arg)->n_rules = 0;
}

static int conflict_read_rules(struct search *s, uint8_t family, struct to_error *err)
{
	struct nlmsghdr *nlh;
	struct fib_rule_hdr *frh;
	char buf[256];

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETRULE;
	frh = mnl_nlmsg_put_extra_header(nlh, sizeof(*frh));
	frh->family = family;
	s->n_rules = 0;
	return to_netlink_dump(s->rt, nlh, conflict_add_rule, conflict_clear_rules, s, err);
}

/* ---- what rejects ---- */

static const char *conflict_reject_name(uint8_t type)
{
	return type == RTN_BLACKHOLE ? "blackhole" : type == RTN_PROHIBIT ? "prohibit" :
	       type == RTN_UNREACHABLE ? "unreachable" : NULL;
}

static int conflict_add_reject(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = to_netlink_header(nlh, sizeof(*rtm));
	struct search *s = arg;
	const struct nlattr *nla;
	struct answer *a;

	if (!rtm)
		return -EBADMSG;
	if (!conflict_reject_name(rtm->rtm_type))
		return 0;
	a = realloc(s->rejects, (s->n_rejects + 1) * sizeof(*a));
	if (!a)
		return -ENOMEM;
	s->rejects = a;
	a += s->n_rejects++;
	*a = (struct answer){ .type = rtm->rtm_type, .protocol = rtm->rtm_protocol,
			      .dst_len = rtm->rtm_dst_len, .table = rtm->rtm_table };
	mnl_attr_for_each(nla, nlh, sizeof(*rtm)) {
		if (mnl_attr_get_type(nla) == RTA_TABLE)
			a->table = to_attr_u32(nla);
		else if (mnl_attr_get_type(nla) == RTA_DST)
			conflict_copy(a->dst, nla);
		else if (mnl_attr_get_type(nla) == RTA_PRIORITY)
			a->metric = to_attr_u32(nla);
	}
	return 0;
}

static void conflict_clear_rejects(void *arg)
{
	((struct search *)arg)->n_rejects = 0;
}

static int conflict_read_rejects(struct search *s, uint8_t family, struct to_error *err)
{
	struct nlmsghdr *nlh;
	struct rtmsg *rtm;
	char buf[256];

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETROUTE;
	rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));
	rtm->rtm_family = family;
	s->n_rejects = 0;
	return to_netlink_dump(s->rt, nlh, conflict_add_reject, conflict_clear_rejects, s, err);
}

/* The longest route of @table that rejects @q; NULL: none. */
static const struct answer *conflict_reject(const struct search *s, const struct question *q,
					    uint32_t table)
{
	const struct answer *best = NULL;

	for (unsigned int i = 0; i < s->n_rejects; i++) {
		const struct answer *a = &s->rejects[i];

		if (a->table == table && conflict_covers(a->dst, a->dst_len, q->dst) &&
		    (!best || a->dst_len > best->dst_len))
			best = a;
	}
	return best;
}

/* Whether @rule gave the answer @a, which gets the route where one of its table rejects. */
static bool conflict_decides(const struct search *s, const struct question *q,
			     const struct rule *rule, struct answer *a)
{
	const struct answer *reject;

	if (!a->code)
		return rule->action == FR_ACT_TO_TBL && rule->table == a->table;
	if (rule->action != FR_ACT_TO_TBL)
		return rule->action != FR_ACT_GOTO && rule->action != FR_ACT_NOP;
	reject = conflict_reject(s, q, rule->table);
	if (reject) {
		const int code = a->code;

		*a = *reject;
		a->code = code;
	}
	return reject;
}

/* The first rule that leads @q to the table of @a, or that rejects it; NULL: unknown. */
static const struct rule *conflict_rule(const struct search *s, const struct question *q,
					struct answer *a)
{
	for (unsigned int i = 0; i < s->n_rules; i++) {
		const struct rule *rule = &s->rules[i];

		if (rule->family != q->family || !conflict_covers(rule->dst, rule->dst_len, q->dst) ||
		    (rule->src_len && !q->has_source) ||
		    !conflict_covers(rule->src, rule->src_len, q->source))
			continue;
		if (conflict_decides(s, q, rule, a))
			return rule;
	}
	return NULL;
}

/* ---- addresses ---- */

/** struct holder - an address of this server */
struct holder {
	const uint8_t *address;
	unsigned int bytes, len;	/* length of @address in bytes; of its prefix, 0: not found */
};

static int conflict_find_address(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifaddrmsg *ifa = to_netlink_header(nlh, sizeof(*ifa));
	struct holder *h = arg;
	const struct nlattr *nla;

	if (!ifa)
		return -EBADMSG;
	mnl_attr_for_each(nla, nlh, sizeof(*ifa)) {
		const uint16_t type = mnl_attr_get_type(nla);

		if ((type == IFA_LOCAL || type == IFA_ADDRESS) &&
		    mnl_attr_get_payload_len(nla) == h->bytes &&
		    !memcmp(mnl_attr_get_payload(nla), h->address, h->bytes))
			h->len = ifa->ifa_prefixlen;
	}
	return 0;
}

/* Length of the prefix that the address @q->dst has at @ifindex, 0: it is none. */
static unsigned int conflict_prefix(const struct search *s, const struct question *q,
				    uint32_t ifindex)
{
	struct holder holder = { .address = q->dst, .bytes = conflict_bytes(q->family) };
	struct nlmsghdr *nlh;
	struct ifaddrmsg *ifa;
	char buf[256];

	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = RTM_GETADDR;
	ifa = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifa));
	ifa->ifa_family = q->family;
	ifa->ifa_index = ifindex;
	return to_netlink_dump(s->rt, nlh, conflict_find_address, NULL, &holder, NULL) ? 0 :
	       holder.len;
}

/* ---- conflicts ---- */

static const char *conflict_table(uint32_t table, char text[16])
{
	if (table == RT_TABLE_MAIN || table == RT_TABLE_LOCAL)
		return strcpy(text, table == RT_TABLE_MAIN ? "main" : "local");
	snprintf(text, 16, "%u", table);
	return text;
}

static bool conflict_is_own(const struct question *q, const struct answer *a)
{
	return !a->code && a->type == RTN_UNICAST && a->protocol == TO_RTNL_PROTOCOL &&
	       a->ifindex == q->expected;
}

/* A route that wins only as the plan's is missing is no conflict, nor is another one of apply's. */
static bool conflict_is_missing(const struct question *q, const struct answer *a,
				const struct rule *rule)
{
	if (a->code && !a->type)
		return a->code == -ENETUNREACH && !rule;
	return (a->table == q->table && a->dst_len < q->len) ||
	       (!a->code && a->protocol == TO_RTNL_PROTOCOL);
}

static const char *conflict_name(const struct search *s, uint32_t ifindex)
{
	const struct to_nic *nic = to_rtnl_nic_by_index(s->found->nics, s->found->n_nics, ifindex);

	return nic ? nic->name : "?";
}

static bool conflict_is_other_rule(const struct rule *rule)
{
	/* the kernel's own three, and those of apply */
	return rule && rule->priority && rule->priority != 32766 && rule->priority != 32767 &&
	       rule->priority != TO_RTNL_RULE_PRIORITY;
}

/* The command that removes what wins: a rule, else an address, else a route. */
static void conflict_fix(const struct search *s, const struct question *q, const struct answer *a,
			 const struct rule *rule, const char *route, struct to_route_conflict *c)
{
	const char *ip = q->family == AF_INET6 ? "ip -6" : "ip", *name = conflict_name(s, a->ifindex);
	const unsigned int len = !a->code && a->type == RTN_LOCAL ?
				 conflict_prefix(s, q, a->ifindex) : 0;
	char number[16], metric[24] = "";

	conflict_table(a->table, number);
	if (a->metric)
		snprintf(metric, sizeof(metric), " metric %u", a->metric);
	if (conflict_is_other_rule(rule))
		snprintf(c->fix, sizeof(c->fix), "%s rule del priority %u", ip, rule->priority);
	else if (len)
		snprintf(c->fix, sizeof(c->fix), "%s address del %s/%u dev %s", ip, c->subject, len,
			 name);
	else if (!a->code)
		snprintf(c->fix, sizeof(c->fix), "%s route del %s%s dev %s table %s", ip,
			 a->type == RTN_LOCAL ? "local " : "", route, name, number);
	else if (a->type)
		snprintf(c->fix, sizeof(c->fix), "%s route del %s %s table %s%s", ip,
			 conflict_reject_name(a->type), route, number, metric);
}

static void conflict_describe(const struct search *s, const struct question *q,
			      const struct answer *a, const struct rule *rule,
			      struct to_route_conflict *c)
{
	char address[INET6_ADDRSTRLEN], route[INET6_ADDRSTRLEN + 4], number[16], by[48] = "";

	inet_ntop(q->family, q->dst, c->subject, sizeof(c->subject));
	inet_ntop(q->family, a->dst, address, sizeof(address));
	snprintf(route, sizeof(route), "%s/%u", address, a->dst_len);
	conflict_fix(s, q, a, rule, route, c);
	if (conflict_is_other_rule(rule))
		snprintf(by, sizeof(by), ", by rule %u", rule->priority);
	if (a->code)
		snprintf(c->text, sizeof(c->text), "rejected%s: %s; the plan's route leads to %s",
			 by, strerror(-a->code), conflict_name(s, q->expected));
	else if (a->type == RTN_LOCAL)
		snprintf(c->text, sizeof(c->text),
			 "an address of this server, too; the plan's route leads to %s",
			 conflict_name(s, q->expected));
	else
		snprintf(c->text, sizeof(c->text),
			 "route %s dev %s of table %s%s wins over the plan's to %s", route,
			 conflict_name(s, a->ifindex), conflict_table(a->table, number), by,
			 conflict_name(s, q->expected));
}

/* One rule or route that takes many addresses is one conflict. */
static void conflict_note(struct search *s, const struct question *q, const struct answer *a)
{
	struct to_route_conflicts *all = s->conflicts;
	struct answer found = *a;
	const struct rule *rule = conflict_rule(s, q, &found);
	struct to_route_conflict one = { .n = 1 };

	if (conflict_is_missing(q, &found, rule))
		return;
	conflict_describe(s, q, &found, rule, &one);
	for (unsigned int i = 0; i < all->n; i++)
		if (!strcmp(all->items[i].text, one.text) && !strcmp(all->items[i].fix, one.fix)) {
			all->items[i].n++;
			return;
		}
	if (all->n < TO_ROUTE_CONFLICTS_MAX)
		all->items[all->n++] = one;
	else
		all->more++;
}

/* A rule of apply's takes no packets from an address that is not there. */
static bool conflict_has_source(const struct search *s, const struct question *q)
{
	for (unsigned int i = 0; q->has_source && i < s->entries->n; i++) {
		const struct to_entry *e = &s->entries->items[i];

		if (e->kind == TO_ENTRY_ADDRESS && e->family == q->family &&
		    !memcmp(e->dst, q->source, sizeof(q->source)))
			return true;
	}
	return !q->has_source;
}

static int conflict_judge(struct search *s, struct to_error *err)
{
	bool rejects = false;	/* of @family are known */
	uint8_t family = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->n; i++) {
		const struct question *q = &s->questions[i];

		if (conflict_is_own(q, &s->answers[i]) || !conflict_has_source(s, q))
			continue;
		if (family != q->family) {
			ret = conflict_read_rules(s, q->family, err);
			rejects = false;
		}
		family = q->family;
		if (!ret && s->answers[i].code && !rejects) {
			ret = conflict_read_rejects(s, family, err);
			rejects = true;
		}
		if (!ret)
			conflict_note(s, q, &s->answers[i]);
	}
	return ret;
}

int to_route_conflicts_find(struct to_netlink *rt, const struct to_plan *plan, unsigned int server,
			    const struct to_interfaces *found, const struct to_entries *entries,
			    struct to_route_conflicts *conflicts, struct to_error *err)
{
	struct search s = { .rt = rt, .found = found, .entries = entries, .conflicts = conflicts };
	int ret;

	*conflicts = (struct to_route_conflicts){};
	ret = conflict_ask_all(&s, plan, server) ? to_error_set(err, -ENOMEM, "out of memory") : 0;
	ret = ret ? ret : conflict_ask(&s, err);
	ret = ret ? ret : conflict_judge(&s, err);
	free(s.questions);
	free(s.answers);
	free(s.rules);
	free(s.rejects);
	return ret;
}

int to_route_conflicts_here(const struct to_plan *plan, unsigned int server, const char *device,
			    struct to_route_conflicts *conflicts, struct to_error *err)
{
	struct to_apply_kept kept = {};
	struct to_upkeep upkeep;
	int ret = to_upkeep_look(&upkeep, plan, server, device, &kept, err);

	*conflicts = (struct to_route_conflicts){};
	if (!ret)
		ret = to_route_conflicts_find(&kept.rt, plan, server, &upkeep.found,
					      &upkeep.entries, conflicts, err);
	to_upkeep_close(&upkeep);
	to_apply_kept_close(&kept);
	return ret;
}
