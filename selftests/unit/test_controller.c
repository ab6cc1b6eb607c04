// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The controller on a fabric without servers: agents and the optical switch are
 * functions that the linker puts in the place of to_fabric_pipes() and
 * to_child_run(). They keep what servers and switch have in memory that outlives
 * the controller, a process of its own, which dies at every point of a change in
 * turn. The next one must find the way to one of the two plans.
 */

#include <errno.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "control/controller.h"
#include "control/fabric_link.h"
#include "format/plan_json.h"

#define SERVERS 12
#define JOINED_MAX 64
#define PAUSES_MAX 32
#define STEADY 8		/* samples before the traffic changes */
#define INTERVAL_NS 50000000ull
#define HOT 200000000
#define BUFFER 1000000
#define DIED 42
#define OLD_APART 6
#define NEW_APART 3
#define CHEAP 0.01		/* seconds that a change costs which is decided at once */
#define DEAR 0.3
#define VERY_DEAR 1

/**
 * struct kernel - one server
 * @table, @staged_table, @before: hashes of tables: active, staged, active before
 * @generation, @staged: of those; @staged 0: nothing
 * @open: a commit waits to be confirmed
 */
struct kernel {
	uint64_t table, staged_table, before, generation, staged;
	bool open;
};

/**
 * struct world - what outlives a controller, and what is done to it
 * @joined: pairs of ports, the smaller first
 * @has_switch: links come and go with @joined
 * @stop: the controller's
 * @die_at: the controller ends at this point, 0: at none; @point: points so far
 * @saves: attempts of a change so far
 * @refuse_next, @refuse_plan: PLAN.next, PLAN cannot be written
 * @commits, @changes: so far
 * @refuse_commit: the commit that server 3 refuses, twice as it is asked twice
 * @refuse_change: the optical switch refuses this change and all later ones
 * @cost: of a change, see to_candidates_config
 * @beside: the controller plans beside the loop
 * @returns: the traffic is as before again, as soon as all servers hold a stage
 * @refuse_ahead: server 3 cannot stage ahead
 * @steal: somebody drops the stage of server 3 before the first commit of a change
 * @first: op that agents are asked for first after a change was decided, "" before
 * @began, @further: stages of the change that server 3 got: before its first commit, and
 *	those of which it was told that they are of further steps
 * @held: most servers that held a stage when they were asked for a sample
 * @slept, @attempted: ns that it has slept so far, and had slept at its last attempt to bring
 *	the fabric back
 * @pauses: seconds between these
 * @mend_after, @stop_after: pauses until nothing is refused any more, until it stops
 */
struct world {
	struct kernel kernels[SERVERS];
	unsigned int joined[JOINED_MAX][2], n_joined;
	bool has_switch;
	volatile sig_atomic_t stop;
	unsigned int die_at, point, samples, saves;
	bool refuse_next, refuse_plan;
	unsigned int commits, changes, refuse_commit, refuse_change;
	double cost;
	bool beside, returns, refuse_ahead, steal;
	char first[16];
	unsigned int began, further, held;
	uint64_t slept, attempted;
	unsigned int pauses[PAUSES_MAX], n_pauses, mend_after, stop_after;
};

static struct world *world;
static char dir[] = "/tmp/test_controller.XXXXXX", plan_path[64], next_path[72], log_path[64];
static char allow_path[64];

/* ---- the world ---- */

static void point(void)
{
	if (++world->point == world->die_at)
		_exit(DIED);
}

/* What agents do when their controller is gone. */
static void hang_up(void)
{
	for (unsigned int i = 0; i < SERVERS; i++) {
		struct kernel *k = &world->kernels[i];

		k->staged = 0;
		if (k->open) {
			k->table = k->before;
			k->generation++;
			k->open = false;
		}
	}
}

static uint64_t table_hash(const struct to_plan *plan, unsigned int server)
{
	uint64_t hash = 14695981039346656037ull;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(to_plan_print_table(out, plan, server), 0);
	fclose(out);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
	free(text);
	return hash;
}

