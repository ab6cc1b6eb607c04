/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_MAC_H
#define TOPOOPT_MAC_H

/* Message authentication codes: HMAC-SHA256 (RFC 2104), computed by OpenSSL's libcrypto. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** TO_MAC_SIZE - bytes of a code */
#define TO_MAC_SIZE 32

/**
 * to_mac_load() - load libcrypto; call it before any other function of this file
 *
 * Return: what to_lazy_load() returns.
 */
int to_mac_load(struct to_error *err);

/**
 * to_mac_make() - compute the code of a message
 * @key: secret, ends with a NUL that is no part of it
 * @message: @size bytes
 *
 * Return: false when libcrypto fails; then @mac is all zero.
 */
bool to_mac_make(uint8_t mac[TO_MAC_SIZE], const char *key, const void *message, size_t size);

/** to_mac_equal() - compare two codes in a time that does not depend on their bytes */
bool to_mac_equal(const uint8_t a[TO_MAC_SIZE], const uint8_t b[TO_MAC_SIZE]);

#endif
