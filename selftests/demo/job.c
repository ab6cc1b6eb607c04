// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One server's part of one training iteration, over TCP: reach every other
 * server, send the MP transfers of the demand, and run the AllReduce of every
 * group over the planned rings or trees with real sums, as toctl collective run does. One
 * process per server, started in the server's network namespace; they find each other
 * through the plan.
 *
 *   job [--scale F] [--repeat N] [--nodes] [--port PORT] [--timeout SECONDS] PLAN SERVER
 *
 * Every byte count of the demand is multiplied by F; AllReduce and, beside it, MP
 * transfers run N times; the next time begins when both have ended. With --nodes
 * AllReduce goes between node addresses, which need no certain port to have light.
 * The secret of a run is in $TOPOOPT_COLLECTIVE_TOKEN. Prints one JSON object; exit status 0 only if every peer was reached, every MP
 * byte arrived and every sum was right.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "collectives/collective_run.h"
#include "collectives/rendezvous.h"
#include "data/plan.h"
#include "format/plan_json.h"

#define JOB_CHUNK (256 * 1024)

#define JOB_GROUP_PORT 1000	/* AllReduce group g has the job's port + this + g */

enum message_type { MESSAGE_REACH, MESSAGE_MP };

/* First bytes of every connection. All servers share one byte order. */
struct message {
	uint32_t type;
	uint32_t src;		/* server index */
	uint64_t bytes;		/* MESSAGE_MP */
};

/* The AllReduce of one group, seen from this server. */
struct reduction {
	struct to_collective_plan c;
	struct to_rendezvous rendezvous;
	struct to_steps steps;
	struct to_exchange exchange;
	float *buffer;
	unsigned int rings, trees;	/* directions of rings count one by one */
	pthread_t thread;
	bool ok;
};

static struct {
	struct to_plan *plan;
	uint32_t self;
	double scale;
	long repeat;
	uint16_t port;
	bool nodes;
	char token[TO_PASSWORD_MAX];
	struct timespec deadline;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int reached_from, n_reductions;
	uint64_t mp_received;
	uint64_t mp_expected;	/* in one repetition */
	struct reduction *reductions;
	pthread_barrier_t repeated;	/* reductions and transfers */
} job = {
	.scale = 1.0,
	.repeat = 1,
	.port = 7471,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "job: %s: ",
		job.plan ? job.plan->cluster->servers[job.self].name : "start");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static bool expired(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec >= job.deadline.tv_sec;
}

static uint64_t scaled(uint64_t bytes)
{
	return (uint64_t)(bytes * job.scale);
}

static bool job_read(int fd, void *buf, size_t len)
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

static bool job_write(int fd, const void *buf, size_t len)
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

/* Connects to a server, until it listens or time is up. */
static int connect_to(struct in_addr to, const char *who)
{
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_addr = to,
				    .sin_port = htons(job.port) };
	struct timeval patience = { .tv_sec = 5 };

	for (;;) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		int one = 1;

		if (fd < 0)
			die("socket: %s", strerror(errno));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		/* SO_SNDTIMEO bounds connect() as well. */
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (!connect(fd, (struct sockaddr *)&peer, sizeof(peer))) {
			patience.tv_sec = 0;
			setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
				   sizeof(patience));
			return fd;
		}
		if (expired())
			die("%s (%s) cannot be reached: %s", who, inet_ntoa(to),
			    strerror(errno));
		close(fd);
		poll(NULL, 0, 50);
	}
}

/* ---- what arrives ---- */