static bool is_joined(unsigned int port)
{
	for (unsigned int i = 0; i < world->n_joined; i++)
		if (world->joined[i][0] == port || world->joined[i][1] == port)
			return true;
	return !world->has_switch;
}

/* ---- agents ---- */

static const char *kernel_call(struct kernel *k, const char *op, const json_t *request,
			       uint64_t table)
{
	uint64_t generation = json_integer_value(json_object_get(request, "generation"));
	uint64_t from = json_integer_value(json_object_get(request, "from"));

	if (!strcmp(op, "stage")) {
		if (k->open)
			return "a commit is open";
		if (json_is_true(json_object_get(request, "ahead")) && world->refuse_ahead &&
		    k == &world->kernels[3])
			return "refused";
		if (k == &world->kernels[3] && world->saves)
			(*(json_is_true(json_object_get(request, "further")) ? &world->further :
									      &world->began))++;
		k->staged = generation;
		k->staged_table = table;
	} else if (!strcmp(op, "commit")) {
		if (k->staged != generation)
			return "nothing is staged";
		k->before = k->table;
		k->table = k->staged_table;
		k->generation = generation;
		k->staged = 0;
		k->open = true;
	} else if (!strcmp(op, "confirm")) {
		if (k->generation != generation)
			return "nothing was committed";
		k->open = false;
	} else if (!strcmp(op, "revert")) {
		if (k->generation == from && !k->open)
			return "nothing to go back to";
		if (k->open)
			k->table = k->before;
		k->generation = generation;
		k->staged = 0;
		k->open = false;
	} else if (!strcmp(op, "abort")) {
		k->staged = 0;
	}
	return NULL;
}

/* Each server to the two that are so far @apart. */
static json_t *sample(const struct to_cluster *cluster, unsigned int server, unsigned int apart,
		      uint64_t until)
{
	const unsigned int far[] = { (server + apart) % SERVERS,
				     (server + SERVERS - apart) % SERVERS };
	json_t *names = json_array(), *flows = json_array(), *tm, *reply;
	char *text;

	for (unsigned int i = 0; i < SERVERS; i++) {
		unsigned int bytes = (i == far[0]) * HOT / 2 + (i == far[1]) * HOT / 2;

		json_array_append_new(names, json_string(cluster->servers[i].name));
		if (bytes)
			json_array_append_new(flows, json_pack("[i,i,i,i,i,i,i]", -1, 0, server, i, 0,
							       100, bytes));
	}
	tm = json_pack("{s:s, s:i, s:s, s:s, s:I, s:[s,s,s], s:o, s:s, s:i, s:[{s:s, s:n, s:n}],"
		       "s:[{s:I, s:I, s:I, s:[i,i], s:o, s:[[i,i,i,i]]}]}",
		       "format", "topoopt-tm", "version", 1, "job", "test", "plan",
		       "0000000000000000", "interval_ns", (json_int_t)INTERVAL_NS, "classes", "roce",
		       "tcp", "other", "servers", names, "server", cluster->servers[server].name,
		       "generation", 1, "ports", "name", "eth0", "to", "from", "samples",
		       "start_ns", (json_int_t)(until - INTERVAL_NS), "end_ns", (json_int_t)until,
		       "elapsed_ns", (json_int_t)INTERVAL_NS, "lost", 0, 0, "flows", flows, "ports",
		       0, 0, 0, 0);
	assert_non_null(tm);
	text = json_dumps(tm, JSON_COMPACT);
	json_decref(tm);
	reply = json_string(text);
	free(text);
	return reply;
}

static bool is_old_traffic(void)
{
	return world->samples <= STEADY || (world->returns && world->held);
}

struct link {
	struct to_fabric_link link;
	const struct to_cluster *cluster;
};

