// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzer of the netlink family, from the grammar of its spec: valid, boundary
 * and mutated messages, in sequences that now and then make sense, from several
 * processes with several sockets each; and, between them, ports that join and
 * leave, devices that are deleted and made anew, and namespaces that die with a
 * stage open.
 *
 *   fuzz_netlink SEED MESSAGES PROCESSES DEVICE PORT...
 *
 * Runs in the current network namespace; the ports must exist. With one
 * process, the same seed sends the same messages. Prints what became of them;
 * status 1 when a reply does not follow the grammar.
 */

#include <errno.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "die.h"

enum kind { U8, U16, U32, U64, STRING, BINARY, FLAG, NEST, PAD };

struct attr {
	const char *name;
	enum kind kind;
	unsigned int min, max, len;
	bool many;
	const struct set *nest;
};

struct set {
	const struct attr *attr;
	unsigned int count;
};

struct op {
	const char *name;
	uint8_t cmd;
	bool can_do, can_dump;
	uint32_t do_attrs, dump_attrs;	/* bit per attribute of the device set */
};

#include "fuzz_grammar.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_PORTS 16
#define SOCKETS 4
#define BATCH_BYTES 60000
#define MESSAGE_ROOM 6000

struct sock {
	int fd;
	bool staging;		/* as far as we know */
};

static struct {
	const char *device;
	const char *port[MAX_PORTS];
	unsigned int ports;
	uint16_t family;
	uint32_t sequence;
	struct sock sock[SOCKETS];
	uint32_t ifindex;	/* of the device, 0 when there is none */
	uint32_t port_ifindex[MAX_PORTS];
	uint64_t generation;	/* last one heard of */
	uint32_t group;		/* last one defined */
	uint8_t prefix;		/* length of the last address */
	uint8_t bytes;		/* of the last destination */
	bool unicast;		/* last route */
	uint64_t random;
} fuzz;

/* Sums over all processes. */
static struct totals {
	_Atomic unsigned long messages, mutated, accepted, refused, replies, committed, links,
		namespaces;
} *total;

static uint32_t below(uint32_t bound)
{
	return to_random_below(&fuzz.random, bound);
}

static bool one_in(uint32_t n)
{
	return !below(n);
}

/* --- values --- */

static uint64_t boundary(unsigned int bytes)
{
	uint64_t max = bytes == 8 ? UINT64_MAX : (1ULL << 8 * bytes) - 1;
	const uint64_t edge[] = { 0, 1, 2, max, max - 1, max / 2, max / 2 + 1, 255, 256 };

	if (one_in(2))
		return to_random_next(&fuzz.random) & max;
	return edge[below(COUNT(edge))] & max;
}

static uint32_t some_port(void)
{
	return fuzz.port_ifindex[below(fuzz.ports)];
}

static uint64_t number(const struct attr *attr, const struct set *set, unsigned int bytes)
{
	unsigned int value;

	if (one_in(150))
		return boundary(bytes);
	if (!strcmp(attr->name, "ifindex") && set == &set_device)
		return fuzz.ifindex;
	if (!strcmp(attr->name, "tx-ifindex") && one_in(3))
		return 0;
	if (attr->kind == U32 && (strstr(attr->name, "ifindex") || set == &set_nexthop))
		return some_port();
	if (!strcmp(attr->name, "id"))
		return fuzz.group = below(64);
	if (!strcmp(attr->name, "group"))
		return one_in(4) ? below(64) : fuzz.group;
	if (!strcmp(attr->name, "base-generation"))
		return fuzz.generation;
	if (!strcmp(attr->name, "generation"))
		return fuzz.generation + 1 + below(3);
	if (!strcmp(attr->name, "dst-len") || !strcmp(attr->name, "src-len"))
		return fuzz.prefix;
	if (!strcmp(attr->name, "type")) {
		value = one_in(4) ? below(attr->max + 1) : 0;
		fuzz.unicast = !value;
		return value;
	}
	if (attr->max)
		return attr->min + below(attr->max - attr->min + 1);
	return attr->min + below(one_in(8) ? 1000 : 16);
}

/* An address out of few, so that they meet; its prefix is the last one's. */
static unsigned int address(uint8_t *out, bool source)
{
	static const uint8_t lengths[] = { 32, 32, 32, 24, 16, 8, 31, 1, 0 };
	unsigned int bytes = one_in(3) ? 16 : 4, bits, i;

	if (source && !one_in(20))
		bytes = fuzz.bytes;
	fuzz.bytes = bytes;
	memset(out, 0, 16);
	out[0] = bytes == 4 ? 10 : 0xfd;
	out[1] = bytes == 4 ? 200 + below(2) : 0;
	out[bytes - 2] = below(4);
	out[bytes - 1] = below(8);
	if (one_in(20))
		for (i = 0; i < bytes; i++)
			out[i] = below(256);
	bits = lengths[below(COUNT(lengths))] * bytes / 4;
	fuzz.prefix = bits;
	if (!one_in(100))
		for (i = bits; i < 8 * bytes; i++)
			out[i / 8] &= ~(0x80 >> i % 8);
	return one_in(100) ? below(17) : bytes;
}

