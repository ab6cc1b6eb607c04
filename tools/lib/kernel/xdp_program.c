// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/xdp_program.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "kernel/verifier_log.h"

/* Names by which our programs are known again. */
static const char *const program_names[] = {
	[TO_XDP_RELAY] = "topoopt_relay", [TO_XDP_PASS] = "topoopt_pass",
};

static enum to_xdp_owner program_owner(const char *name)
{
	for (int owner = TO_XDP_RELAY; owner <= TO_XDP_PASS; owner++)
		if (!strcmp(name, program_names[owner]))
			return owner;
	return TO_XDP_STRANGER;
}

struct to_xdp_program to_xdp_program_look(uint32_t ifindex)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_query_opts, query);
	struct to_xdp_program at = { .fd = -1 };
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);
	bool native;

	/* 0 would be any interface */
	if (!ifindex || bpf_xdp_query(ifindex, 0, &query) || query.attach_mode == XDP_ATTACHED_NONE)
		return at;
	at.owner = TO_XDP_STRANGER;
	native = query.attach_mode == XDP_ATTACHED_DRV;
	if (native || query.attach_mode == XDP_ATTACHED_SKB)
		at.fd = bpf_prog_get_fd_by_id(native ? query.drv_prog_id : query.skb_prog_id);
	if (at.fd < 0 || bpf_obj_get_info_by_fd(at.fd, &info, &len))
		return at;
	at.owner = program_owner(info.name);
	if (at.owner != TO_XDP_STRANGER)
		at.flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
	return at;
}

void to_xdp_program_release(struct to_xdp_program *program)
{
	if (program->owner && program->fd >= 0)
		close(program->fd);
	*program = (struct to_xdp_program){ .fd = -1 };
}

int to_xdp_program_attach(uint32_t ifindex, struct to_xdp_program *now, int fd, uint32_t flags)
{
	DECLARE_LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = now->fd);
	int ret;

	to_verifier_log_forget();
	/* Native and generic exclude each other: without one for a moment. */
	if (now->fd >= 0 && now->flags != flags) {
		ret = bpf_xdp_detach(ifindex, now->flags | XDP_FLAGS_REPLACE, &opts);
		if (ret)
			return ret;
		to_xdp_program_release(now);
	}
	if (now->fd < 0)
		return bpf_xdp_attach(ifindex, fd, flags | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL);
	return bpf_xdp_attach(ifindex, fd, flags, &opts);
}

int to_xdp_program_detach(uint32_t ifindex, enum to_xdp_owner which, struct to_xdp_program *held,
			  struct to_error *err)
{
	struct to_xdp_program at = to_xdp_program_look(ifindex);
	int ret = 0;

	if (which ? at.owner == which : at.owner == TO_XDP_RELAY || at.owner == TO_XDP_PASS) {
		DECLARE_LIBBPF_OPTS(bpf_xdp_attach_opts, opts, .old_prog_fd = at.fd);
		char name[IFNAMSIZ] = "";

		ret = bpf_xdp_detach(ifindex, at.flags | XDP_FLAGS_REPLACE, &opts);
		if (ret)
			to_error_set(err, ret, "%s: removing the XDP program: %s",
				     if_indextoname(ifindex, name), strerror(-ret));
		if (!ret && held) {
			*held = at;
			return 0;
		}
	}
	to_xdp_program_release(&at);
	return ret;
}

void to_xdp_program_give_back(uint32_t ifindex, struct to_xdp_program *held)
{
	if (held->flags)
		bpf_xdp_attach(ifindex, held->fd, held->flags | XDP_FLAGS_UPDATE_IF_NOEXIST,
			       NULL);
	to_xdp_program_release(held);
}