static void link_serve(const struct link *link, const struct to_fabric_call *call, const char *op,
		       unsigned int i)
{
	const uint64_t until = json_integer_value(json_object_get(call->request, "until_ns"));
	const struct to_server *server = &link->cluster->servers[i];
	uint64_t table = call->plan ? table_hash(call->plan, i) : 0;
	struct kernel *k = &world->kernels[i];
	const bool refused = !strcmp(op, "commit") && i == 3 && world->refuse_commit &&
			     world->commits - world->refuse_commit < 2;
	const char *error = refused ? "refused" : kernel_call(k, op, call->request, table);
	json_t *reply = json_pack("{s:b, s:I, s:b, s:b}", "ok", !error, "generation",
				  (json_int_t)k->generation, "staged", k->staged != 0, "differs",
				  table != k->table);
	json_t *live = json_array();

	for (unsigned int q = 0; q < server->n_ports; q++)
		if (is_joined(server->ports[q].optical_port))
			json_array_append_new(live, json_string(server->ports[q].name));
	json_object_set_new(reply, "live", live);
	if (!strcmp(op, "sample"))
		json_object_set_new(reply, "tm", sample(link->cluster, i, is_old_traffic() ?
							OLD_APART : NEW_APART, until));
	if (error)
		json_object_set_new(reply, "error", json_string(error));
	call->replies[i] = reply;
}

/* Each attempt to bring the fabric back begins with an abort. */
static void see_attempt(void)
{
	const uint64_t pause = (world->slept - world->attempted) / TO_NS_PER_S;

	world->attempted = world->slept;
	if (!pause)
		return;
	assert_true(world->n_pauses < PAUSES_MAX);
	world->pauses[world->n_pauses++] = pause;
	if (world->n_pauses == world->mend_after)
		world->refuse_commit = world->refuse_change = 0;
	if (world->n_pauses == world->stop_after)
		world->stop = 1;
}

static int link_call(struct to_fabric_link *base, const struct to_fabric_call *call,
		     struct to_error *err)
{
	const char *op = json_string_value(json_object_get(call->request, "op"));

	(void)err;
	if (!strcmp(op, "abort"))
		see_attempt();
	world->commits += !strcmp(op, "commit");
	if (world->saves && !world->first[0])
		snprintf(world->first, sizeof(world->first), "%s", op);
	if (world->steal && world->saves) {
		world->steal = false;
		world->kernels[3].staged = 0;
	}
	if (!strcmp(op, "sample")) {
		unsigned int held = 0;

		for (unsigned int i = 0; i < SERVERS; i++)
			held += world->kernels[i].staged > 0;
		world->held = held > world->held ? held : world->held;
		world->samples++;
		/* One attempt is enough; so is to see that none is needed. */
		world->stop |= world->saves > 0 || (world->returns && world->held && !held);
	}
	for (unsigned int i = 0; i < SERVERS; i++) {
		if (i % (SERVERS / 2) == 0)
			point();
		if (call->who[i])
			link_serve((struct link *)base, call, op, i);
	}
	point();
	return 0;
}

static void link_close(struct to_fabric_link *base)
{
	hang_up();
	free(base);
}

struct to_fabric_link *__wrap_to_fabric_pipes(const struct to_cluster *cluster,
					      const char *command, struct to_error *err);
struct to_fabric_link *__wrap_to_fabric_pipes(const struct to_cluster *cluster,
					      const char *command, struct to_error *err)
{
	struct link *link = calloc(1, sizeof(*link));

	(void)command;
	(void)err;
	assert_non_null(link);
	link->link.call = link_call;
	link->link.close = link_close;
	link->cluster = cluster;
	return &link->link;
}

/* ---- the optical switch, see switch_command.c ---- */

static void switch_pair(const json_t *pair, unsigned int *a, unsigned int *b)
{
	*a = json_integer_value(json_array_get(pair, 0));
	*b = json_integer_value(json_array_get(pair, 1));
	if (*a > *b) {
		unsigned int other = *a;

		*a = *b;
		*b = other;
	}
}