static unsigned int binary(const struct attr *attr, uint8_t *out)
{
	unsigned int i;

	if (attr->len != 6)
		return address(out, !strcmp(attr->name, "src"));
	for (i = 0; i < 6; i++)
		out[i] = below(256);
	if (!one_in(50))
		out[0] &= ~1;
	return one_in(100) ? below(16) : 6;
}

/* --- messages --- */

struct message {
	uint8_t *data;
	unsigned int len;
};

static struct nlattr *put(struct message *m, uint16_t type, const void *data, unsigned int len)
{
	struct nlattr *nla = (struct nlattr *)(m->data + m->len);

	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	memset(nla + 1, 0, NLA_ALIGN(len));
	if (len)
		memcpy(nla + 1, data, len);
	m->len += NLA_ALIGN(nla->nla_len);
	return nla;
}

static void put_set(struct message *m, const struct set *set, uint32_t mask);

static void put_attr(struct message *m, const struct set *set, unsigned int type)
{
	static const unsigned int size[] = { [U8] = 1, [U16] = 2, [U32] = 4, [U64] = 8 };
	const struct attr *attr = &set->attr[type - 1];
	struct nlattr *nest;
	uint8_t data[64];
	uint64_t value;

	switch (attr->kind) {
	case U8 ... U64:
		value = number(attr, set, size[attr->kind]);
		put(m, type, &value, one_in(500) ? below(9) : size[attr->kind]);
		break;
	case STRING:
		memset(data, 'x', sizeof(data));
		data[below(sizeof(data))] = 0;
		put(m, type, data, below(20));
		break;
	case BINARY:
		put(m, type, data, binary(attr, data));
		break;
	case FLAG:
		put(m, type, "flag", one_in(100) ? 4 : 0);
		break;
	case PAD:
		put(m, type, data, below(9));
		break;
	case NEST:
		nest = put(m, type | NLA_F_NESTED, NULL, 0);
		put_set(m, attr->nest, UINT32_MAX);
		nest->nla_len = (uint8_t *)m->data + m->len - (uint8_t *)nest;
		break;
	}
}

/* What a request may hold in this place; of the rest, a little. */
static bool wanted(const struct set *set, unsigned int type, uint32_t mask)
{
	const char *name = set->attr[type - 1].name;

	if (!(mask & 1U << type))
		return one_in(400);
	if (set == &set_device && !strcmp(name, "ifindex"))
		return !one_in(50);
	if (set == &set_route && !strcmp(name, "dst"))
		fuzz.unicast = true;
	if (set == &set_route && !strcmp(name, "group"))
		return fuzz.unicast != one_in(30);
	if (strstr(name, "src"))
		return fuzz.prefix ? one_in(4) : one_in(20);
	if (!strcmp(name, "generation") || !strcmp(name, "staged"))
		return one_in(5);
	if (strstr(name, "backup") || strstr(name, "tx-") || strstr(name, "-len"))
		return one_in(2);
	if (!strcmp(name, "live") || !strcmp(name, "left") || !strcmp(name, "counters"))
		return one_in(300);
	return !one_in(50);
}

static void put_set(struct message *m, const struct set *set, uint32_t mask)
{
	unsigned int type, n;

	for (type = 1; type <= set->count && m->len < MESSAGE_ROOM - 1000; type++) {
		if (!wanted(set, type, mask))
			continue;
		n = 1;
		if (set->attr[type - 1].many && mask != UINT32_MAX)
			n = one_in(50) ? below(60) : below(5);
		else if (set->attr[type - 1].many)
			n = one_in(50) ? below(40) : 1 + below(3);
		while (n-- && m->len < MESSAGE_ROOM - 1000)
			put_attr(m, set, type);
	}
	if (one_in(1000))
		put(m, below(1 << 14), &m->len, below(5));
}

/* Mostly one that has a stage, for only one can. */
static struct sock *some_sock(void)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++)
		if (fuzz.sock[i].staging && !one_in(5))
			return &fuzz.sock[i];
	return &fuzz.sock[below(SOCKETS)];
}

