// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/mac.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <string.h>

#include "base/lazy.h"

static struct {
	__typeof__(HMAC) *hmac;
	__typeof__(EVP_sha256) *sha256;
	__typeof__(CRYPTO_memcmp) *compare;
} mac_crypto;

int to_mac_load(struct to_error *err)
{
	static const struct to_lazy_symbol symbols[] = {
		{ "HMAC", (void **)&mac_crypto.hmac },
		{ "EVP_sha256", (void **)&mac_crypto.sha256 },
		{ "CRYPTO_memcmp", (void **)&mac_crypto.compare },
	};

	return to_lazy_load("libcrypto.so.3", symbols, sizeof(symbols) / sizeof(symbols[0]), err);
}

bool to_mac_make(uint8_t mac[TO_MAC_SIZE], const char *key, const void *message, size_t size)
{
	unsigned int len = 0;

	if (mac_crypto.hmac(mac_crypto.sha256(), key, (int)strlen(key), message, size, mac, &len) &&
	    len == TO_MAC_SIZE)
		return true;
	memset(mac, 0, TO_MAC_SIZE);
	return false;
}

bool to_mac_equal(const uint8_t a[TO_MAC_SIZE], const uint8_t b[TO_MAC_SIZE])
{
	return !mac_crypto.compare(a, b, TO_MAC_SIZE);
}
