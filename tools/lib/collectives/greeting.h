/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_GREETING_H
#define TOPOOPT_GREETING_H

/*
 * Three messages by which two members of a collective prove to each other that they have the
 * token of the run:
 *
 *	who accepts				who connects
 *	challenge: a nonce		->
 *				<-	hello: who connects to whom, its own nonce, proof
 *	welcome: proof			->
 *
 * Each proof is a code (base/mac.h) of both nonces, so a recorded message proves nothing. The
 * token itself never leaves a server.
 */

#include "base/mac.h"

#define TO_GREETING_NONCE 32	/* bytes */

/** struct to_greeting_challenge - first message of who accepts */
struct to_greeting_challenge {
	uint8_t nonce[TO_GREETING_NONCE];
};

/** struct to_greeting_hello - first message of who connects; numbers are big-endian */
struct to_greeting_hello {
	uint64_t run;		/* equal at all members that run the same collective */
	uint32_t from, to;	/* members */
	uint32_t lane;
	uint8_t nonce[TO_GREETING_NONCE];
	uint8_t proof[TO_MAC_SIZE];
} __attribute__((packed));

/** struct to_greeting_welcome - answer of who accepts to a hello with a valid proof */
struct to_greeting_welcome {
	uint64_t run;		/* big-endian */
	uint8_t proof[TO_MAC_SIZE];
} __attribute__((packed));

/** to_greeting_challenge() - make a challenge; returns false without random numbers */
bool to_greeting_challenge(struct to_greeting_challenge *challenge);

/**
 * to_greeting_hello() - add nonce and proof to a hello
 * @hello: all other fields are set
 * @token: of the run
 *
 * Return: false when that cannot be computed.
 */
bool to_greeting_hello(struct to_greeting_hello *hello, const char *token,
		       const struct to_greeting_challenge *challenge);

/** to_greeting_hello_valid() - tell whether the sender of a hello has the token */
bool to_greeting_hello_valid(const struct to_greeting_hello *hello, const char *token,
			     const struct to_greeting_challenge *challenge);

/**
 * to_greeting_welcome() - add the proof to a welcome
 * @welcome: welcome->run is set
 * @hello: with a valid proof
 *
 * Return: false when that cannot be computed.
 */
bool to_greeting_welcome(struct to_greeting_welcome *welcome, const char *token,
			 const struct to_greeting_challenge *challenge,
			 const struct to_greeting_hello *hello);

/** to_greeting_welcome_valid() - tell whether the sender of a welcome has the token */
bool to_greeting_welcome_valid(const struct to_greeting_welcome *welcome, const char *token,
			       const struct to_greeting_challenge *challenge,
			       const struct to_greeting_hello *hello);

#endif
