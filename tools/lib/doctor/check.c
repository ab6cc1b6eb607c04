// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/check.h"

#include <errno.h>
#include <glob.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/text.h"
#include "format/names.h"
#include "kernel/netlink.h"

void to_check_add(struct to_checks *checks, enum to_verdict verdict,
		  const char *name, const char *subject, const char *fix,
		  const char *fmt, ...)
{
	char line[TO_LINE_MAX];
	struct to_check *c;
	va_list ap;

	if (checks->n == checks->room) {
		unsigned int room = checks->room ? 2 * checks->room : 64;

		c = realloc(checks->items, room * sizeof(*c));
		if (!c)
			return;
		checks->items = c;
		checks->room = room;
	}
	c = &checks->items[checks->n++];
	c->verdict = verdict;
	to_text_clean(c->name, sizeof(c->name), name);
	to_text_clean(c->subject, sizeof(c->subject), subject);
	to_text_clean(c->fix, sizeof(c->fix), fix ? fix : "");
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	to_text_clean(c->text, sizeof(c->text), line);
}

const char *const to_verdict_names[] = {
	[TO_CHECK_OK] = "ok", [TO_CHECK_WARN] = "warn", [TO_CHECK_FAIL] = "FAIL",
};

json_t *to_checks_json(const struct to_checks *checks)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < checks->n; i++) {
		const struct to_check *c = &checks->items[i];

		json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s, s:s}", "verdict",
			to_verdict_names[c->verdict], "check", c->name, "subject", c->subject,
			"text", c->text, "fix", c->fix));
	}
	return array;
}

void to_checks_take(struct to_checks *checks, const json_t *array)
{
	const json_t *object;
	size_t i;

	json_array_foreach(array, i, object) {
		const char *verdict, *name, *subject, *text, *fix;
		enum to_verdict v = TO_CHECK_OK;

		if (json_unpack((json_t *)object, "{s:s, s:s, s:s, s:s, s:s}", "verdict", &verdict,
				"check", &name, "subject", &subject, "text", &text, "fix", &fix))
			continue;
		while (v < TO_CHECK_FAIL && strcmp(verdict, to_verdict_names[v]))
			v++;
		to_check_add(checks, v, name, subject, fix, "%s", text);
	}
}

bool to_checks_failed(const struct to_checks *checks)
{
	for (unsigned int i = 0; i < checks->n; i++)
		if (checks->items[i].verdict == TO_CHECK_FAIL)
			return true;
	return false;
}

void to_checks_free(struct to_checks *checks)
{
	free(checks->items);
	memset(checks, 0, sizeof(*checks));
}

/* Whether modules.dep of the running kernel names the module. */
static bool check_module_installed(const char *release)
{
	char path[512], *line = NULL;
	bool found = false;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0)
		found = strstr(line, "/topoopt_fwd.ko");
	free(line);
	fclose(file);
	return found;
}

void to_check_view_plan(struct to_check_view *view, const struct to_plan *plan,
			unsigned int server)
{
	const struct to_server *self = &plan->cluster->servers[server];

	view->plan = plan;
	view->server = server;
	view->n_ports = self->n_ports;
	for (unsigned int p = 0; p < self->n_ports; p++) {
		view->ports[p] = self->ports[p].name;
		view->rdma[p] = to_port_rdma(&self->ports[p]);
	}
}

bool to_check_two(const struct to_check_view *view, unsigned int p)
{
	return strcmp(view->ports[p], view->rdma[p]);
}

bool to_check_dark(const struct to_check_view *view, unsigned int p)
{
	const struct to_port_ref at = { view->server, p };
	struct to_port_ref peer;

	if (!view->plan)
		return false;
	return view->plan->cluster->servers[view->server].ports[p].packet_switch ?
	       to_plan_does_without(view->plan, at) : to_plan_peer(view->plan, at, &peer);
}

/* Whether DKMS has the module's source. */
static bool check_module_packaged(void)
{
	glob_t found;
	bool packaged = !glob("/usr/src/topoopt-fwd-*/dkms.conf", 0, NULL, &found);

	globfree(&found);
	return packaged;
}

