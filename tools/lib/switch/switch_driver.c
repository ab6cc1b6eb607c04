// SPDX-License-Identifier: GPL-2.0-or-later
#include "switch/switch_driver.h"

#include <errno.h>

int to_switch_driver_pairs(const struct to_switch *sw, const struct to_circuits *circuits,
			   struct to_circuits *pairs, struct to_error *err)
{
	for (unsigned int i = 0; i < circuits->n; i++) {
		const struct to_circuit *p = &circuits->circuit[i];
		int ret = 0;

		if (sw->sides || p->in < p->out)
			ret = to_circuits_add(pairs, p->in,
					      p->out + sw->optical->control.egress_offset);
		if (ret) {
			to_circuits_free(pairs);
			return to_error_set(err, ret, "out of memory");
		}
	}
	return 0;
}