static void switch_change(const json_t *request)
{
	unsigned int a, b;
	json_t *pair;
	size_t k;

	json_array_foreach(json_object_get(request, "remove"), k, pair) {
		switch_pair(pair, &a, &b);
		for (unsigned int i = 0; i < world->n_joined; i++)
			if (world->joined[i][0] == a && world->joined[i][1] == b)
				memcpy(world->joined[i], world->joined[--world->n_joined],
				       sizeof(*world->joined));
	}
	json_array_foreach(json_object_get(request, "add"), k, pair) {
		switch_pair(pair, &a, &b);
		assert_true(!is_joined(a) && !is_joined(b) && world->n_joined < JOINED_MAX);
		world->joined[world->n_joined][0] = a;
		world->joined[world->n_joined++][1] = b;
	}
}

int __wrap_to_child_run(const struct to_argv *command, const char *input, uint64_t timeout_ns,
			char **output, struct to_error *err);
int __wrap_to_child_run(const struct to_argv *command, const char *input, uint64_t timeout_ns,
			char **output, struct to_error *err)
{
	json_t *request = json_loads(input, 0, NULL), *pairs = json_array(), *answer;
	bool change = !strcmp(json_string_value(json_object_get(request, "action")), "change");

	(void)command;
	(void)timeout_ns;
	world->changes += change;
	point();
	if (change && world->refuse_change && world->changes >= world->refuse_change) {
		json_decref(request);
		json_decref(pairs);
		return to_error_set(err, -EIO, "refused");
	}
	if (change) {
		switch_change(request);
		point();
	}
	for (unsigned int i = 0; i < world->n_joined; i++)
		json_array_append_new(pairs, json_pack("[i, i]", world->joined[i][0],
						       world->joined[i][1]));
	answer = json_pack("{s:o}", "cross_connects", pairs);
	*output = json_dumps(answer, 0);
	json_decref(answer);
	json_decref(request);
	return 0;
}

/* ---- files and time ---- */

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	bool saves = !strcmp(to, next_path), keeps = !strcmp(from, next_path);
	int ret;

	world->saves += saves;
	point();
	if ((saves && world->refuse_next) || (keeps && world->refuse_plan)) {
		errno = ENOSPC;
		return -1;
	}
	ret = __real_rename(from, to);
	point();
	return ret;
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
	int ret;

	point();
	ret = __real_unlink(path);
	point();
	return ret;
}

void __wrap_to_clock_sleep(uint64_t ns);
void __wrap_to_clock_sleep(uint64_t ns)
{
	world->slept += ns;
}

uint64_t __real_to_clock_monotonic_ns(void);
uint64_t __wrap_to_clock_monotonic_ns(void);
uint64_t __wrap_to_clock_monotonic_ns(void)
{
	return __real_to_clock_monotonic_ns() + world->slept;
}

/* ---- the test ---- */

/* A controller in a process of its own. Return: its status. */
static int controller(void)
{
	struct to_run_log log = { 0 };
	struct to_controller_config config = {
		.plan = plan_path, .allow = allow_path, .beside = world->beside,
		.interval_ns = INTERVAL_NS, .stop = &world->stop, .log = &log,
		.candidates = { .memory_ns = 10 * TO_NS_PER_S, .change_cost = world->cost },
		.fabric = { .command = "{}", .timeout_ns = TO_NS_PER_S },
	};
	struct to_error err = { 0 };
	int status, ret;
	pid_t pid;

	world->point = 0;
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		assert_non_null(freopen("/dev/null", "w", stdout));
		ret = to_run_log_open(&log, log_path, false, &err);
		ret = ret ? ret : to_controller_run(&config, &err);
		if (ret < 0)
			fprintf(stderr, "# %s\n", err.text);
		to_run_log_close(&log);
		_exit(ret < 0 ? 3 : ret);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	hang_up();
	return WEXITSTATUS(status);
}

/* A controller that brings the fabric to a plan, and ends. */
static int restart(void)
{
	world->stop = 1;
	world->die_at = 0;
	return controller();
}

static char *read_text(const char *path)
{
	struct to_error err = { 0 };
	char *text = NULL;
	size_t len;

	to_file_read(path, TO_FILE_MAX, &text, &len, &err);
	assert_string_equal(err.text, "");
	return text;
}

static bool logged(const char *words)
{
	char *text = read_text(log_path);
	bool found = strstr(text, words);

	free(text);
	return found;
}