static const struct op *some_op(const struct sock *sock)
{
	static const char *const staging[] = { "stage-add", "stage-add", "stage-add", "stage-add",
		"stage-prepare", "commit", "commit", "abort" };
	const char *name = "stage-new";
	unsigned int i;

	if (one_in(3))
		return &ops[below(COUNT(ops))];
	if (sock->staging)
		name = staging[below(COUNT(staging))];
	for (i = 0; strcmp(ops[i].name, name); i++)
		;
	return &ops[i];
}

/* Anywhere behind the header, whose length stays true. */
static void mutate(struct message *m)
{
	unsigned int head = NLMSG_HDRLEN, room = m->len - head, at = head + below(room), i;
	struct nlattr *nla = (struct nlattr *)(m->data + (at & ~3U));

	switch (below(7)) {
	case 0:
		m->data[at] ^= 1 << below(8);
		break;
	case 1:
		for (i = 1 + below(8); i--;)
			m->data[head + below(room)] = boundary(1);
		break;
	case 2:
		nla->nla_len = one_in(2) ? boundary(2) : nla->nla_len + below(9) - 4;
		break;
	case 3:
		nla->nla_type = boundary(2);
		break;
	case 4:
		m->len = at;
		break;
	case 5:
		if (m->len + room <= MESSAGE_ROOM) {
			memcpy(m->data + m->len, m->data + head, room);
			m->len += room & ~3U;
		}
		break;
	case 6:
		for (i = below(64); i--;)
			m->data[m->len++] = boundary(1);
		break;
	}
}

/* Return: length, alignment included. */
static unsigned int make_message(uint8_t *data, struct sock *sock)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)data;
	struct genlmsghdr *genl = (struct genlmsghdr *)(nlh + 1);
	struct message m = { data, NLMSG_HDRLEN + GENL_HDRLEN };
	const struct op *op = some_op(sock);
	bool dump = op->can_dump && (!op->can_do || one_in(3));

	memset(data, 0, m.len);
	nlh->nlmsg_type = fuzz.family;
	nlh->nlmsg_flags = NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0) | (one_in(2) ? NLM_F_ACK : 0);
	nlh->nlmsg_seq = ++fuzz.sequence;
	genl->cmd = op->cmd;
	genl->version = 1;
	put_set(&m, &set_device, dump ? op->dump_attrs : op->do_attrs);
	if (one_in(6)) {
		mutate(&m);
		total->mutated++;
	}
	if (one_in(200))
		nlh->nlmsg_flags = boundary(2) | NLM_F_REQUEST;
	if (one_in(500))
		*(uint32_t *)genl = boundary(4);
	nlh->nlmsg_len = m.len;
	total->messages++;

	if (!strcmp(op->name, "stage-new"))
		sock->staging = true;
	else if (!strcmp(op->name, "commit") || !strcmp(op->name, "abort"))
		sock->staging = false;
	memset(data + m.len, 0, 4);
	return NLMSG_ALIGN(m.len);
}

/* --- replies --- */

static void check_set(const struct set *set, const uint8_t *data, unsigned int len)
{
	static const unsigned int size[] = { [U8] = 1, [U16] = 2, [U32] = 4, [U64] = 8 };
	const struct nlattr *nla;
	const struct attr *attr;
	unsigned int type, n;

	while (len) {
		nla = (const struct nlattr *)data;
		if (len < NLA_HDRLEN || nla->nla_len < NLA_HDRLEN || nla->nla_len > len)
			die("reply: an attribute of %u bytes in %u", nla->nla_len, len);
		type = nla->nla_type & NLA_TYPE_MASK;
		n = nla->nla_len - NLA_HDRLEN;
		if (!type || type > set->count)
			die("reply: attribute %u is not in the spec", type);
		attr = &set->attr[type - 1];
		if ((attr->kind <= U64 && n != size[attr->kind]) || (attr->kind == FLAG && n) ||
		    (attr->kind == BINARY && attr->len && n != attr->len))
			die("reply: %s has %u bytes", attr->name, n);
		if (attr->kind == NEST)
			check_set(attr->nest, data + NLA_HDRLEN, n);
		if (set == &set_device && !strcmp(attr->name, "generation"))
			memcpy(&fuzz.generation, data + NLA_HDRLEN, sizeof(fuzz.generation));
		n = NLA_ALIGN(nla->nla_len);
		if (n > len)
			n = len;
		data += n;
		len -= n;
	}
}

static const char *op_name(uint8_t cmd)
{
	for (unsigned int i = 0; i < COUNT(ops); i++)
		if (ops[i].cmd == cmd)
			return ops[i].name;
	die("reply: command %u", cmd);
}

