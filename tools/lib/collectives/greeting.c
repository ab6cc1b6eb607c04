// SPDX-License-Identifier: GPL-2.0-or-later
#include "collectives/greeting.h"

#include <string.h>
#include <sys/random.h>

/* What the proof of a hello covers. */
struct greeting_hello_proof {
	char purpose[24];
	struct to_greeting_challenge challenge;
	struct to_greeting_hello hello;		/* its proof is zero */
} __attribute__((packed));

/* What the proof of a welcome covers. */
struct greeting_welcome_proof {
	char purpose[24];
	struct to_greeting_challenge challenge;
	struct to_greeting_hello hello;
	uint64_t run;
} __attribute__((packed));

static bool greeting_random(uint8_t nonce[TO_GREETING_NONCE])
{
	return getrandom(nonce, TO_GREETING_NONCE, 0) == TO_GREETING_NONCE;
}

bool to_greeting_challenge(struct to_greeting_challenge *challenge)
{
	return greeting_random(challenge->nonce);
}

static bool greeting_prove_hello(uint8_t proof[TO_MAC_SIZE], const struct to_greeting_hello *hello,
				 const char *token, const struct to_greeting_challenge *challenge)
{
	struct greeting_hello_proof text = {
		.purpose = "topoopt hello", .challenge = *challenge, .hello = *hello };

	memset(text.hello.proof, 0, sizeof(text.hello.proof));
	return to_mac_make(proof, token, &text, sizeof(text));
}

static bool greeting_prove_welcome(uint8_t proof[TO_MAC_SIZE],
				   const struct to_greeting_welcome *welcome, const char *token,
				   const struct to_greeting_challenge *challenge,
				   const struct to_greeting_hello *hello)
{
	const struct greeting_welcome_proof text = {
		.purpose = "topoopt welcome", .challenge = *challenge, .hello = *hello,
		.run = welcome->run };

	return to_mac_make(proof, token, &text, sizeof(text));
}

bool to_greeting_hello(struct to_greeting_hello *hello, const char *token,
		       const struct to_greeting_challenge *challenge)
{
	return greeting_random(hello->nonce) &&
	       greeting_prove_hello(hello->proof, hello, token, challenge);
}

bool to_greeting_hello_valid(const struct to_greeting_hello *hello, const char *token,
			     const struct to_greeting_challenge *challenge)
{
	uint8_t proof[TO_MAC_SIZE];

	return greeting_prove_hello(proof, hello, token, challenge) &&
	       to_mac_equal(proof, hello->proof);
}

bool to_greeting_welcome(struct to_greeting_welcome *welcome, const char *token,
			 const struct to_greeting_challenge *challenge,
			 const struct to_greeting_hello *hello)
{
	return greeting_prove_welcome(welcome->proof, welcome, token, challenge, hello);
}

bool to_greeting_welcome_valid(const struct to_greeting_welcome *welcome, const char *token,
			       const struct to_greeting_challenge *challenge,
			       const struct to_greeting_hello *hello)
{
	uint8_t proof[TO_MAC_SIZE];

	return greeting_prove_welcome(proof, welcome, token, challenge, hello) &&
	       to_mac_equal(proof, welcome->proof);
}
