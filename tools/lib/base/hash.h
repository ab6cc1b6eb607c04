/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_HASH_H
#define TOPOOPT_HASH_H

/* FNV-1a with 64 bits: tells two texts apart, but not by who forges one. */

#include <stddef.h>
#include <stdint.h>

#define TO_HASH_BEGIN 0xcbf29ce484222325ull

/** to_hash() - @hash with @len bytes more; the first one is TO_HASH_BEGIN */
static inline uint64_t to_hash(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	return hash;
}

#endif