static void check_message(struct sock *sock, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = mnl_nlmsg_get_payload(nlh);
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const char *name;

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		if (!error->error)
			total->accepted++;
		else
			total->refused++;
		if (error->error == -EBUSY || error->error == -ENOENT)
			sock->staging = false;
	} else if (nlh->nlmsg_type == fuzz.family) {
		total->replies++;
		name = op_name(genl->cmd);
		if (!strcmp(name, "commit"))
			total->committed++;
		if (!strcmp(name, "stage-new"))
			sock->staging = true;
		check_set(&set_device, (const uint8_t *)(genl + 1),
			  nlh->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN);
	}
}

static void drain(struct sock *sock)
{
	static uint8_t buffer[1 << 18];
	const struct nlmsghdr *nlh;
	int len;

	while ((len = recv(sock->fd, buffer, sizeof(buffer), MSG_DONTWAIT)) >= 0 ||
	       errno == ENOBUFS || errno == EINTR)
		for (nlh = (void *)buffer; len > 0 && mnl_nlmsg_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len))
			check_message(sock, nlh);
}

/* --- sockets --- */

static int netlink(int protocol)
{
	static const int options[] = { NETLINK_CAP_ACK, NETLINK_EXT_ACK, NETLINK_GET_STRICT_CHK };
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), on = 1;
	unsigned int i;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("netlink: %s", strerror(errno));
	for (i = 0; protocol == NETLINK_GENERIC && i < COUNT(options); i++)
		if (!one_in(10))
			setsockopt(fd, SOL_NETLINK, options[i], &on, sizeof(on));
	return fd;
}

/* The error of a request that is answered by nothing else, or 0. */
static int request(int protocol, struct nlmsghdr *nlh)
{
	uint8_t buffer[8192];
	int fd = netlink(protocol), err = -EIO;
	ssize_t len;

	nlh->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (send(fd, nlh, nlh->nlmsg_len, 0) >= 0) {
		len = recv(fd, buffer, sizeof(buffer), 0);
		nlh = (void *)buffer;
		if (len > 0 && nlh->nlmsg_type == NLMSG_ERROR)
			err = ((struct nlmsgerr *)mnl_nlmsg_get_payload(nlh))->error;
	}
	close(fd);
	return err;
}

static uint16_t find_family(void)
{
	uint8_t buffer[8192];
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl;
	struct nlattr *attr;
	int fd = netlink(NETLINK_GENERIC);

	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = CTRL_CMD_GETFAMILY;
	genl->version = 1;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, "topoopt");
	if (send(fd, nlh, nlh->nlmsg_len, 0) < 0 || recv(fd, buffer, sizeof(buffer), 0) < 0)
		die("family: %s", strerror(errno));
	close(fd);
	mnl_attr_for_each(attr, nlh, sizeof(*genl))
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			return mnl_attr_get_u16(attr);
	die("the module is not loaded");
}

/* --- links --- */

static struct nlmsghdr *link_message(void *buffer, int type, unsigned int flags, int ifindex)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *ifi;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = flags;
	ifi = mnl_nlmsg_put_extra_header(nlh, sizeof(*ifi));
	ifi->ifi_index = ifindex;
	return nlh;
}

