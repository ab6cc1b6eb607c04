/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_ACCOUNT_H
#define TOPOOPT_ACCOUNT_H

#include <linux/filter.h>
#include <linux/jump_label.h>
#include <linux/rculist.h>

#include "nesting.h"
#include "topoopt.h"
#include "trace.h"

struct genl_info;

#define TOPOOPT_ACCOUNT_CLASS_SHIFT	30
#define TOPOOPT_ACCOUNT_ARGUMENTS	4

/**
 * struct topoopt_account_program - BPF program run at the accounting point
 * @node: in topoopt_dev.programs
 * @prog: of type BPF_PROG_TYPE_RAW_TRACEPOINT, reads no more than the
 *	arguments there are
 * @portid: socket that attached it
 */
struct topoopt_account_program {
	struct hlist_node node;
	struct bpf_prog *prog;
	u32 portid;
	struct rcu_head rcu;
};

/**
 * struct topoopt_account_frame - what a program runs on; per CPU, where that is one's
 *	own, as it costs less than one on the stack
 * @args: its context
 * @run: helpers look there for what the link of a tracepoint knows
 */
struct topoopt_account_frame {
	u64 args[TOPOOPT_ACCOUNT_ARGUMENTS];
	struct bpf_trace_run_ctx run;
};

DECLARE_PER_CPU(struct topoopt_account_frame, topoopt_account_frames);
DECLARE_STATIC_KEY_FALSE(topoopt_account_key);

/* Whether a program or the tracepoint is attached. */
static inline bool topoopt_account_enabled(void)
{
	return static_branch_unlikely(&topoopt_account_key);
}

/* Arguments; ports by ifindex, 0 for none. */
static __always_inline u64 topoopt_account_ports(u32 in, u32 out, u32 class)
{
	return (u64)out << 32 | class << TOPOOPT_ACCOUNT_CLASS_SHIFT | in;
}

static __always_inline u64 topoopt_account_pair(u32 src, u32 dst)
{
	return (u64)src << 32 | dst;
}

/* Runs a program while the kernel measures how long programs take. */
void topoopt_account_run_measured(const struct bpf_prog *prog, const u64 *args);

/* Does what bpf_prog_run() does, without the registers that it saves to measure. */
static __always_inline void topoopt_account_run_prog(const struct bpf_prog *prog,
						     const u64 *args)
{
	if (static_branch_unlikely(&bpf_stats_enabled_key))
		topoopt_account_run_measured(prog, args);
	else
		bpf_dispatcher_nop_func(args, prog->insnsi, prog->bpf_func);
}

/* The accounting point, with arguments made beforehand. */
static __always_inline void topoopt_account_run(const struct topoopt_dev *tdev,
						u64 ports, u64 pair,
						u32 packets, u64 bytes)
{
	struct topoopt_account_frame *frame = this_cpu_ptr(&topoopt_account_frames);
	const struct topoopt_account_program *program;
	struct topoopt_account_frame own;
	struct bpf_run_ctx *old;

	if (TOPOOPT_BH_PREEMPTIBLE) {
		own.run = (struct bpf_trace_run_ctx){};
		frame = &own;
	}
	frame->args[TOPOOPT_ACCOUNT_ARGUMENT_PORTS] = ports;
	frame->args[TOPOOPT_ACCOUNT_ARGUMENT_PAIR] = pair;
	frame->args[TOPOOPT_ACCOUNT_ARGUMENT_PACKETS] = packets;
	frame->args[TOPOOPT_ACCOUNT_ARGUMENT_BYTES] = bytes;
	if (trace_topoopt_account_enabled())
		trace_topoopt_account(tdev->dev, frame->args);
	old = bpf_set_run_ctx(&frame->run.run_ctx);
	hlist_for_each_entry_rcu(program, &tdev->programs, node,
				 rcu_read_lock_bh_held())
		topoopt_account_run_prog(program->prog, frame->args);
	bpf_reset_run_ctx(old);
}

/*
 * The accounting point: once for every packet, or GSO aggregate, that was
 * relayed, originated or delivered, for every frame that a port left to the stack, and
 * for every continuity check. @in is NULL for what this server originated, @out for
 * what was delivered to it. Under RCU, bottom halves off.
 *
 * Programs and the tracepoint get plain numbers, enum topoopt_account_argument,
 * so that they follow no pointer.
 */
static __always_inline void topoopt_account(const struct topoopt_dev *tdev,
					    const struct topoopt_port *in,
					    const struct topoopt_port *out,
					    u32 src, u32 dst, u32 class,
					    u32 packets, u64 bytes)
{
	topoopt_account_run(tdev,
			    topoopt_account_ports(in ? in->ifindex : 0,
						  out ? out->ifindex : 0, class),
			    topoopt_account_pair(src, dst), packets, bytes);
}

/* account.c, all under topoopt_dev.lock */

/* Adds the program that a request brings. */
int topoopt_account_add(struct topoopt_dev *tdev, struct genl_info *info);

/* Remove the program of the socket @portid, all programs of the device. */
void topoopt_account_disown(struct topoopt_dev *tdev, u32 portid);
void topoopt_account_exit(struct topoopt_dev *tdev);

/* Whether there is any program that belongs to a socket. */
bool topoopt_account_owned(void);

#endif
