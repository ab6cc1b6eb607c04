/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_APPLY_ALL_H
#define TOPOOPT_APPLY_ALL_H

#include "command.h"
#include "control/fabric.h"

/** to_apply_all() - toctl apply --all: @plan on all its servers, or on none */
int to_apply_all(struct to_call *call, const struct to_plan *plan,
		 const struct to_fabric_options *options, bool verbose);

#endif