static int link_new(const char *name, const char *kind)
{
	uint8_t buffer[512];
	struct nlmsghdr *nlh = link_message(buffer, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, 0);
	struct nlattr *info;

	mnl_attr_put_strz(nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(nlh, IFLA_INFO_KIND, kind);
	mnl_attr_nest_end(nlh, info);
	return request(NETLINK_ROUTE, nlh);
}

static void link_master(uint32_t ifindex, uint32_t master)
{
	uint8_t buffer[512];
	struct nlmsghdr *nlh = link_message(buffer, RTM_SETLINK, 0, ifindex);

	mnl_attr_put_u32(nlh, IFLA_MASTER, master);
	request(NETLINK_ROUTE, nlh);
}

static void link_set(uint32_t ifindex, bool up)
{
	uint8_t buffer[512];
	struct nlmsghdr *nlh = link_message(buffer, RTM_NEWLINK, 0, ifindex);
	struct ifinfomsg *ifi = mnl_nlmsg_get_payload(nlh);

	ifi->ifi_flags = up ? IFF_UP : 0;
	ifi->ifi_change = IFF_UP;
	request(NETLINK_ROUTE, nlh);
}

static void look_up(void)
{
	unsigned int i;

	fuzz.ifindex = if_nametoindex(fuzz.device);
	for (i = 0; i < fuzz.ports; i++)
		fuzz.port_ifindex[i] = if_nametoindex(fuzz.port[i]);
}

static void join_all(void)
{
	unsigned int i;

	look_up();
	link_set(fuzz.ifindex, true);
	for (i = 0; i < fuzz.ports; i++) {
		link_master(fuzz.port_ifindex[i], fuzz.ifindex);
		link_set(fuzz.port_ifindex[i], true);
	}
}

static void change_links(void)
{
	uint8_t buffer[512];

	total->links++;
	switch (below(8)) {
	case 0:
		request(NETLINK_ROUTE, link_message(buffer, RTM_DELLINK, 0, fuzz.ifindex));
		link_new(fuzz.device, "topoopt");
		join_all();
		fuzz.generation = 0;
		break;
	case 1:
		join_all();
		break;
	case 2 ... 3:
		link_master(some_port(), 0);
		break;
	case 4 ... 5:
		link_master(some_port(), fuzz.ifindex);
		break;
	default:
		link_set(some_port(), one_in(2));
		break;
	}
}

/* --- the run --- */

static void send_batch(struct sock *sock)
{
	static uint8_t batch[BATCH_BYTES + 2 * MESSAGE_ROOM];
	unsigned int len = 0, last = 0, n;

	for (n = 1 + below(one_in(4) ? 64 : 8); n && len < BATCH_BYTES; n--) {
		last = len;
		len += make_message(batch + len, sock);
	}
	/* A length that lies hides what comes behind it, so only the last one does. */
	if (one_in(50))
		((struct nlmsghdr *)(batch + last))->nlmsg_len = boundary(one_in(2) ? 2 : 4);
	if (send(sock->fd, batch, len, MSG_DONTWAIT) < 0 && errno != EAGAIN && errno != ENOBUFS)
		die("send: %s", strerror(errno));
	/* Else, answers overflow and dumps are left in the middle. */
	if (!one_in(10))
		drain(sock);
}

static void run(unsigned long messages);

/* A namespace of its own that ends while a stage is open. */
static void lose_namespace(void)
{
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWNET))
			die("unshare: %s", strerror(errno));
		if (link_new("topo0", "topoopt") || link_new("d0", "dummy") ||
		    link_new("d1", "dummy"))
			_exit(0);	/* the module is being unloaded, or memory ran out */
		fuzz.device = "topo0";
		fuzz.port[0] = "d0";
		fuzz.port[1] = "d1";
		fuzz.ports = 2;
		fuzz.generation = 0;
		join_all();
		run(300);
		_exit(0);
	}
	total->namespaces++;
	waitpid(pid, NULL, 0);
}

static bool own_namespace;

static void run(unsigned long messages)
{
	unsigned long sent, batches = 0, before;
	struct sock *sock;
	unsigned int i;

	for (i = 0; i < SOCKETS; i++)
		fuzz.sock[i] = (struct sock){ .fd = netlink(NETLINK_GENERIC) };
	for (sent = 0; sent < messages; batches++) {
		if (batches % 16 == 0)
			look_up();
		sock = some_sock();
		before = fuzz.sequence;
		send_batch(sock);
		sent += fuzz.sequence - before;
		if (one_in(100)) {
			close(sock->fd);
			*sock = (struct sock){ .fd = netlink(NETLINK_GENERIC) };
		}
		if (one_in(60))
			change_links();
		if (!own_namespace && one_in(1000)) {
			own_namespace = true;
			lose_namespace();
			own_namespace = false;
		}
	}
}

int main(int argc, char **argv)
{
	unsigned int processes, i, failed = 0;
	unsigned long messages;
	uint64_t seed;
	int status;

	if (argc < 6 || argc - 5 > MAX_PORTS) {
		fprintf(stderr, "usage: fuzz_netlink SEED MESSAGES PROCESSES DEVICE PORT...\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	messages = strtoul(argv[2], NULL, 0);
	processes = strtoul(argv[3], NULL, 0);
	fuzz.device = argv[4];
	for (i = 5; i < (unsigned int)argc; i++)
		fuzz.port[fuzz.ports++] = argv[i];
	total = mmap(NULL, sizeof(*total), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (total == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	fuzz.family = find_family();
	for (i = 0; i < processes; i++) {
		if (fork())
			continue;
		fuzz.random = seed + i;
		run(messages / processes);
		return 0;
	}
	while (wait(&status) > 0)
		failed += !WIFEXITED(status) || WEXITSTATUS(status);
	printf("messages %lu mutated %lu accepted %lu refused %lu replies %lu committed %lu links %lu namespaces %lu\n",
	       total->messages, total->mutated, total->accepted, total->refused, total->replies,
	       total->committed, total->links, total->namespaces);
	return !!failed;
}
