/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_ENV_H
#define TOPOOPT_ENV_H

/* Environment by which clients of a job use a server's ports as planned. */

#include <jansson.h>

#include "job/ranks.h"
#include "kernel/rdma.h"

/** enum to_env_client - whose environment; see to_env_clients */
enum to_env_client {
	TO_ENV_NCCL, TO_ENV_OPENMPI, TO_ENV_UCX, TO_ENV_GLOO, TO_ENV_TORCHRUN
};

extern const char *const to_env_clients[];	/* ends with NULL */

/* The first version of NCCL with NCCL_IB_SUBNET_AWARE_ROUTING, as NCCL_VERSION_CODE. */
#define TO_ENV_NCCL_SUBNET_AWARE 23007

/** struct to_env_port - what a port of the server is now */
struct to_env_port {
	bool carrier;
	struct to_rdma_port rdma;
};

/**
 * struct to_env_view - the server that the environment is for
 * @server: has a place in @ranks
 * @device: the topoopt device
 * @ports: of the server, as the plan has them
 * @version: of NCCL, as its NCCL_VERSION_CODE; 0: unknown
 */
struct to_env_view {
	const struct to_ranks *ranks;
	uint32_t server;
	const char *device;
	const struct to_env_port *ports;
	unsigned int version;
};

/**
 * to_env_look() - read carrier and RDMA devices of a server's ports from the kernel
 * @ports: TO_PORTS_MAX of them
 */
int to_env_look(const struct to_server *server, struct to_env_port *ports,
		struct to_error *err);

/**
 * to_env_make() - variables for a client on one server
 * @variables: object of strings, to be freed; in the order in which they are printed
 * @warnings: array of lines: connections of the server that leave their cable, and
 *	what versions of the client cannot do
 *
 * For NCCL and UCX, which send by RDMA devices, a port that has carrier needs one with
 * the RoCEv2 GID of its address. NCCL is given the ports that are cabled to the
 * server's neighbours on the ring: it asks every device for all of its connections.
 *
 * Return: 0; -ENOENT: the server has no place; -ENODEV: no port has carrier, or one has
 * no RDMA device or GID; -ENOTSUP: GIDs whose indices no variable can tell.
 */
int to_env_make(const struct to_env_view *view, enum to_env_client client,
		json_t **variables, json_t **warnings, struct to_error *err);

#endif
