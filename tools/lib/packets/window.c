// SPDX-License-Identifier: GPL-2.0-or-later
#include "packets/window.h"

#include <math.h>

#define WINDOW_INITIAL 10	/* RFC 6928 */
#define WINDOW_G (1 / 16.f)
#define WINDOW_DUPLICATES 3

void to_packet_window_begin(struct packet_tcp *t)
{
	*t = (struct packet_tcp){ .window = WINDOW_INITIAL, .threshold = TO_WINDOW_MAX, .alpha = 1,
				  .resend = PACKET_NONE };
}

bool to_packet_window_allows(const struct packet_flow *f)
{
	return f->tcp.resend != PACKET_NONE ||
	       (f->next < f->limit && f->next - f->acked < (uint32_t)f->tcp.window);
}

/* A window of data has been acknowledged: how much of it was marked? */
static void window_estimate(struct packet_flow *f)
{
	struct packet_tcp *t = &f->tcp;

	t->alpha += WINDOW_G * ((float)t->marked / t->acked - t->alpha);
	if (t->marked) {
		t->window = fmaxf(t->window * (1 - t->alpha / 2), 2);
		t->threshold = t->window;
	}
	t->acked = t->marked = 0;
	t->window_end = f->next;
}

static void window_progress(struct packet_flow *f, uint32_t number, bool marked, bool ecn)
{
	struct packet_tcp *t = &f->tcp;
	const uint32_t acked = number - f->acked;

	f->acked = number;
	if (f->next < number)
		f->next = number;
	t->duplicates = 0;
	if (t->recovers && number >= t->recover) {
		t->recovers = false;
		t->window = t->threshold;
	} else if (t->recovers) {
		/* the next hole */
		t->resend = number;
		t->window = fmaxf(t->window - acked + 1, 1);
	} else {
		t->window += t->window < t->threshold ? acked : acked / t->window;
	}
	t->window = fminf(t->window, TO_WINDOW_MAX);
	t->acked += acked;
	t->marked += marked ? acked : 0;
	if (ecn && number >= t->window_end)
		window_estimate(f);
}

void to_packet_window_acked(struct packet_flow *f, uint32_t number, bool marked, bool ecn)
{
	struct packet_tcp *t = &f->tcp;

	if (number > f->acked) {
		window_progress(f, number, marked, ecn);
	} else if (number == f->acked && f->next > f->acked) {
		if (t->recovers) {
			t->window = fminf(t->window + 1, TO_WINDOW_MAX);
		} else if (++t->duplicates == WINDOW_DUPLICATES) {
			t->recovers = true;
			t->recover = f->next;
			t->threshold = fmaxf((f->next - f->acked) / 2.f, 2);
			t->window = t->threshold + WINDOW_DUPLICATES;
			t->resend = f->acked;
		}
	}
}

void to_packet_window_timeout(struct packet_flow *f)
{
	struct packet_tcp *t = &f->tcp;

	t->threshold = fmaxf((f->next - f->acked) / 2.f, 2);
	t->window = 1;
	t->duplicates = 0;
	t->recovers = false;
	t->resend = PACKET_NONE;
	f->next = f->acked;
}