static void *serve_connection(void *arg)
{
	int fd = (int)(intptr_t)arg;
	struct message msg;
	uint64_t left;
	char *buf;

	if (!job_read(fd, &msg, sizeof(msg)))
		goto out;
	switch (msg.type) {
	case MESSAGE_REACH:
		if (!job_write(fd, &msg, sizeof(msg)))
			goto out;
		pthread_mutex_lock(&job.lock);
		job.reached_from++;
		pthread_cond_broadcast(&job.changed);
		pthread_mutex_unlock(&job.lock);
		break;
	case MESSAGE_MP:
		buf = malloc(JOB_CHUNK);
		for (left = msg.bytes; buf && left;) {
			size_t len = left < JOB_CHUNK ? left : JOB_CHUNK;

			if (!job_read(fd, buf, len))
				break;
			left -= len;
		}
		free(buf);
		/* The sender waits for this byte: its bytes were read. */
		if (!left)
			job_write(fd, "", 1);
		pthread_mutex_lock(&job.lock);
		job.mp_received += msg.bytes - left;
		pthread_cond_broadcast(&job.changed);
		pthread_mutex_unlock(&job.lock);
		break;
	}
out:
	close(fd);
	return NULL;
}

static void *serve(void *arg)
{
	int listener = (int)(intptr_t)arg;

	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (fd < 0)
			continue;
		if (pthread_create(&thread, NULL, serve_connection,
				   (void *)(intptr_t)fd))
			die("no thread for a connection");
		pthread_detach(thread);
	}
	return NULL;
}

/* ---- reachability and MP transfers ---- */

static bool reach(uint32_t dst)
{
	const struct to_server *server = &job.plan->cluster->servers[dst];
	struct message msg = { .type = MESSAGE_REACH, .src = job.self };
	int fd = connect_to(server->address.v4, server->name);
	bool ok = job_write(fd, &msg, sizeof(msg)) && job_read(fd, &msg, sizeof(msg));

	close(fd);
	return ok;
}

static void *send_mp(void *arg)
{
	uint32_t dst = (uint32_t)(uintptr_t)arg;
	const struct to_server *server = &job.plan->cluster->servers[dst];
	const struct to_demand *demand = job.plan->demand;
	struct message msg = {
		.type = MESSAGE_MP, .src = job.self,
		.bytes = scaled(demand->mp[(size_t)job.self * demand->n + dst]),
	};
	int fd = connect_to(server->address.v4, server->name);
	char *buf = calloc(1, JOB_CHUNK), done;
	bool ok = buf && job_write(fd, &msg, sizeof(msg));

	for (uint64_t left = msg.bytes; ok && left;) {
		size_t len = left < JOB_CHUNK ? left : JOB_CHUNK;

		ok = job_write(fd, buf, len);
		left -= len;
	}
	ok = ok && job_read(fd, &done, 1);
	free(buf);
	close(fd);
	return ok ? NULL : arg;
}

/* All MP transfers once more, @times in all. Returns the seconds they took. */
static double transfer_all(long times, unsigned int *all, unsigned int *ok)
{
	const struct to_demand *demand = job.plan->demand;
	const uint64_t *bytes = demand->mp + (size_t)job.self * demand->n;
	pthread_t *senders = calloc(demand->n, sizeof(*senders));
	double start = seconds_now();

	if (!senders)
		die("no memory for %u senders", demand->n);
	for (uint32_t dst = 0; dst < demand->n; dst++)
		if (scaled(bytes[dst]) &&
		    pthread_create(&senders[dst], NULL, send_mp, (void *)(uintptr_t)dst))
			die("no thread for an MP transfer");
	for (uint32_t dst = 0; dst < demand->n; dst++) {
		void *failed;

		if (!scaled(bytes[dst]))
			continue;
		pthread_join(senders[dst], &failed);
		++*all;
		*ok += !failed;
	}
	free(senders);
	pthread_mutex_lock(&job.lock);
	while (job.mp_received < times * job.mp_expected)
		if (pthread_cond_timedwait(&job.changed, &job.lock, &job.deadline))
			die("%llu of %llu MP bytes arrived",
			    (unsigned long long)job.mp_received,
			    (unsigned long long)times * job.mp_expected);
	pthread_mutex_unlock(&job.lock);
	return seconds_now() - start;
}

/* ---- AllReduce ---- */

