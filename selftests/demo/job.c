// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One server's part of one training iteration, over TCP: reach every other
 * server, send the MP transfers of the demand, and run the AllReduce of every
 * group over the planned rings or trees with real sums. One process per server, started
 * in the server's network namespace; they find each other through the plan.
 *
 *   job [--scale F] [--repeat N] [--nodes] [--port PORT] [--timeout SECONDS] PLAN SERVER
 *
 * Every byte count of the demand is multiplied by F; AllReduce and, beside it, MP
 * transfers run N times; the next time begins when both have ended. With --nodes
 * AllReduce goes between node addresses, which need no certain port to have light.
 * Prints one JSON object; exit status 0 only if every peer was reached, every MP
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

#include "data/plan.h"
#include "format/plan_json.h"
#include "job_tree.h"

#define JOB_CHUNK (256 * 1024)

enum message_type { MESSAGE_REACH, MESSAGE_MP, MESSAGE_RING, MESSAGE_TREE };

/* First bytes of every connection. All servers share one byte order. */
struct message {
	uint32_t type;
	uint32_t src;		/* server index */
	uint32_t lane;		/* MESSAGE_RING: 2 * ring + backwards; MESSAGE_TREE: tree */
	uint32_t part;		/* MESSAGE_TREE: which of the connections of the hop */
	uint64_t bytes;		/* MESSAGE_MP */
};

/* One direction of one ring, seen from this server. */
struct lane {
	uint32_t id;
	const struct to_ring *ring;
	unsigned int position;	/* of this server in ring order, lane's direction */
	uint32_t next;		/* server index */
	uint64_t elements;	/* of the part of the buffer this lane reduces */
	int in;			/* connection from the previous server, -1 until it came */
	pthread_t thread;
	bool ok;
};

/* One tree, seen from this server. */
struct branch {
	uint32_t id;
	struct job_tree tree;	/* connections of children are -1 until they came */
	uint64_t elements;
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
	struct timespec deadline;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int reached_from, n_lanes, n_branches;
	uint64_t mp_received;
	uint64_t mp_expected;	/* in one repetition */
	struct lane *lanes;
	struct branch *branches;
	pthread_barrier_t repeated;	/* lanes, branches and transfers */
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

/* Connects to @to from @from (NULL: any), until the peer listens or time is up. */
static int connect_to(struct in_addr to, const struct in_addr *from,
		      const char *who)
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
		if (from) {
			struct sockaddr_in self = { .sin_family = AF_INET,
						    .sin_addr = *from };

			if (bind(fd, (struct sockaddr *)&self, sizeof(self)))
				die("bind %s: %s", inet_ntoa(*from), strerror(errno));
		}
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

/* Connection @fd of a child, for the hop of the tree that @msg names. Return: taken. */
static bool take_branch(const struct message *msg, int fd)
{
	bool taken = false;

	pthread_mutex_lock(&job.lock);
	for (unsigned int i = 0; i < job.n_branches; i++) {
		struct job_tree *tree = &job.branches[i].tree;

		for (unsigned int k = 0; job.branches[i].id == msg->lane && k < tree->n_down; k++) {
			if (tree->down[k].server != msg->src || msg->part >= tree->down[k].n)
				continue;
			tree->down[k].fd[msg->part] = fd;
			taken = true;
		}
	}
	pthread_cond_broadcast(&job.changed);
	pthread_mutex_unlock(&job.lock);
	return taken;
}

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
	case MESSAGE_RING:
		pthread_mutex_lock(&job.lock);
		for (unsigned int i = 0; i < job.n_lanes; i++)
			if (job.lanes[i].id == msg.lane) {
				job.lanes[i].in = fd;
				fd = -1;
			}
		pthread_cond_broadcast(&job.changed);
		pthread_mutex_unlock(&job.lock);
		break;
	case MESSAGE_TREE:
		if (take_branch(&msg, fd))
			fd = -1;
		break;
	}
out:
	if (fd >= 0)
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
	int fd = connect_to(server->address.v4, NULL, server->name);
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
	int fd = connect_to(server->address.v4, NULL, server->name);
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

/* ---- ring AllReduce ---- */

/*
 * Port addresses of the two ends of the ring's own link to @next, which ring
 * traffic takes; another direct link will do; none where the ring is multi-hop.
 */
static bool ring_link(int ring, uint32_t next, struct in_addr *from,
		      struct in_addr *to)
{
	const struct to_cluster *cluster = job.plan->cluster;
	bool found = false;

