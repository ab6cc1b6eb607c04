// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job_tree.h"

#define TREE_CHUNK 16384	/* elements */

bool job_read(int fd, void *buf, size_t len)
{
	for (char *p = buf; len;) {
		ssize_t n = read(fd, p, len);

		if (n <= 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

bool job_write(int fd, const void *buf, size_t len)
{
	for (const char *p = buf; len;) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

/* Elements of a chunk before those that connection @part of @hop has. */
static uint64_t tree_part(const struct job_hop *hop, unsigned int part, uint64_t n)
{
	return n * part / hop->n;
}

static bool tree_send(const struct job_hop *hop, const uint32_t *data, uint64_t n)
{
	bool ok = true;

	for (unsigned int i = 0; ok && i < hop->n; i++) {
		uint64_t first = tree_part(hop, i, n), end = tree_part(hop, i + 1, n);

		ok = job_write(hop->fd[i], data + first, (end - first) * sizeof(*data));
	}
	return ok;
}

static bool tree_receive(const struct job_hop *hop, uint32_t *data, uint64_t n)
{
	bool ok = true;

	for (unsigned int i = 0; ok && i < hop->n; i++) {
		uint64_t first = tree_part(hop, i, n), end = tree_part(hop, i + 1, n);

		ok = job_read(hop->fd[i], data + first, (end - first) * sizeof(*data));
	}
	return ok;
}

static bool tree_broadcast(const struct job_tree *tree, const uint32_t *data, uint64_t n)
{
	bool ok = true;

	for (unsigned int i = 0; ok && i < tree->n_down; i++)
		ok = tree_send(&tree->down[i], data, n);
	return ok;
}

struct tree_sums {
	const struct job_tree *tree;
	uint32_t *data;
	uint64_t n;
	bool ok;
};

static uint64_t tree_chunk(uint64_t at, uint64_t n)
{
	return n - at < TREE_CHUNK ? n - at : TREE_CHUNK;
}

/* What comes from the root. A chunk does so only after it went up from here. */
static void *tree_sums(void *arg)
{
	struct tree_sums *sums = arg;
	const struct job_tree *tree = sums->tree;

	sums->ok = true;
	for (uint64_t at = 0; sums->ok && at < sums->n; at += TREE_CHUNK) {
		uint64_t n = tree_chunk(at, sums->n);

		sums->ok = tree_receive(&tree->up, sums->data + at, n) &&
			   tree_broadcast(tree, sums->data + at, n);
	}
	return NULL;
}

bool job_tree_reduce(const struct job_tree *tree, uint32_t *data, uint64_t n)
{
	struct tree_sums sums = { tree, data, n, true };
	uint32_t *incoming = malloc(TREE_CHUNK * sizeof(*incoming));
	bool root = !tree->up.n, ok = incoming;
	pthread_t thread;

	if (!ok || (!root && pthread_create(&thread, NULL, tree_sums, &sums))) {
		free(incoming);
		return false;
	}
	for (uint64_t at = 0; ok && at < n; at += TREE_CHUNK) {
		uint64_t chunk = tree_chunk(at, n);

		for (unsigned int i = 0; ok && i < tree->n_down; i++) {
			ok = tree_receive(&tree->down[i], incoming, chunk);
			for (uint64_t e = 0; e < chunk; e++)
				data[at + e] += incoming[e];
		}
		if (ok)
			ok = root ? tree_broadcast(tree, data + at, chunk) :
				    tree_send(&tree->up, data + at, chunk);
	}
	/* the parent would wait for the rest */
	if (!ok)
		for (unsigned int i = 0; i < tree->up.n; i++)
			shutdown(tree->up.fd[i], SHUT_RDWR);
	if (!root)
		pthread_join(thread, NULL);
	free(incoming);
	return ok && sums.ok;
}
