// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/xdp.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/topoopt_bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/features.h"
#include "kernel/verifier_log.h"
#include "relay.skel.h"

/* Name of the program, by which it is known again. */
#define PROGRAM "topoopt_relay"

const char *const to_xdp_path_names[] = {
	[TO_XDP_SKB] = "skb", [TO_XDP_NATIVE] = "xdp",
	[TO_XDP_GENERIC] = "xdp-generic", [TO_XDP_FOREIGN] = "foreign-xdp",
};

/* What is attached to a port now; @fd holds it, -1 for none. */
struct attached {
	enum to_xdp_path path;
	uint32_t flags;		/* XDP_FLAGS_*_MODE */
	int fd;
};

static struct attached xdp_look(uint32_t ifindex)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);
	struct attached at = { .path = TO_XDP_SKB, .fd = -1 };
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	if (bpf_xdp_query(ifindex, 0, &query) || query.attach_mode == XDP_ATTACHED_NONE)
		return at;
	at.path = TO_XDP_FOREIGN;
	if (query.attach_mode == XDP_ATTACHED_DRV)
		at.fd = bpf_prog_get_fd_by_id(query.drv_prog_id);
	else if (query.attach_mode == XDP_ATTACHED_SKB)
		at.fd = bpf_prog_get_fd_by_id(query.skb_prog_id);
	if (at.fd < 0 || bpf_obj_get_info_by_fd(at.fd, &info, &len) ||
	    strcmp(info.name, PROGRAM))
		return at;
	at.path = query.attach_mode == XDP_ATTACHED_DRV ? TO_XDP_NATIVE : TO_XDP_GENERIC;
	at.flags = at.path == TO_XDP_NATIVE ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
	return at;
}

enum to_xdp_path to_xdp_path(uint32_t ifindex)
{
	struct attached at = xdp_look(ifindex);

	if (at.fd >= 0)
		close(at.fd);
	return at.path;
}

static struct relay_bpf *xdp_load(uint32_t flags)
{
	struct relay_bpf *skel = relay_bpf__open();

	to_verifier_log_forget();
	if (!skel)
		return NULL;
	skel->rodata->relay_flags = flags;
	if (!relay_bpf__load(skel))
		return skel;
	relay_bpf__destroy(skel);
	return NULL;
}

static int xdp_attach(struct to_xdp_port *port, struct attached *at,
		      const struct relay_bpf *skel, uint32_t flags)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = at->fd);
	int ret;

	to_verifier_log_forget();
	/* Native and generic exclude each other: without one for a moment. */
	if (at->fd >= 0 && at->flags != flags) {
		ret = bpf_xdp_detach(port->ifindex, at->flags | XDP_FLAGS_REPLACE, &opts);
		if (ret)
			return ret;
		close(at->fd);
		at->fd = -1;
	}
	if (at->fd < 0)
		flags |= XDP_FLAGS_UPDATE_IF_NOEXIST;
	return bpf_xdp_attach(port->ifindex, bpf_program__fd(skel->progs.topoopt_relay),
			      flags, at->fd < 0 ? NULL : &opts);
}

const char *to_xdp_stripping(const char *name)
{
	static const char *const fix[] = {
		NULL, "rxvlan off", "rx-vlan-stag-hw-parse off",
		"rxvlan off rx-vlan-stag-hw-parse off",
	};
	struct to_features features;
	unsigned int stripped = 0;

	if (to_features_read(&features, name))
		stripped = to_features_on(&features, "rx-vlan-hw-parse") |
			   to_features_on(&features, "rx-vlan-stag-hw-parse") << 1;
	to_features_free(&features);
	return fix[stripped];
}

static void xdp_attach_port(struct to_xdp_port *port, const struct relay_bpf *native,
			    const struct relay_bpf *generic)
{
	const char *strips = to_xdp_stripping(port->name);
	struct attached at = xdp_look(port->ifindex);
	int ret;

	port->why[0] = '\0';
	if (strips) {
		snprintf(port->why, sizeof(port->why),
			 "the NIC strips VLAN tags, which XDP would lose: "
			 "ethtool -K %s %s", port->name, strips);
	} else if (at.path == TO_XDP_FOREIGN) {
		snprintf(port->why, sizeof(port->why), "another XDP program is attached");
	} else {
		ret = xdp_attach(port, &at, native, XDP_FLAGS_DRV_MODE);
		if (ret)
			snprintf(port->why, sizeof(port->why), "no native XDP: %.130s",
				 *to_verifier_log() ? to_verifier_log() : strerror(-ret));
		if (ret && generic && !xdp_attach(port, &at, generic, XDP_FLAGS_SKB_MODE))
			port->why[0] = '\0';
	}
	if (at.fd >= 0)
		close(at.fd);
	port->path = to_xdp_path(port->ifindex);
}

int to_xdp_attach(struct to_xdp_port *ports, unsigned int n, enum to_xdp_mode mode,
		  struct to_error *err)
{
	const uint32_t flags = mode == TO_XDP_AUTO ? TOPOOPT_XDP_ROCE :
		TOPOOPT_XDP_ROCE | TOPOOPT_XDP_OTHER | TOPOOPT_XDP_LOSSY;
	struct relay_bpf *native, *generic = NULL;
	libbpf_print_fn_t print;
	int ret = 0;

	print = libbpf_set_print(to_verifier_log_keep);
	native = xdp_load(flags);
	if (native && mode == TO_XDP_ON)
		generic = xdp_load(flags | TOPOOPT_XDP_GENERIC);
	if (!native)
		ret = to_error_set(err, -EOPNOTSUPP, "no XDP relay here%s%s",
				   *to_verifier_log() ? ": " : "", to_verifier_log());
	for (unsigned int i = 0; !ret && i < n; i++)
		xdp_attach_port(&ports[i], native, generic);
	relay_bpf__destroy(generic);
	relay_bpf__destroy(native);
	libbpf_set_print(print);
	return ret;
}

int to_xdp_detach(uint32_t ifindex, struct to_xdp_held *held, struct to_error *err)
{
	struct attached at = xdp_look(ifindex);
	int ret = 0;

	if (at.path == TO_XDP_NATIVE || at.path == TO_XDP_GENERIC) {
		DECLARE_LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = at.fd);
		char name[IFNAMSIZ] = "";

		ret = bpf_xdp_detach(ifindex, at.flags | XDP_FLAGS_REPLACE, &opts);
		if (ret)
			to_error_set(err, ret, "%s: removing the XDP program: %s",
				     if_indextoname(ifindex, name), strerror(-ret));
		if (!ret && held) {
			*held = (struct to_xdp_held){ at.flags, at.fd };
			return 0;
		}
	}
	if (at.fd >= 0)
		close(at.fd);
	return ret;
}

void to_xdp_give_back(uint32_t ifindex, struct to_xdp_held *held)
{
	if (held->flags)
		bpf_xdp_attach(ifindex, held->fd, held->flags | XDP_FLAGS_UPDATE_IF_NOEXIST,
			       NULL);
	to_xdp_let_go(held);
}

void to_xdp_let_go(struct to_xdp_held *held)
{
	if (held->flags)
		close(held->fd);
	held->flags = 0;
}