/* Steps of the change. */
static unsigned int logged_steps(void)
{
	unsigned int n = 9;
	char words[16];

	do
		snprintf(words, sizeof(words), "in %u steps", n);
	while (!logged(words) && --n > 1);
	return n;
}

/* Servers, switch and file must be as @plan says, whose text is @text. */
static void check_fabric(const struct to_plan *plan, const char *text)
{
	char *found = read_text(plan_path);

	assert_string_equal(found, text);
	free(found);
	assert_int_not_equal(access(next_path, F_OK), 0);
	for (unsigned int i = 0; i < SERVERS; i++) {
		const struct kernel *k = &world->kernels[i];

		assert_int_equal(k->table, table_hash(plan, i));
		assert_int_equal(k->generation, world->kernels[0].generation);
		assert_false(k->staged || k->open);
	}
	assert_int_equal(world->n_joined, plan->n_cross_connects);
	for (unsigned int i = 0; i < plan->n_cross_connects; i++) {
		const struct to_cross_connect *x = &plan->cross_connects[i];
		bool there = false;

		for (unsigned int k = 0; k < world->n_joined; k++)
			there |= (world->joined[k][0] == x->a && world->joined[k][1] == x->b) ||
				 (world->joined[k][0] == x->b && world->joined[k][1] == x->a);
		assert_true(there);
	}
}

/**
 * struct change - a change that the traffic causes
 * @ready: the world on @old, before the traffic changes
 * @points: at which a controller can die in it
 */
struct change {
	struct to_plan *old, *next;
	char *old_text, *next_text;
	struct world ready;
	unsigned int points;
};

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	fclose(out);
}

/* Also what a controller that died had begun to write. */
static void remove_files(void)
{
	char pattern[64];
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		__real_unlink(files.gl_pathv[i]);
	globfree(&files);
}

/* All is as before the change again. */
static void rewind_world(const struct change *change)
{
	remove_files();
	*world = change->ready;
	write_text(plan_path, change->old_text);
}

static struct to_plan *plan_read(void)
{
	struct to_error err = { 0 };
	struct to_plan *plan = to_plan_load_shared(plan_path, &err);

	assert_string_equal(err.text, "");
	return plan;
}

/*
 * The change from @plan at @cost, once without a fault; it must have @steps, be @action, and
 * be staged @ahead if there is time for that.
 */
static void change_open(struct change *change, struct to_plan *plan, const char *action,
			unsigned int steps, double cost, bool ahead)
{
	struct to_error err = { 0 };
	char words[64];

	memset(world, 0, sizeof(*world));
	world->has_switch = plan->cluster->n_switches;
	world->cost = cost;
	assert_int_equal(to_plan_save(plan, plan_path, &err), 0);
	to_plan_free(plan);
	change->old = plan_read();
	change->old_text = read_text(plan_path);
	assert_int_equal(restart(), 0);
	check_fabric(change->old, change->old_text);
	change->ready = *world;
	change->ready.stop = 0;
	rewind_world(change);
	assert_int_equal(controller(), 0);
	snprintf(words, sizeof(words), "\"event\":\"changed\",\"action\":\"%s\"", action);
	assert_true(logged(words));
	if (steps > 1) {
		snprintf(words, sizeof(words), "in %u steps", steps);
		assert_true(logged(words));
	}
	assert_string_equal(world->first, ahead ? "commit" : "stage");
	assert_int_equal(world->held, ahead ? SERVERS : 0);
	assert_int_equal(world->began, !ahead);
	assert_int_equal(world->further, strcmp(action, "rewire") ? 0 : logged_steps());
	assert_int_equal(logged("\"ahead\":true"), ahead);
	change->next = plan_read();
	change->next_text = read_text(plan_path);
	assert_string_not_equal(change->next_text, change->old_text);
	check_fabric(change->next, change->next_text);
	change->points = world->point;
}

static void change_close(struct change *change)
{
	to_plan_free(change->old);
	to_plan_free(change->next);
	free(change->old_text);
	free(change->next_text);
	remove_files();
}