/* Once for each repetition; all of them begin together. */
static void *run_reduction(void *arg)
{
	struct reduction *r = arg;
	struct to_error err = {};
	char here = 0, *heard = calloc(r->c.n, 1);

	if (!heard)
		die("no memory for %u servers", r->c.n);
	r->ok = true;
	if (to_rendezvous_connect(&r->rendezvous, &r->exchange, &err))
		die("group %u: %s", r->c.group, err.text);
	for (long i = 0; i < job.repeat; i++) {
		to_collective_plan_fill(&r->c, r->rendezvous.self, r->buffer);
		if (to_exchange_run(&r->exchange, r->rendezvous.deadline_ns, &err))
			die("group %u: %s", r->c.group, err.text);
		r->ok &= !to_collective_plan_wrong(&r->c, r->buffer);
		pthread_barrier_wait(&job.repeated);
	}
	/* sockets are closed once all have read them */
	if (to_rendezvous_meet(&r->rendezvous, &here, heard, 1, &err))
		die("group %u: %s", r->c.group, err.text);
	free(heard);
	return NULL;
}

static void prepare_reduction(struct reduction *r, uint32_t group, uint32_t member, long timeout)
{
	const struct to_plan *plan = job.plan;
	const struct to_allreduce *g = &plan->demand->groups[group];
	uint64_t size = scaled(g->bytes) / sizeof(float);
	struct to_error err = {};

	size = size < g->n_members ? g->n_members : size;
	if (to_collective_plan_init(&r->c, plan, TO_COLLECTIVE_PLAN, group, job.nodes, size, &err))
		die("group %u: %s", group, err.text);
	r->buffer = calloc(size, sizeof(*r->buffer));
	if (!r->buffer || to_collective_plan_steps(&r->c, member, &r->steps) ||
	    to_exchange_init(&r->exchange, &r->steps, r->buffer))
		die("no memory for %llu elements", (unsigned long long)size);
	r->rendezvous = (struct to_rendezvous){
		.c = &r->c, .self = member, .run = size, .token = job.token,
		.port = job.port + JOB_GROUP_PORT + group,
		.deadline_ns = to_clock_monotonic_ns() + timeout * TO_NS_PER_S };
	if (to_rendezvous_open(&r->rendezvous, &r->exchange, &err))
		die("group %u: %s", group, err.text);
	for (unsigned int i = 0; i < plan->n_rings; i++)
		if (plan->rings[i].group == group)
			r->rings += 1 + plan->rings[i].reverse;
	for (unsigned int i = 0; i < plan->n_trees; i++)
		r->trees += plan->trees[i].group == group;
}

/* The groups that this server is in. */
static void find_reductions(long timeout)
{
	const struct to_demand *d = job.plan->demand;

	job.reductions = calloc(d->n_groups + 1, sizeof(*job.reductions));
	if (!job.reductions)
		die("no memory for %u groups", d->n_groups);
	for (uint32_t g = 0; g < d->n_groups; g++)
		for (uint32_t m = 0; d->groups[g].n_members > 1 && m < d->groups[g].n_members; m++)
			if (d->groups[g].members[m] == job.self)
				prepare_reduction(&job.reductions[job.n_reductions++], g, m, timeout);
}

