// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/dcqcn.h"

#include <math.h>

/* Section 5.2 and Figure 14 there; rates as parts of the line's, as 40 Mbit/s is of 40 Gbit/s. */
#define DCQCN_G (1 / 256.f)
#define DCQCN_CNP (50 * 1000000ull)	/* between two CNPs of a flow */
#define DCQCN_TIMER (55 * 1000000ull)	/* of alpha, and of the rate */
#define DCQCN_BYTES 10000000
#define DCQCN_RECOVERY 5
#define DCQCN_ADDITIVE 1e-3f
#define DCQCN_HYPER 1e-2f
#define DCQCN_LEAST 1e-3f

void to_packet_dcqcn_begin(struct packet_dcqcn *d, double line, uint64_t now)
{
	*d = (struct packet_dcqcn){ .rate = line, .target = line, .alpha = 1, .alpha_at = now,
				    .increase_at = now };
}

static void dcqcn_increase(struct packet_dcqcn *d, float line)
{
	const uint8_t most = d->by_time > d->by_bytes ? d->by_time : d->by_bytes;
	const uint8_t least = d->by_time < d->by_bytes ? d->by_time : d->by_bytes;

	if (least > DCQCN_RECOVERY)
		d->target += DCQCN_HYPER * line;
	else if (most > DCQCN_RECOVERY)
		d->target += DCQCN_ADDITIVE * line;
	d->target = fminf(d->target, line);
	d->rate = (d->rate + d->target) / 2;
	/* what is left is less than a float tells */
	if (d->rate > line * (1 - 1e-4f))
		d->rate = d->target = line;
}

static void dcqcn_count(uint8_t *expirations)
{
	if (*expirations < UINT8_MAX)
		(*expirations)++;
}

/* What the timers have done since they were looked at. */
static void dcqcn_advance(struct packet_dcqcn *d, float line, uint64_t now)
{
	const uint64_t periods = (now - d->alpha_at) / DCQCN_TIMER;

	if (periods) {
		d->alpha *= powf(1 - DCQCN_G, periods);
		d->alpha_at += periods * DCQCN_TIMER;
	}
	for (; d->rate < line && now - d->increase_at >= DCQCN_TIMER; d->increase_at += DCQCN_TIMER) {
		dcqcn_count(&d->by_time);
		dcqcn_increase(d, line);
	}
}

void to_packet_dcqcn_notified(struct packet_dcqcn *d, double line, uint64_t now)
{
	dcqcn_advance(d, line, now);
	d->target = d->rate;
	d->rate = fmaxf(d->rate * (1 - d->alpha / 2), DCQCN_LEAST * line);
	d->alpha = (1 - DCQCN_G) * d->alpha + DCQCN_G;
	d->alpha_at = d->increase_at = now;
	d->sent = d->by_time = d->by_bytes = 0;
}

uint64_t to_packet_dcqcn_sent(struct packet_dcqcn *d, double line, uint32_t wire, uint64_t now)
{
	if (d->rate >= (float)line)
		return 0;
	dcqcn_advance(d, line, now);
	d->sent += wire;
	if (d->sent >= DCQCN_BYTES) {
		d->sent -= DCQCN_BYTES;
		dcqcn_count(&d->by_bytes);
		dcqcn_increase(d, line);
	}
	return d->rate >= (float)line ? 0 : wire / (double)d->rate * PACKET_SECOND;
}

bool to_packet_dcqcn_notifies(struct packet_dcqcn *d, uint64_t now)
{
	if (d->notified_at && now - d->notified_at < DCQCN_CNP)
		return false;
	d->notified_at = now;
	return true;
}