	for (unsigned int i = 0; i < cluster->n_links; i++) {
		struct to_port_ref a = cluster->links[i].a, b = cluster->links[i].b;

		if (a.server != job.self && cluster->link_mode == TO_LINKS_DUPLEX) {
			a = cluster->links[i].b;
			b = cluster->links[i].a;
		}
		if (a.server != job.self || b.server != next ||
		    (found && cluster->links[i].ring != ring))
			continue;
		*from = cluster->servers[a.server].ports[a.port].address.v4;
		*to = cluster->servers[b.server].ports[b.port].address.v4;
		found = true;
		if (cluster->links[i].ring == ring)
			break;
	}
	return found;
}

struct step {
	int fd;
	const void *buf;
	size_t len;
	bool ok;
};

static void *send_step(void *arg)
{
	struct step *step = arg;

	step->ok = job_write(step->fd, step->buf, step->len);
	return NULL;
}

/*
 * Reduce-scatter then all-gather: 2(n-1) steps of 1/n of the buffer. Element e
 * of server s starts as e + s, so every sum is n * e + 0 + .. over the members.
 */
static bool all_reduce(const struct lane *lane, int out, uint32_t *data, uint32_t *incoming,
		       uint64_t chunk)
{
	const struct to_ring *ring = lane->ring;
	unsigned int n = ring->n;
	uint32_t members = 0;
	bool ok = true;

	for (uint64_t e = 0; e < chunk * n; e++)
		data[e] = (uint32_t)e + job.self;
	for (unsigned int i = 0; i < n; i++)
		members += ring->order[i];
	for (unsigned int s = 0; ok && s < 2 * (n - 1); s++) {
		bool reduce = s < n - 1;
		unsigned int mine = (lane->position + 2 * n - s) % n;
		unsigned int theirs = (mine + n - 1) % n;
		struct step step = { out, data + mine * chunk,
				     chunk * sizeof(*data), false };
		pthread_t sender;

		if (pthread_create(&sender, NULL, send_step, &step))
			die("no thread for a ring step");
		ok = job_read(lane->in, reduce ? incoming : data + theirs * chunk,
			      chunk * sizeof(*data));
		pthread_join(sender, NULL);
		ok = ok && step.ok;
		for (uint64_t e = 0; reduce && e < chunk; e++)
			data[theirs * chunk + e] += incoming[e];
	}
	for (uint64_t e = 0; ok && e < chunk * n; e++)
		ok = data[e] == (uint32_t)e * n + members;
	return ok;
}

static void *run_lane(void *arg)
{
	struct lane *lane = arg;
	const struct to_ring *ring = lane->ring;
	const struct to_server *next = &job.plan->cluster->servers[lane->next];
	struct message msg = { .type = MESSAGE_RING, .src = job.self,
			       .lane = lane->id };
	unsigned int n = ring->n;
	uint64_t chunk = (lane->elements + n - 1) / n;
	uint32_t *data = calloc(chunk * n, sizeof(*data));
	uint32_t *incoming = calloc(chunk, sizeof(*incoming));
	struct in_addr from, to = next->address.v4;
	bool direct, ok;
	int out;

	if (!data || !incoming)
		die("no memory for %llu elements", (unsigned long long)lane->elements);

	direct = !job.nodes && ring_link(lane->id / 2, lane->next, &from, &to);
	out = connect_to(to, direct ? &from : NULL, next->name);
	ok = job_write(out, &msg, sizeof(msg));

	pthread_mutex_lock(&job.lock);
	while (lane->in < 0)
		if (pthread_cond_timedwait(&job.changed, &job.lock, &job.deadline))
			die("ring %u: the previous server never connected",
			    lane->id / 2);
	pthread_mutex_unlock(&job.lock);

	for (long i = 0; i < job.repeat; i++) {
		ok = ok && all_reduce(lane, out, data, incoming, chunk);
		pthread_barrier_wait(&job.repeated);
	}

	lane->ok = ok;
	close(out);
	close(lane->in);
	free(data);
	free(incoming);
	return NULL;
}

