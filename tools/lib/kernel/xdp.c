// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/xdp.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/features.h"
#include "kernel/genl.h"
#include "kernel/napi_processors.h"
#include "kernel/verifier_log.h"
#include "kernel/xdp_features.h"
#include "kernel/xdp_program.h"
#include "pass.skel.h"
#include "relay.skel.h"

const char *const to_xdp_path_names[] = {
	[TO_XDP_SKB] = "skb", [TO_XDP_NATIVE] = "xdp",
	[TO_XDP_GENERIC] = "xdp-generic", [TO_XDP_FOREIGN] = "foreign-xdp",
};

/* Programs that are loaded, not yet attached; @generic only for TO_XDP_ON. */
struct xdp_programs {
	struct relay_bpf *native, *generic;
	struct pass_bpf *pass;
};

enum to_xdp_path to_xdp_path(uint32_t ifindex)
{
	struct to_xdp_program at = to_xdp_program_look(ifindex);
	enum to_xdp_path path = TO_XDP_SKB;

	if (at.owner == TO_XDP_STRANGER)
		path = TO_XDP_FOREIGN;
	else if (at.owner == TO_XDP_RELAY)
		path = at.flags == XDP_FLAGS_DRV_MODE ? TO_XDP_NATIVE : TO_XDP_GENERIC;
	to_xdp_program_release(&at);
	return path;
}

static struct relay_bpf *xdp_load_relay(uint32_t flags)
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

static void xdp_unload(struct xdp_programs *programs)
{
	relay_bpf__destroy(programs->native);
	relay_bpf__destroy(programs->generic);
	pass_bpf__destroy(programs->pass);
}

