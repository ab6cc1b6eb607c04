/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_NOTE_LIMIT_H
#define TOPOOPT_NOTE_LIMIT_H

/* A bound of the lines that are printed about a server, which may have new texts without end. */

#include <stdbool.h>
#include <stdint.h>

/** TO_NOTE_LEFT_OUT - printf format of the line that follows: server, unsigned int */
#define TO_NOTE_LEFT_OUT "%s: %u further messages were not printed"

/** struct to_note_limit - lines about one server; zeroed at first */
struct to_note_limit {
	uint64_t began_ns;	/* CLOCK_MONOTONIC, when the minute began */
	unsigned int printed;	/* lines in this minute, at most TO_NOTES_PER_MINUTE */
	unsigned int left_out;	/* lines that came on top of them */
};

/**
 * to_note_limit_take() - tell whether another line may be printed
 *
 * A line that may not is counted.
 */
bool to_note_limit_take(struct to_note_limit *limit);

/**
 * to_note_limit_rest() - count the lines that were left out, once their minute is over
 * @end: do not wait for the end of the minute
 *
 * Return: how many they are, to be told in one line; 0 if there is nothing to tell.
 */
unsigned int to_note_limit_rest(struct to_note_limit *limit, bool end);

/**
 * to_note_limit_note() - print a warning about a server unless there were too many
 * @server: its name, for the line that follows
 * @note: see struct to_fabric_options
 */
void to_note_limit_note(struct to_note_limit *limit, const char *server, const char *text,
			void (*note)(const char *text));

/** to_note_limit_note_rest() - print how many warnings were left out, see to_note_limit_rest() */
void to_note_limit_note_rest(struct to_note_limit *limit, const char *server, bool end,
			     void (*note)(const char *text));

#endif
