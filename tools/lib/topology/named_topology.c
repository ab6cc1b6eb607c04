// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/named_topology.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "topology/mesh.h"
#include "topology/sip.h"
#include "topology/switched.h"

struct to_cluster *to_named_topology_none(const struct to_demand *demand, unsigned int degree,
					  uint64_t bandwidth, enum to_link_mode mode,
					  struct to_error *err)
{
	struct to_cluster *cluster = to_cluster_synthetic(demand->n, degree, bandwidth, mode, err);

	if (!cluster || !demand->names)
		return cluster;
	for (unsigned int i = 0; i < demand->n; i++)
		memcpy(cluster->servers[i].name, demand->names[i], TO_NAME_MAX);
	if (!to_cluster_sort(cluster))
		return cluster;
	to_error_set(err, -ENOMEM, "out of memory");
	to_cluster_free(cluster);
	return NULL;
}

/* Topologies other than those of SiP-ML. */
enum named_shape { NAMED_MESH, NAMED_BCUBE, NAMED_RAIL };

/* Read the shape that @word names, and its numbers. Return: a named_shape or -EINVAL. */
static int named_read(const char *word, unsigned int *n, unsigned int *k)
{
	int end = 0;

	if (strpbrk(word, "+- "))
		return -EINVAL;
	if (sscanf(word, "mesh:%5u,%5u%n", n, k, &end) == 2 && !word[end])
		return NAMED_MESH;
	if (sscanf(word, "bcube:%5u,%5u%n", n, k, &end) == 2 && !word[end])
		return NAMED_BCUBE;
	if (sscanf(word, "rail:%5u%n", n, &end) == 1 && !word[end])
		return NAMED_RAIL;
	return -EINVAL;
}

static struct to_cluster *named_sip(const struct to_sip *sip, const struct to_demand *demand,
				    uint64_t bandwidth, struct to_error *err)
{
	struct to_cluster *cluster;

	if (sip->ring && !bandwidth)
		bandwidth = TO_SIP_WAVELENGTH;
	cluster = to_named_topology_none(demand, sip->ports, bandwidth, TO_LINKS_SIMPLEX, err);
	if (!cluster || !to_sip_cable(sip, demand, cluster, err))
		return cluster;
	to_cluster_free(cluster);
	return NULL;
}

static int named_cable(enum named_shape shape, const struct to_bcube *bcube,
		       struct to_cluster *cluster, struct to_error *err)
{
	if (shape == NAMED_MESH)
		return to_mesh_cable(cluster, bcube) ? to_error_set(err, -ENOMEM, "out of memory") : 0;
	return shape == NAMED_BCUBE ? to_switched_bcube(cluster, bcube, err) :
				      to_switched_rails(cluster, err);
}

struct to_cluster *to_named_topology(const char *word, const struct to_demand *demand,
				     uint64_t bandwidth, struct to_error *err)
{
	unsigned int n = 0, k = 0, ports;
	struct to_cluster *cluster;
	struct to_bcube bcube;
	struct to_sip sip;
	int shape, ret = to_sip_read(word, &sip, err);

	if (ret)
		return ret > 0 ? named_sip(&sip, demand, bandwidth, err) : NULL;
	shape = named_read(word, &n, &k);
	if (shape < 0) {
		to_error_set(err, -EINVAL, "--topology %s: expected " TO_NAMED_TOPOLOGIES, word);
		return NULL;
	}
	if (shape != NAMED_RAIL && to_bcube_init(&bcube, n, k, err))
		return NULL;
	if (shape != NAMED_RAIL && bcube.servers != demand->n) {
		to_error_set(err, -EINVAL, "%s has %u servers, the job %u", word, bcube.servers,
			     demand->n);
		return NULL;
	}
	ports = shape == NAMED_MESH ? to_mesh_ports(&bcube) : shape == NAMED_RAIL ? n : k;
	cluster = to_named_topology_none(demand, ports, bandwidth, TO_LINKS_DUPLEX, err);
	if (!cluster || !named_cable(shape, &bcube, cluster, err))
		return cluster;
	to_cluster_free(cluster);
	return NULL;
}