/* On which plan all is; it must be one of them. */
static bool finished(const struct change *change)
{
	char *text = read_text(plan_path);
	bool is_next = !strcmp(text, change->next_text);

	free(text);
	check_fabric(is_next ? change->next : change->old,
		     is_next ? change->next_text : change->old_text);
	return is_next;
}

static void die_at(const struct change *change, unsigned int at)
{
	rewind_world(change);
	world->die_at = at;
	assert_int_equal(controller(), DIED);
}

/* Dies at every point. First the change is undone, from one point on it is finished. */
static void check_deaths(const struct change *change)
{
	bool was = false, is = false;
	unsigned int half = 0;

	for (unsigned int at = 1; at <= change->points; at++) {
		die_at(change, at);
		half += !access(next_path, F_OK);
		assert_int_equal(restart(), 0);
		is = finished(change);
		assert_true(is || !was);
		was = is;
	}
	assert_true(is);
	assert_true(half > 10);
}

/* Dies in the middle of a change, then at every point of undoing it. */
static void check_second_deaths(const struct change *change)
{
	unsigned int at = change->points, again = 1, status;

	/* the last point whose change is undone */
	do {
		die_at(change, --at);
		assert_int_equal(restart(), 0);
	} while (finished(change));
	for (;; again++) {
		die_at(change, at);
		world->stop = 1;
		world->die_at = again;
		status = controller();
		if (status != DIED)
			break;
		assert_int_equal(restart(), 0);
		assert_false(finished(change));
	}
	assert_int_equal(status, 0);
	assert_true(again > 10);
}

static void check_saves(const struct change *change)
{
	rewind_world(change);
	world->refuse_next = true;
	assert_int_equal(controller(), 0);
	assert_true(logged("\"event\":\"refused\""));
	assert_false(logged("\"event\":\"step\""));
	check_fabric(change->old, change->old_text);

	rewind_world(change);
	world->refuse_plan = true;
	assert_int_equal(controller(), 0);
	assert_true(logged("\"step\":\"verify\""));
	assert_false(logged("\"event\":\"changed\""));
	check_fabric(change->old, change->old_text);
}

static struct to_plan *make_plan(bool allreduce)
{
	struct to_demand *demand = job_new(SERVERS);
	struct to_error err = { 0 };
	struct to_plan *plan;

	if (allreduce)
		job_group(demand, 0, 1, SERVERS, BUFFER);
	for (unsigned int i = 0; i < SERVERS; i++)
		demand->mp[i * SERVERS + (i + OLD_APART) % SERVERS] = HOT;
	plan = job_plan(demand, 4, TO_LINKS_DUPLEX, &err);
	assert_string_equal(err.text, "");
	plan->cluster->switches[0].control = (struct to_switch_control){
		.driver = TO_SWITCH_COMMAND, .command = "none", .timeout_ns = TO_NS_PER_S,
	};
	return plan;
}

/*
 * The last commit fails, then the optical switch on the way back: ever rarer attempts,
 * until all is as it was. One that is told to stop meanwhile leaves it to the next.
 */
static void check_no_way_back(const struct change *change, unsigned int steps)
{
	static const unsigned int pauses[] = { 1, 2, 4, 8, 16, 30, 30 };
	const unsigned int n = sizeof(pauses) / sizeof(*pauses);

	for (unsigned int stopped = 0; stopped < 2; stopped++) {
		rewind_world(change);
		world->refuse_commit = world->commits + 1 + steps;
		world->refuse_change = world->changes + steps + 1;
		world->mend_after = stopped ? 0 : n;
		world->stop_after = stopped ? 3 : 0;
		assert_int_equal(controller(), stopped);
		assert_memory_equal(world->pauses, pauses, (stopped ? 3 : n) * sizeof(*pauses));
		assert_int_equal(world->n_pauses, stopped ? 3 : n);
		assert_true(logged("\"why\":\"again\",\"ok\":false"));
		if (stopped) {
			assert_int_equal(access(next_path, F_OK), 0);
			world->refuse_commit = world->refuse_change = 0;
			assert_int_equal(restart(), 0);
		}
		check_fabric(change->old, change->old_text);
	}
}

