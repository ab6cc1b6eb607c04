/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_LIMITS_H
#define TOPOOPT_LIMITS_H

/*
 * How much may come across a boundary: files, agents, etcd. What is larger is
 * refused where it comes in, in one line. All bounds that cost memory or time
 * are here; selftests/unit/test_limits.c tries each at the limit and one above.
 */

/* ---- files ---- */

/*
 * Bytes of a file: 100 times a plan for 1024 servers. What was recorded may be more, and
 * what the administrator wrote (a password, a list of what is allowed) is less.
 */
#define TO_FILE_MAX ((size_t)1 << 30)
#define TO_FILE_RECORDING_MAX ((size_t)4 << 30)
#define TO_FILE_SMALL_MAX ((size_t)64 << 10)

/* Bytes of a user's job.json that a service reads: a matrix of 2048 servers */
#define TO_FILE_SERVICE_MAX ((size_t)64 << 20)

/* ---- JSON, from wherever it comes ---- */

/* Arrays and objects inside each other; the project's formats need 8. */
#define TO_JSON_DEPTH_MAX 32

/*
 * Bytes that the values of a document take, as to_json_weight_add() estimates them:
 * a matrix of 3000 servers, a million pairs in a sample of tm.json. Of what is
 * read one after the other (tables, samples), every element by itself.
 */
#define TO_JSON_MEMORY_MAX (512u << 20)

/* ---- jobs and fabrics ---- */

/* Servers that are planned for without --large: a matrix of them takes 8 MiB. */
#define TO_SERVERS_USUAL 1024u

/* AllReduce groups of a job, and their members in all */
#define TO_GROUPS_MAX 32768u
#define TO_MEMBERS_MAX (1u << 24)

/* Steps to add up the transfers of a job, rows times runs of servers: 1 s at 1024 servers. */
#define TO_TRANSFER_STEPS_MAX(servers) ((1ull << 27) + 2ull * (servers) * (servers))

/* ---- recordings ---- */

/* Bytes, or packets, of one recording in all: 16 days at 400 Gbit/s. */
#define TO_RECORD_SUM_MAX (1ull << 56)

/*
 * Cells of a merge, links times intervals: so many for each row of a port in the
 * recordings, and some in any case. A cell takes 100 bytes.
 */
#define TO_MERGE_CELLS_PER_ROW 16u
#define TO_MERGE_CELLS_MIN (1u << 18)

/*
 * A live merge: intervals that are joined at most into one sample while NICs' counters
 * stand still, and those for which what a link's ends saw of a pair is remembered after
 * it fell silent. So its memory is in proportion to what was seen in so many intervals.
 */
#define TO_LIVE_JOIN_MAX 64u
#define TO_LIVE_MEMORY 64u

/* ---- what is printed ---- */

/* Bytes of a warning or of a string of an agent's reply, with the NUL */
#define TO_LINE_MAX 4096u

/* Lines about a server in a minute; what follows is counted, and told in one line. */
#define TO_NOTES_PER_MINUTE 10u

/* ---- agents and controllers ---- */

/* How far a server's generation may be beyond that of all others */
#define TO_GENERATIONS_MAX (1ull << 32)

/* Rows of flows in the sample of a server */
#define TO_SAMPLE_FLOWS_MAX 65536u

/* Bytes of a reply of an agent: 64 for a row, 80 for the name of a server. */
#define TO_REPLY_MAX(servers) (TO_SAMPLE_FLOWS_MAX * 64ull + (64u << 10) + 80ull * (servers))

/* The same through etcd, where an agent knows no number of servers */
#define TO_ETCD_REPLY_MAX (8u << 20)

/* Bytes of an answer of etcd; what 1024 agents say is 340 MB at most */
#define TO_ETCD_ANSWER_MAX (512u << 20)

/* Bytes that an agent may write to its standard error during one request */
#define TO_AGENT_ERRORS_MAX (1u << 20)

/* Bytes of a request: a server's part of a plan for 65536 servers of four ports */
#define TO_REQUEST_MAX (64u << 20)

/*
 * A text in etcd, expanded; and beyond a small one, how many times the compressed
 * text that may be. Parts of plans are 4 to 11 times that, zlib could make it 1000.
 */
#define TO_BLOB_MAX TO_REQUEST_MAX
#define TO_BLOB_SMALL (1u << 20)
#define TO_BLOB_RATIO_MAX 100u

#endif