void to_check_module(struct to_checks *checks, const struct to_module *module)
{
	char text[TO_MODULE_TEXT];
	struct utsname name;

	if (module) {
		bool old = !to_module_has(module, TOPOOPT_FEATURE_CHECKS);

		to_check_add(checks, old ? TO_CHECK_WARN : TO_CHECK_OK, "module", "topoopt_fwd",
			     old ? "reload the module: modprobe -r topoopt_fwd; modprobe topoopt_fwd" :
				   NULL,
			     "loaded, %s", to_module_text(module, text));
		return;
	}
	uname(&name);
	if (check_module_installed(name.release))
		to_check_add(checks, TO_CHECK_FAIL, "module", "topoopt_fwd",
			     "modprobe topoopt_fwd", "not loaded");
	else
		to_check_add(checks, TO_CHECK_FAIL, "module", "topoopt_fwd",
			     check_module_packaged() ?
				     "install this kernel's headers: DKMS builds the module then" :
				     "make && make install",
			     "not installed for kernel %s", name.release);
}

/* Value of a number under /proc/sys, -1 when it is not there. */
static int check_sysctl_read(const char *fmt, const char *name)
{
	char path[128];
	int value = -1;
	FILE *file;

	snprintf(path, sizeof(path), fmt, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

/*
 * Strict reverse-path filtering drops packets that arrive on another port than
 * the one the reply would leave by: ICMP errors from relays, for example.
 */
static void check_rp_filter(struct to_checks *checks, const char *name)
{
	int all = check_sysctl_read("/proc/sys/net/ipv4/conf/%s/rp_filter", "all");
	int own = check_sysctl_read("/proc/sys/net/ipv4/conf/%s/rp_filter", name);
	char fix[200];

	if (own < 0)
		return;
	/* The kernel takes the larger of the two; 1 is strict, 2 loose. */
	if ((all > own ? all : own) != 1) {
		to_check_add(checks, TO_CHECK_OK, "rp_filter", name, NULL, "not strict");
		return;
	}
	snprintf(fix, sizeof(fix), "sysctl -w net.ipv4.conf.%s.rp_filter=2", name);
	to_check_add(checks, TO_CHECK_WARN, "rp_filter", name, fix,
		     "strict: drops ICMP errors of relays that arrive on another port than the route back uses");
}

static void check_ipv6(struct to_checks *checks, const char *name)
{
	char fix[200];

	if (check_sysctl_read("/proc/sys/net/ipv6/conf/%s/disable_ipv6", name) < 1)
		return;
	snprintf(fix, sizeof(fix), "sysctl -w net.ipv6.conf.%s.disable_ipv6=0", name);
	to_check_add(checks, TO_CHECK_WARN, "ipv6", name, fix,
		     "IPv6 is off: the plan's IPv6 addresses are left out");
}

void to_check_sysctl(struct to_checks *checks, const char *device,
		     const struct to_check_view *view)
{
	int forward = check_sysctl_read("/proc/sys/net/ipv4/%s", "ip_forward");

	check_rp_filter(checks, device);
	for (unsigned int p = 0; p < view->n_ports; p++) {
		check_rp_filter(checks, view->ports[p]);
		if (to_check_two(view, p))
			check_rp_filter(checks, view->rdma[p]);
	}
	check_ipv6(checks, device);
	for (unsigned int p = 0; p < view->n_ports; p++)
		check_ipv6(checks, view->rdma[p]);
	to_check_add(checks, TO_CHECK_OK, "ip_forward", "kernel", NULL,
		     forward == 1 ?
		     "on: the kernel forwards packets without a route in the table" :
		     "off: relaying does not need it");
}

/* What is looked for while chains are listed. */
struct chains {
	struct to_checks *checks;
	const struct to_check_view *view;
	unsigned int drops;
};

/* A base chain as nftables lists it. */
struct chain {
	const char *table, *name, *dev;
	uint32_t hook;
	bool has_hook, drop;
};

static bool check_is_port(const struct to_check_view *view, const char *name)
{
	for (unsigned int i = 0; i < view->n_ports; i++)
		if (!strcmp(view->ports[i], name) || !strcmp(view->rdma[i], name))
			return true;
	return false;
}

static void check_chain_parse(const struct nlmsghdr *nlh, struct chain *chain)
{
	const struct nlattr *nla, *a;

	mnl_attr_for_each(nla, nlh, sizeof(struct nfgenmsg)) {
		switch (mnl_attr_get_type(nla)) {
		case NFTA_CHAIN_TABLE:
			chain->table = to_attr_text(nla);
			break;
		case NFTA_CHAIN_NAME:
			chain->name = to_attr_text(nla);
			break;
		case NFTA_CHAIN_POLICY:
			chain->drop = ntohl(to_attr_u32(nla)) == NF_DROP;
			break;
		case NFTA_CHAIN_HOOK:
			mnl_attr_for_each_nested(a, nla) {
				if (mnl_attr_get_type(a) == NFTA_HOOK_HOOKNUM) {
					chain->hook = ntohl(to_attr_u32(a));
					chain->has_hook = true;
				} else if (mnl_attr_get_type(a) == NFTA_HOOK_DEV) {
					chain->dev = to_attr_text(a);
				}
			}
			break;
		}
	}
}

static int check_chain(const struct nlmsghdr *nlh, void *arg)
{
	const struct nfgenmsg *nfg = to_netlink_header(nlh, sizeof(*nfg));
	struct chains *chains = arg;
	struct chain c = { .table = "?", .name = "?" };
	char fix[200] = "give the chain the policy accept";

	if (!nfg)
		return -EBADMSG;
	check_chain_parse(nlh, &c);
	if (!c.has_hook || !c.drop)
		return 0;
	if (nfg->nfgen_family == NFPROTO_NETDEV && c.dev && check_is_port(chains->view, c.dev)) {
		if (to_names_is_name(c.table) && to_names_is_name(c.name))
			snprintf(fix, sizeof(fix),
				 "nft add chain netdev %s %s '{ policy accept; }'", c.table, c.name);
		to_check_add(chains->checks, TO_CHECK_FAIL, "netfilter", c.dev, fix,
			     "chain %s of table netdev %s drops by default, relayed packets too",
			     c.name, c.table);
		chains->drops++;
	} else if (nfg->nfgen_family != NFPROTO_NETDEV && c.hook == NF_INET_LOCAL_IN) {
		to_check_add(chains->checks, TO_CHECK_WARN, "netfilter", c.name,
			     "accept the fabric's packets, for software RDMA: nft add rule ... udp dport 4791 accept",
			     "input chain of table %s drops by default: packets for this server need a rule",
			     c.table);
		chains->drops++;
	} else if (nfg->nfgen_family != NFPROTO_NETDEV && c.hook == NF_INET_FORWARD) {
		to_check_add(chains->checks, TO_CHECK_OK, "netfilter", c.name, NULL,
			     "forward chain of table %s drops by default: relayed packets bypass it, packets without a route in the table do not",
			     c.table);
		chains->drops++;
	}
	return 0;
}

void to_check_netfilter(struct to_checks *checks, const struct to_check_view *view)
{
	struct chains chains = { checks, view, 0 };
	struct nfgenmsg *nfg;
	struct nlmsghdr *nlh;
	struct to_netlink nl;
	char buf[256];

	if (to_netlink_open(&nl, NETLINK_NETFILTER, NULL))
		return;
	nlh = mnl_nlmsg_put_header(buf);
	nlh->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETCHAIN;
	nfg = mnl_nlmsg_put_extra_header(nlh, sizeof(*nfg));
	nfg->nfgen_family = AF_UNSPEC;
	nfg->version = NFNETLINK_V0;
	/* Without nftables in the kernel there is nothing to find. */
	if (!to_netlink_dump(&nl, nlh, check_chain, NULL, &chains, NULL) && !chains.drops)
		to_check_add(checks, TO_CHECK_OK, "netfilter", "kernel", NULL,
			     "no nftables chain drops by default");
	to_netlink_close(&nl);
}