/* The lanes of the rings this server is on; a duplex ring runs both ways. */
static void find_lanes(void)
{
	const struct to_plan *plan = job.plan;

	job.lanes = calloc(2 * plan->n_rings + 1, sizeof(*job.lanes));
	if (!job.lanes)
		die("no memory for %u rings", plan->n_rings);
	for (unsigned int r = 0; r < plan->n_rings; r++) {
		const struct to_ring *ring = &plan->rings[r];
		unsigned int at = 0, share = 0;

		while (at < ring->n && ring->order[at] != job.self)
			at++;
		if (at == ring->n || ring->n < 2)
			continue;
		for (unsigned int i = 0; i < plan->n_rings; i++)
			if (plan->rings[i].group == ring->group)
				share += plan->rings[i].reverse ? 2 : 1;
		for (unsigned int back = 0; back <= ring->reverse; back++) {
			unsigned int n = ring->n;

			job.lanes[job.n_lanes++] = (struct lane){
				.id = 2 * r + back, .ring = ring, .in = -1,
				.position = back ? n - 1 - at : at,
				.next = ring->order[(at + (back ? n - 1 : 1)) % n],
				.elements = scaled(plan->demand->groups[ring->group].bytes) /
					    share / sizeof(uint32_t),
			};
		}
	}
}

/* ---- tree AllReduce ---- */

/*
 * Connections of a hop between this server and @peer: one for each link between them,
 * between the port addresses of its ends, all to be made yet. Where there is none, and on
 * simplex links, which answer by another way, one between the node addresses.
 * @links: gets the links, TO_SERVER_NONE for none
 */
static struct job_hop new_hop(uint32_t peer, uint32_t **links)
{
	const struct to_cluster *cluster = job.plan->cluster;
	struct job_hop hop = { .server = peer };

	*links = malloc((cluster->n_links + 1) * sizeof(**links));
	if (!*links)
		die("no memory for a hop");
	for (unsigned int i = 0; i < cluster->n_links && !job.nodes; i++) {
		uint32_t a = cluster->links[i].a.server, b = cluster->links[i].b.server;

		if (cluster->link_mode == TO_LINKS_DUPLEX &&
		    ((a == job.self && b == peer) || (b == job.self && a == peer)))
			(*links)[hop.n++] = i;
	}
	if (!hop.n)
		(*links)[hop.n++] = TO_SERVER_NONE;
	hop.fd = malloc(hop.n * sizeof(*hop.fd));
	if (!hop.fd)
		die("no memory for a hop");
	memset(hop.fd, 0xff, hop.n * sizeof(*hop.fd));
	return hop;
}

static bool connect_up(struct branch *branch, uint32_t parent)
{
	const struct to_cluster *cluster = job.plan->cluster;
	const struct to_server *servers = cluster->servers;
	struct message msg = { .type = MESSAGE_TREE, .src = job.self, .lane = branch->id };
	struct job_hop *up = &branch->tree.up;
	uint32_t *links;
	bool ok = true;

	*up = new_hop(parent, &links);
	for (unsigned int i = 0; i < up->n; i++) {
		struct in_addr to = servers[parent].address.v4, from = servers[job.self].address.v4;

		if (links[i] != TO_SERVER_NONE) {
			struct to_port_ref a = cluster->links[links[i]].a;
			struct to_port_ref b = cluster->links[links[i]].b;
			struct to_port_ref own = a.server == job.self ? a : b;
			struct to_port_ref peer = a.server == job.self ? b : a;

			from = servers[job.self].ports[own.port].address.v4;
			to = servers[parent].ports[peer.port].address.v4;
		}
		up->fd[i] = connect_to(to, links[i] == TO_SERVER_NONE ? NULL : &from,
				       servers[parent].name);
		msg.part = i;
		ok = job_write(up->fd[i], &msg, sizeof(msg)) && ok;
	}
	free(links);
	return ok;
}

/* With the lock held: has every child connected? */
static bool connected_down(const struct job_tree *tree)
{
	for (unsigned int k = 0; k < tree->n_down; k++)
		for (unsigned int i = 0; i < tree->down[k].n; i++)
			if (tree->down[k].fd[i] < 0)
				return false;
	return true;
}

/* Sums are as those of all_reduce(). */
static bool reduce_branch(const struct branch *branch, uint32_t *data)
{
	const struct to_allreduce_tree *tree = &job.plan->trees[branch->id];
	const struct to_allreduce *group = &job.plan->demand->groups[tree->group];
	uint32_t members = 0;
	bool ok;

	for (uint64_t e = 0; e < branch->elements; e++)
		data[e] = (uint32_t)e + job.self;
	for (unsigned int i = 0; i < group->n_members; i++)
		members += group->members[i];
	ok = job_tree_reduce(&branch->tree, data, branch->elements);
	for (uint64_t e = 0; ok && e < branch->elements; e++)
		ok = data[e] == (uint32_t)e * group->n_members + members;
	return ok;
}