static int xdp_load(struct xdp_programs *programs, enum to_xdp_mode mode, struct to_error *err)
{
	const uint32_t flags = mode == TO_XDP_AUTO ? TOPOOPT_XDP_ROCE :
		TOPOOPT_XDP_ROCE | TOPOOPT_XDP_OTHER | TOPOOPT_XDP_LOSSY;

	*programs = (struct xdp_programs){};
	programs->native = xdp_load_relay(flags);
	if (programs->native)
		programs->pass = pass_bpf__open_and_load();
	if (!programs->pass) {
		to_error_set(err, -EOPNOTSUPP, "no XDP relay here%s%s",
			     *to_verifier_log() ? ": " : "", to_verifier_log());
		xdp_unload(programs);
		return -EOPNOTSUPP;
	}
	if (mode == TO_XDP_ON)
		programs->generic = xdp_load_relay(flags | TOPOOPT_XDP_GENERIC);
	return 0;
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

/*
 * Attach the relay in the driver. One that then sends nothing for XDP is told, where the port
 * has no other interface to send through.
 */
static int xdp_attach_native(struct to_xdp_port *port, struct to_xdp_program *at,
			     const struct xdp_programs *programs)
{
	struct to_xdp_features features;
	int ret = to_xdp_program_attach(port->ifindex, at,
					bpf_program__fd(programs->native->progs.topoopt_relay),
					XDP_FLAGS_DRV_MODE);

	features = to_xdp_features(port->ifindex);
	if (ret) {
		snprintf(port->why, sizeof(port->why), "no native XDP: %.130s",
			 *to_verifier_log() ? to_verifier_log() : strerror(-ret));
	} else if (features.redirect == TO_XDP_CANNOT) {
		to_xdp_program_detach(port->ifindex, TO_XDP_RELAY, NULL, NULL);
		to_xdp_program_release(at);
		snprintf(port->why, sizeof(port->why), "its driver does not redirect");
		ret = -EOPNOTSUPP;
	} else if (features.send == TO_XDP_CANNOT && port->transmit == port->ifindex &&
		   !programs->generic && !port->egress.why[0]) {
		snprintf(port->egress.why, sizeof(port->egress.why),
			 "%s does not send what XDP redirects", port->name);
	}
	return ret;
}

static void xdp_attach_relay(struct to_xdp_port *port, const struct xdp_programs *programs)
{
	const char *strips = to_xdp_stripping(port->name);
	struct to_xdp_program at = to_xdp_program_look(port->ifindex);

	if (strips) {
		snprintf(port->why, sizeof(port->why),
			 "the NIC strips VLAN tags, which XDP would lose: "
			 "ethtool -K %s %s", port->name, strips);
	} else if (at.owner == TO_XDP_STRANGER) {
		snprintf(port->why, sizeof(port->why), "another XDP program is attached");
	} else if (xdp_attach_native(port, &at, programs) && programs->generic &&
		   !to_xdp_program_attach(port->ifindex, &at,
					  bpf_program__fd(programs->generic->progs.topoopt_relay),
					  XDP_FLAGS_SKB_MODE)) {
		port->why[0] = '\0';
	}
	to_xdp_program_release(&at);
}

/* Have XDP send through a port what it should. */
static int xdp_open_egress(struct to_genl *genl, uint32_t device, struct to_xdp_port *port,
			   const struct xdp_programs *programs, struct to_error *err)
{
	struct to_xdp_egress *egress = &port->egress;
	struct to_error why = {};

	if (port->transmit == port->ifindex)
		;	/* has the relay, or no program */
	else if (!egress->classes)
		to_xdp_program_detach(port->transmit, TO_XDP_PASS, NULL, NULL);
	else if (to_xdp_egress_open(port->transmit,
				    bpf_program__fd(programs->pass->progs.topoopt_pass), &why)) {
		/* generic XDP sends through any interface */
		if (!programs->generic)
			egress->classes = 0;
		snprintf(egress->why, sizeof(egress->why),
			 "%s sends nothing by native XDP: %.110s",
			 port->transmit_name, why.text);
	}
	return to_genl_port_set_xdp(genl, device, port->ifindex, egress->classes, err);
}

/* A port that lost a frame of XDP's takes none in TO_XDP_AUTO: say so. */
static int xdp_tell_lost(struct to_genl *genl, uint32_t device, struct to_xdp_port *ports,
			 unsigned int n, struct to_error *err)
{
	struct to_kernel_port *now = NULL;
	unsigned int n_now = 0;
	int ret = to_genl_ports(genl, device, &now, &n_now, err);

	for (unsigned int i = 0; !ret && i < n_now; i++)
		for (unsigned int p = 0; p < n; p++)
			if (ports[p].ifindex == now[i].ifindex && now[i].xdp_error &&
			    !ports[p].egress.why[0])
				to_xdp_egress_lost(&ports[p].egress, now[i].tx_name,
						   now[i].xdp_error, false);
	free(now);
	return ret;
}

static int xdp_attach_all(struct to_genl *genl, uint32_t device, struct to_xdp_port *ports,
			  unsigned int n, enum to_xdp_mode mode,
			  const struct xdp_programs *programs, struct to_error *err)
{
	unsigned int processor = 0;
	uint32_t classes = 0;
	int ret = 0;

	for (unsigned int p = 0; p < n; p++) {
		unsigned int highest = to_napi_processors_highest(ports[p].name);

		processor = highest > processor ? highest : processor;
	}
	for (unsigned int p = 0; !ret && p < n; p++) {
		ports[p].why[0] = '\0';
		to_xdp_egress_judge(&ports[p].egress, ports[p].transmit_name, processor,
				    mode == TO_XDP_AUTO ? TOPOOPT_XDP_ROCE : TO_XDP_CLASSES,
				    mode == TO_XDP_ON);
		ret = xdp_open_egress(genl, device, &ports[p], programs, err);
		classes |= ports[p].egress.classes;
	}
	for (unsigned int p = 0; !ret && p < n; p++) {
		if (classes) {
			xdp_attach_relay(&ports[p], programs);
		} else {
			ret = to_xdp_program_detach(ports[p].ifindex, TO_XDP_RELAY, NULL, err);
			snprintf(ports[p].why, sizeof(ports[p].why), "no port may send by XDP");
		}
	}
	if (!ret && mode == TO_XDP_AUTO)
		ret = xdp_tell_lost(genl, device, ports, n, err);
	return ret;
}

int to_xdp_attach(uint32_t device, struct to_xdp_port *ports, unsigned int n,
		  enum to_xdp_mode mode, struct to_error *err)
{
	struct xdp_programs programs;
	libbpf_print_fn_t print;
	struct to_genl genl;
	int ret = to_genl_open(&genl, err);

	if (ret)
		return ret;
	print = libbpf_set_print(to_verifier_log_keep);
	ret = xdp_load(&programs, mode, err);
	if (!ret) {
		ret = xdp_attach_all(&genl, device, ports, n, mode, &programs, err);
		if (ret)
			to_xdp_detach(device, ports, n, NULL);
		xdp_unload(&programs);
	}
	libbpf_set_print(print);
	to_genl_close(&genl);
	return ret;
}

int to_xdp_detach(uint32_t device, const struct to_xdp_port *ports, unsigned int n,
		  struct to_error *err)
{
	struct to_genl genl;
	int ret = to_genl_open(&genl, err);

	if (ret)
		return ret;
	for (unsigned int p = 0; !ret && p < n; p++) {
		ret = to_xdp_program_detach(ports[p].ifindex, TO_XDP_NOBODY, NULL, err);
		if (!ret)
			ret = to_xdp_program_detach(ports[p].transmit, TO_XDP_PASS, NULL, err);
		if (!ret)
			ret = to_genl_port_set_xdp(&genl, device, ports[p].ifindex,
						   TO_XDP_CLASSES, err);
	}
	to_genl_close(&genl);
	return ret;
}
