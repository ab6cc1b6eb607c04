/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOPOOPT_CCM_H
#define TOPOOPT_CCM_H

/*
 * Frames of continuity checks: CCMs of connectivity fault management (IEEE 802.1Q,
 * clause 21; ITU-T Y.1731, clause 9.2), so that tcpdump and Wireshark dissect them. What
 * the relay wants to know of its neighbour is in an organisation-specific TLV:
 *
 *	 0  type 31, length, company id 02-54-4F (locally administered), subtype 1
 *	 7  version, flags
 *	 9  fabric, nonce, echo, generation, largest frame, MAC address
 *	51  server, port: names, padded with zeros
 *     131  authentication, of everything before it
 *
 * All numbers are big-endian.
 */

#include <linux/if_ether.h>
#include <linux/siphash.h>
#include <linux/types.h>

#define TOPOOPT_CCM_SERVER	64
#define TOPOOPT_CCM_PORT	16

/* Bytes behind the MAC header: header, sequence, MEP id, MAID, Y.1731's field, TLVs. */
#define TOPOOPT_CCM_TLV		74
#define TOPOOPT_CCM_LEN		(TOPOOPT_CCM_TLV + 139 + 1)

/* Where checks for whoever is there go: 01-80-C2-00-00-3x, x the level. */
#define TOPOOPT_CCM_LEVEL	0

extern const u8 topoopt_ccm_group[ETH_ALEN];

/**
 * struct topoopt_ccm - what a check says
 * @fabric: number of the fabric, the same on all its servers
 * @nonce: drawn by the sender for the receiver; the upper half names a session and stays,
 *	the lower half is renewed
 * @echo: the nonce that the sender last heard of the receiver; 0: none
 * @generation: of the sender's active table; with @table
 * @sequence: grows by one with each check from the sender to the receiver; a padded
 *	check has that of the one that it is a copy of
 * @largest: bytes of the largest frame that arrived from the receiver, MAC header
 *	included
 * @mep: number of the sender on this link
 * @interval: enum topoopt_check_interval
 * @rdi: the sender does not hear the receiver
 * @table: the sender has a table
 * @up: the sender's topoopt device is up
 * @expects: the sender takes a receiver that sends no checks for dead
 * @mac: MAC address that takes transit
 * @server: name of the sender
 * @port: and of its port
 */
struct topoopt_ccm {
	u64 fabric;
	u64 nonce;
	u64 echo;
	u64 generation;
	u32 sequence;
	u32 largest;
	u16 mep;
	u8 interval;
	bool rdi;
	bool table;
	bool up;
	bool expects;
	u8 mac[ETH_ALEN];
	char server[TOPOOPT_CCM_SERVER];
	char port[TOPOOPT_CCM_PORT];
};

/**
 * topoopt_ccm_write() - write a check
 * @pdu: TOPOOPT_CCM_LEN bytes, behind the MAC header
 * @ccm: what it says
 * @key: that the fabric shares
 */
void topoopt_ccm_write(u8 *pdu, const struct topoopt_ccm *ccm, const siphash_key_t *key);

/**
 * topoopt_ccm_ours() - tell checks of topoopt devices, right or wrong, from other frames
 * @pdu: bytes behind the MAC header
 * @len: how many there are; padding may follow the check
 */
bool topoopt_ccm_ours(const u8 *pdu, unsigned int len);

/* Whether a name is of a server or an interface, and fits into @size with its end. */
bool topoopt_ccm_name_valid(const char *name, size_t size);

/**
 * topoopt_ccm_read() - read a check that is ours
 * @pdu: see topoopt_ccm_ours()
 * @key: that the fabric shares
 * @ccm: filled; names end within their arrays
 *
 * Return: false when the authentication is wrong, a name has other letters than servers'
 * and interfaces' names do, or a field is out of range.
 */
bool topoopt_ccm_read(const u8 *pdu, const siphash_key_t *key, struct topoopt_ccm *ccm);

#endif