static void *run_branch(void *arg)
{
	struct branch *branch = arg;
	const struct to_allreduce_tree *tree = &job.plan->trees[branch->id];
	const uint32_t *members = job.plan->demand->groups[tree->group].members;
	uint32_t *data = calloc(branch->elements + 1, sizeof(*data));
	bool ok = true;

	if (!data)
		die("no memory for %llu elements", (unsigned long long)branch->elements);
	for (unsigned int i = 0; i < tree->n; i++)
		if (members[i] == job.self && tree->parents[i] != TO_SERVER_NONE)
			ok = connect_up(branch, tree->parents[i]);
	pthread_mutex_lock(&job.lock);
	while (!connected_down(&branch->tree))
		if (pthread_cond_timedwait(&job.changed, &job.lock, &job.deadline))
			die("tree %u: a child never connected", branch->id);
	pthread_mutex_unlock(&job.lock);
	for (long i = 0; i < job.repeat; i++) {
		ok = ok && reduce_branch(branch, data);
		pthread_barrier_wait(&job.repeated);
	}
	branch->ok = ok;
	free(data);
	return NULL;
}

/* The trees this server is in. */
static void find_branches(void)
{
	const struct to_plan *plan = job.plan;

	job.branches = calloc(plan->n_trees + 1, sizeof(*job.branches));
	if (!job.branches)
		die("no memory for %u trees", plan->n_trees);
	for (unsigned int t = 0; t < plan->n_trees; t++) {
		const struct to_allreduce_tree *tree = &plan->trees[t];
		const struct to_allreduce *group = &plan->demand->groups[tree->group];
		struct branch *branch = &job.branches[job.n_branches];
		uint32_t *links;
		bool within = false;

		*branch = (struct branch){ .id = t };
		branch->elements = scaled(group->bytes) * tree->share / sizeof(uint32_t);
		branch->tree.down = calloc(tree->n, sizeof(*branch->tree.down));
		if (!branch->tree.down)
			die("no memory for a tree");
		for (unsigned int i = 0; i < tree->n; i++) {
			within |= group->members[i] == job.self;
			if (tree->parents[i] != job.self)
				continue;
			branch->tree.down[branch->tree.n_down++] = new_hop(group->members[i], &links);
			free(links);
		}
		job.n_branches += within;
	}
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
	unsigned int n, reached = 0, lanes_ok = 0, trees_ok = 0, mp_ok = 0, mp_all = 0;
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

	struct to_plan *plan = to_plan_load(argv[optind], &err);

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
	find_lanes();
	find_branches();

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
	if (!times || pthread_barrier_init(&job.repeated, NULL, job.n_lanes + job.n_branches + 1))
		die("no memory for %ld repetitions", job.repeat);
	start = seconds_now();
	for (unsigned int i = 0; i < job.n_lanes; i++)
		if (pthread_create(&job.lanes[i].thread, NULL, run_lane,
				   &job.lanes[i]))
			die("no thread for a ring");
	for (unsigned int i = 0; i < job.n_branches; i++)
		if (pthread_create(&job.branches[i].thread, NULL, run_branch, &job.branches[i]))
			die("no thread for a tree");
	for (long i = 0; i < job.repeat; i++) {
		double began = seconds_now();

		mp_s += transfer_all(i + 1, &mp_all, &mp_ok);
		pthread_barrier_wait(&job.repeated);
		times[i] = seconds_now() - began;
	}
	for (unsigned int i = 0; i < job.n_lanes; i++) {
		pthread_join(job.lanes[i].thread, NULL);
		lanes_ok += job.lanes[i].ok;
	}
	for (unsigned int i = 0; i < job.n_branches; i++) {
		pthread_join(job.branches[i].thread, NULL);
		trees_ok += job.branches[i].ok;
	}
	ring_s = seconds_now() - start;

	printf("{\"server\": \"%s\", \"reached\": %u, \"peers\": %u, "
	       "\"mp_transfers\": %u, \"mp_transfers_ok\": %u, \"mp_bytes_received\": %llu, "
	       "\"mp_s\": %.3f, \"rings\": %u, \"rings_ok\": %u, \"trees\": %u, \"trees_ok\": %u, \"allreduce_s\": %.3f, "
	       "\"times\": [",
	       plan->cluster->servers[self].name, reached, n - 1, mp_all, mp_ok,
	       (unsigned long long)job.mp_received, mp_s, job.n_lanes, lanes_ok,
	       job.n_branches, trees_ok, ring_s);
	for (long i = 0; i < job.repeat; i++)
		printf("%s%.3f", i ? ", " : "", times[i]);
	printf("]}\n");
	return reached == n - 1 && mp_ok == mp_all && lanes_ok == job.n_lanes &&
	       trees_ok == job.n_branches ? 0 : 1;
}