/* Intervals go on while it plans, so that it may plan for other ones, and then it changes. */
static void check_beside(const struct change *change)
{
	struct to_plan *plan;
	char *text;

	rewind_world(change);
	world->beside = true;
	assert_int_equal(controller(), 0);
	assert_true(logged("\"event\":\"shift\""));
	assert_true(logged("\"event\":\"changed\""));
	plan = plan_read();
	text = read_text(plan_path);
	assert_string_not_equal(text, change->old_text);
	check_fabric(plan, text);
	to_plan_free(plan);
	free(text);
}

static void test_one_step(void **state)
{
	struct change change;

	(void)state;
	change_open(&change, make_plan(true), "rewire", 1, CHEAP, false);
	check_deaths(&change);
	check_second_deaths(&change);
	check_saves(&change);
	check_beside(&change);
	check_no_way_back(&change, 1);
	change_close(&change);
}

/* Nearly all links are others. */
static void test_many_steps(void **state)
{
	struct change change;

	(void)state;
	change_open(&change, make_plan(false), "rewire", 3, CHEAP, false);
	check_deaths(&change);
	check_no_way_back(&change, 3);
	change_close(&change);
}

/* Links that stay: only routes change. */
static void test_no_switch(void **state)
{
	struct to_plan *plan = make_plan(true);
	struct to_cluster *cluster = plan->cluster;
	struct change change;

	(void)state;
	cluster->n_switches = plan->n_cross_connects = 0;
	for (unsigned int i = 0; i < cluster->n_servers; i++)
		for (unsigned int q = 0; q < cluster->servers[i].n_ports; q++)
			cluster->servers[i].ports[q].optical_switch = -1;
	change_open(&change, plan, "reroute", 1, CHEAP, true);
	check_deaths(&change);
	check_saves(&change);
	change_close(&change);
}

/* Another stages, so what was staged ahead is gone; a server cannot stage ahead. */
static void check_not_ahead(const struct change *change)
{
	rewind_world(change);
	world->steal = true;
	assert_int_equal(controller(), 0);
	assert_false(world->steal);
	assert_true(logged("\"event\":\"changed\""));
	check_fabric(change->next, change->next_text);

	rewind_world(change);
	world->refuse_ahead = true;
	assert_int_equal(controller(), 0);
	assert_true(logged("\"event\":\"ahead\"") && logged("\"ok\":false"));
	assert_string_equal(world->first, "stage");
	assert_int_equal(world->held, 0);
	assert_true(logged("\"event\":\"changed\""));
	check_fabric(change->next, change->next_text);
}

/* The traffic is as before again, before anything is decided. */
static void check_released(const struct change *change)
{
	rewind_world(change);
	world->returns = true;
	world->cost = VERY_DEAR;
	assert_int_equal(controller(), 0);
	assert_int_equal(world->held, SERVERS);
	assert_true(logged("\"event\":\"released\""));
	assert_false(logged("\"event\":\"decision\",\"action\":\"rewire\""));
	check_fabric(change->old, change->old_text);
}

static void test_ahead(void **state)
{
	struct change change;

	(void)state;
	change_open(&change, make_plan(true), "rewire", 1, DEAR, true);
	check_deaths(&change);
	check_saves(&change);
	check_not_ahead(&change);
	check_released(&change);
	change_close(&change);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_many_steps),
		cmocka_unit_test(test_no_switch),
		cmocka_unit_test(test_one_step),
	};
	int ret;

	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (world == MAP_FAILED || !mkdtemp(dir))
		return 1;
	snprintf(plan_path, sizeof(plan_path), "%s/plan.json", dir);
	snprintf(next_path, sizeof(next_path), "%s.next", plan_path);
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	snprintf(allow_path, sizeof(allow_path), "%s.allow", dir);
	write_text(allow_path, "command none\n");
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	remove_files();
	unlink(allow_path);
	rmdir(dir);
	return ret;
}
