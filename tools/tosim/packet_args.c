// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_args.h"

#include <string.h>

#include "base/quantity.h"

/* Read "MIN,MAX" */
static bool packet_read_marks(const char *text, uint64_t *min, uint64_t *max)
{
	const char *comma = strchr(text, ',');
	char first[32];

	if (!comma || (size_t)(comma - text) >= sizeof(first))
		return false;
	memcpy(first, text, comma - text);
	first[comma - text] = '\0';
	return to_quantity_bytes(first, min) && to_quantity_bytes(comma + 1, max) && *min &&
	       *min <= *max;
}

int to_packet_args_read(struct to_call *call, const struct to_packet_args *args,
			const char *output, struct to_packet_level_options *options)
{
	*options = (struct to_packet_level_options){
		.transport = args->transport, .mtu = args->mtu, .headers = args->headers,
		.queue_pairs = args->queue_pairs, .buffer = args->buffer,
		.relay_cost = args->relay_cost, .relay_queue = args->relay_queue,
		.timeout = args->timeout, .no_pfc = args->no_pfc,
		.fast_forward = args->fast_forward, .capture = args->capture,
		.capture_path = output };
	if (args->marks && !packet_read_marks(args->marks, &options->mark_min, &options->mark_max))
		return to_usage(call, "--marks: expected MIN,MAX, bytes like 100kB,400kB, not \"%.80s\"",
				args->marks);
	if (!args->capture)
		return 0;
	if (!output)
		return to_usage(call, "--capture: give --output, where the packets go");
	if (args->fast_forward)
		return to_usage(call, "--capture is of all packets: leave out --fast-forward");
	return 0;
}
