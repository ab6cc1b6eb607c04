// SPDX-License-Identifier: GPL-2.0
/*
 * The accounting point: BPF programs that count traffic, each until the socket
 * that attached it closes. They do not attach to the tracepoint, as that costs as
 * much as counting does.
 */

#include <linux/filter.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <net/genetlink.h>

#include "account.h"
#include "fastpath.h"
#define CREATE_TRACE_POINTS
#include "trace.h"

DEFINE_PER_CPU(struct topoopt_fastpath_last, topoopt_fastpath_lasts[2]);
DEFINE_PER_CPU(struct topoopt_account_frame, topoopt_account_frames);
DEFINE_STATIC_KEY_FALSE(topoopt_account_key);

/* Programs in use, of all devices. */
static atomic_t topoopt_accounts;

u32 topoopt_fastpath_source_find(const struct topoopt_table *table, const void *ip, bool v6)
{
	struct topoopt_fastpath_last *last;
	const struct ipv6hdr *ip6 = ip;
	const struct iphdr *ip4 = ip;
	const struct topoopt_slot *slot;
	u32 server;

	slot = v6 ? topoopt_fastpath_lookup6(table, &ip6->saddr) :
		    topoopt_fastpath_lookup4(table, ip4->saddr);
	if (likely(slot->target))
		server = slot->server;
	else
		server = v6 ? topoopt_table_server6(table, &ip6->saddr) :
			      topoopt_table_server4(table, ip4->saddr);
	if (TOPOOPT_BH_PREEMPTIBLE)
		return server;
	last = this_cpu_ptr(&topoopt_fastpath_lasts[v6]);
	last->server = server;
	last->table = table->id;
	last->key[0] = topoopt_fastpath_source_key(ip, 0, v6);
	last->key[1] = topoopt_fastpath_source_key(ip, 1, v6);
	return server;
}

void topoopt_account_run_measured(const struct bpf_prog *prog, const u64 *args)
{
	bpf_prog_run(prog, args);
}

int topoopt_account_reg(void)
{
	static_branch_inc(&topoopt_account_key);
	return 0;
}

void topoopt_account_unreg(void)
{
	static_branch_dec(&topoopt_account_key);
}

bool topoopt_account_owned(void)
{
	return atomic_read(&topoopt_accounts);
}

static bool topoopt_account_sleeps(const struct bpf_prog *prog)
{
#ifdef TOPOOPT_HAVE_PROG_SLEEPABLE
	return prog->sleepable;
#else
	return false;	/* programs for raw tracepoints could not */
#endif
}

/*
 * Whether a program has a stack of its own on each processor. Run again in an
 * interrupt, where somebody else may have attached it too, it would overwrite what
 * it was interrupted with.
 */
static bool topoopt_account_private_stack(const struct bpf_prog *prog)
{
#ifdef TOPOOPT_HAVE_PROG_PRIVATE_STACK
	return prog->aux->jits_use_priv_stack;
#else
	return false;
#endif
}

static struct topoopt_account_program *
topoopt_account_find(struct topoopt_dev *tdev, u32 portid)
{
	struct topoopt_account_program *program;

	hlist_for_each_entry(program, &tdev->programs, node)
		if (program->portid == portid)
			return program;
	return NULL;
}

static void topoopt_account_free(struct topoopt_account_program *program)
{
	hlist_del_rcu(&program->node);
	static_branch_dec(&topoopt_account_key);
	atomic_dec(&topoopt_accounts);
	bpf_prog_put(program->prog);	/* which waits for readers, too */
	kfree_rcu(program, rcu);
}

void topoopt_account_disown(struct topoopt_dev *tdev, u32 portid)
{
	struct topoopt_account_program *program = topoopt_account_find(tdev, portid);

	if (program)
		topoopt_account_free(program);
}

void topoopt_account_exit(struct topoopt_dev *tdev)
{
	struct topoopt_account_program *program;
	struct hlist_node *next;

	hlist_for_each_entry_safe(program, next, &tdev->programs, node)
		topoopt_account_free(program);
}

int topoopt_account_add(struct topoopt_dev *tdev, struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[TOPOOPT_A_DEVICE_PROGRAM];
	struct topoopt_account_program *program;
	struct bpf_prog *prog;

	if (GENL_REQ_ATTR_CHECK(info, TOPOOPT_A_DEVICE_PROGRAM)) {
		NL_SET_ERR_MSG(info->extack, "The program is missing");
		return -EINVAL;
	}
	if (topoopt_account_find(tdev, info->snd_portid)) {
		NL_SET_ERR_MSG(info->extack, "The socket has a program already");
		return -EBUSY;
	}
	prog = bpf_prog_get_type_dev(nla_get_u32(attr),
				     BPF_PROG_TYPE_RAW_TRACEPOINT, false);
	if (IS_ERR(prog)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "Not a BPF program of type raw tracepoint");
		return PTR_ERR(prog);
	}
	if (prog->aux->max_ctx_offset > TOPOOPT_ACCOUNT_ARGUMENTS * sizeof(u64)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "The program reads more arguments than there are");
		bpf_prog_put(prog);
		return -EINVAL;
	}
	if (topoopt_account_sleeps(prog)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "Programs that sleep cannot run here");
		bpf_prog_put(prog);
		return -EINVAL;
	}
	if (topoopt_account_private_stack(prog)) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "The program needs too much stack");
		bpf_prog_put(prog);
		return -EINVAL;
	}
	program = kzalloc(sizeof(*program), GFP_KERNEL_ACCOUNT);
	if (!program) {
		bpf_prog_put(prog);
		return -ENOMEM;
	}
	program->prog = prog;
	program->portid = info->snd_portid;
	atomic_inc(&topoopt_accounts);
	hlist_add_head_rcu(&program->node, &tdev->programs);
	static_branch_inc(&topoopt_account_key);
	return 0;
}