static int listen_all(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_port = htons(job.port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0)
		die("socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 4096))
		die("port %u: %s", job.port, strerror(errno));
	return fd;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "scale", required_argument, NULL, 's' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "nodes", no_argument, NULL, 'n' },
		{ "port", required_argument, NULL, 'p' },
		{ "timeout", required_argument, NULL, 't' },
		{}
	};
	unsigned int n, reached = 0, rings = 0, rings_ok = 0, trees = 0, trees_ok = 0, mp_ok = 0, mp_all = 0;
	double start, mp_s = 0, ring_s, *times;
	struct to_error err = {};
	long timeout = 120;
	pthread_t server_thread;
	int opt, self;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 's')
			job.scale = strtod(optarg, NULL);
		else if (opt == 'r')
			job.repeat = strtol(optarg, NULL, 10);
		else if (opt == 'n')
			job.nodes = true;
		else if (opt == 'p')
			job.port = strtoul(optarg, NULL, 10);
		else if (opt == 't')
			timeout = strtol(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind != 2 || job.scale <= 0 || job.repeat <= 0 ||
	    timeout <= 0) {
		fprintf(stderr,
			"usage: job [--scale F] [--repeat N] [--nodes] [--port PORT] [--timeout SECONDS] PLAN SERVER\n");
		return 2;
	}
	clock_gettime(CLOCK_REALTIME, &job.deadline);
	job.deadline.tv_sec += timeout;

	struct to_plan *plan = to_plan_load_shared(argv[optind], &err);

	if (!plan)
		die("%s", err.text);
	self = to_cluster_find_server(plan->cluster, argv[optind + 1]);
	if (self < 0)
		die("%s: no server %s", argv[optind], argv[optind + 1]);
	job.self = self;
	job.plan = plan;
	n = plan->cluster->n_servers;
	for (uint32_t src = 0; src < n; src++)
		if (src != job.self)
			job.mp_expected += scaled(plan->demand->mp[(size_t)src * n + job.self]);
	if (to_collective_run_token(job.token, NULL, &err))
		die("%s", err.text);
	find_reductions(timeout);

	if (pthread_create(&server_thread, NULL, serve,
			   (void *)(intptr_t)listen_all()))
		die("no thread to serve");

	for (uint32_t dst = 0; dst < n; dst++)
		reached += dst != job.self && reach(dst);
	pthread_mutex_lock(&job.lock);
	while (job.reached_from < n - 1)
		if (pthread_cond_timedwait(&job.changed, &job.lock, &job.deadline))
			die("reached by %u of %u servers", job.reached_from, n - 1);
	pthread_mutex_unlock(&job.lock);

	times = calloc(job.repeat, sizeof(*times));
	if (!times || pthread_barrier_init(&job.repeated, NULL, job.n_reductions + 1))
		die("no memory for %ld repetitions", job.repeat);
	start = seconds_now();
	for (unsigned int i = 0; i < job.n_reductions; i++)
		if (pthread_create(&job.reductions[i].thread, NULL, run_reduction, &job.reductions[i]))
			die("no thread for an AllReduce");
	for (long i = 0; i < job.repeat; i++) {
		double began = seconds_now();

		mp_s += transfer_all(i + 1, &mp_all, &mp_ok);
		pthread_barrier_wait(&job.repeated);
		times[i] = seconds_now() - began;
	}
	for (unsigned int i = 0; i < job.n_reductions; i++) {
		struct reduction *r = &job.reductions[i];

		pthread_join(r->thread, NULL);
		rings += r->rings;
		trees += r->trees;
		rings_ok += r->ok ? r->rings : 0;
		trees_ok += r->ok ? r->trees : 0;
	}
	ring_s = seconds_now() - start;

	printf("{\"server\": \"%s\", \"reached\": %u, \"peers\": %u, "
	       "\"mp_transfers\": %u, \"mp_transfers_ok\": %u, \"mp_bytes_received\": %llu, "
	       "\"mp_s\": %.3f, \"rings\": %u, \"rings_ok\": %u, \"trees\": %u, \"trees_ok\": %u, \"allreduce_s\": %.3f, "
	       "\"times\": [",
	       plan->cluster->servers[self].name, reached, n - 1, mp_all, mp_ok,
	       (unsigned long long)job.mp_received, mp_s, rings, rings_ok,
	       trees, trees_ok, ring_s);
	for (long i = 0; i < job.repeat; i++)
		printf("%s%.3f", i ? ", " : "", times[i]);
	printf("]}\n");
	return reached == n - 1 && mp_ok == mp_all && rings_ok == rings && trees_ok == trees ? 0 : 1;
}
