// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cables that are cut, flap and come back, and servers that die, under a controller
 * whose agents and clock are functions that the linker puts in the place of real ones.
 * What servers have outlives the controller, a process of its own, which dies at every
 * point of a repair and of the return in turn.
 */

#include <glob.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "control/controller.h"
#include "control/fabric_link.h"
#include "format/plan_json.h"
#include "kernel/peers.h"

#define SERVERS 6
#define DEGREE 3
#define INTERVAL_NS 100000000ull
#define SECOND TO_NS_PER_S
#define START (1000 * SECOND)
#define SET_BACK (600 * SECOND)
#define DIED 42
#define POINTS 40	/* at which controllers die: more than a change has */
#define NEVER UINT64_MAX

/** struct kernel - one server: tables as hashes, what is staged, what was before */
struct kernel {
	uint64_t table, staged_table, before, generation, staged;
	bool open;
};

/**
 * struct world - what outlives a controller, and what happens to it
 * @now: both clocks; every sample takes an interval
 * @set_at: when CLOCK_REALTIME is set back by SET_BACK, 0: never
 * @cut, @back: when the cable of link 0 is dark
 * @one: the port at the first end of link 0 alone is dark, and no other on its cable
 * @flap_ns: it is dark for every second one of these, from @cut to @back; 0: always
 * @dead: server without agent and light from @cut to @back, -1 for none
 * @alive: @dead is only dark, its agent is there
 * @mute: agents at the ends of link 0 do not tell about their ports
 * @away: server whose agent is away from @away_at to @home_at, with light; -1 for none
 * @clear_at: when the table of server 2 is lost, 0: never
 * @also: when the cable of link 1 is cut, too
 * @again: the cable of link 0 is cut by the first stage from then on, 0: never
 * @slow, @fast: when the ports of link 0 run at a fourth of their rate
 * @refuse: until when agents refuse to stage anything
 * @end: when the controller is stopped
 * @armed: points count from here on
 * @die_at: the controller ends at this point, 0: at none; @point: points so far
 * @told: at that point it gets a signal to end, instead
 */
struct world {
	struct kernel kernels[SERVERS];
	uint64_t now, set_at, cut, back, flap_ns, end, armed, away_at, home_at, clear_at;
	uint64_t also, again, refuse, slow, fast;
	int dead, away;
	bool one, mute, alive, told;
	volatile sig_atomic_t stop;
	unsigned int die_at, point;
};

static struct world *world;
static struct to_plan *plan;
static uint64_t interval_ns = INTERVAL_NS;
static char dir[] = "/tmp/test_carrier.XXXXXX";
static char plan_path[64], next_path[80], repair_path[80], log_path[64];

static void point(void)
{
	if (world->now < world->armed || ++world->point != world->die_at)
		return;
	if (!world->told)
		_exit(DIED);
	world->stop = 1;
}

/* How far CLOCK_REALTIME is behind. */
static uint64_t behind(void)
{
	return world->set_at && world->now >= world->set_at ? SET_BACK : 0;
}

static bool happens(void)
{
	return world->now >= world->cut && world->now < world->back &&
	       (!world->flap_ns || !((world->now - world->cut) / world->flap_ns % 2));
}

/* Whether link 0 and @link are on one cable. */
static bool is_cut(const struct to_link *link)
{
	const struct to_link *first = &plan->cluster->links[0];
	const struct to_server *server = &plan->cluster->servers[first->a.server];

	return link == first || (link->a.server == first->a.server &&
				 to_port_shares_cable(server, link->a.port, first->a.port));
}

static bool is_lit(unsigned int server, unsigned int port)
{
	const struct to_port_ref first = plan->cluster->links[0].a;

	if (world->one)
		return server != first.server || port != first.port || !happens();
	for (unsigned int l = 0; l < plan->cluster->n_links; l++) {
		const struct to_link *link = &plan->cluster->links[l];
		bool dark = world->dead < 0 ? is_cut(link) : (int)link->a.server == world->dead ||
						       (int)link->b.server == world->dead;

		if ((link->a.server == server && link->a.port == port) ||
		    (link->b.server == server && link->b.port == port))
			return (!dark || !happens()) && (l != 1 || world->now < world->also);
	}
	return true;
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

static uint64_t table_hash(const struct to_plan *of, unsigned int server)
{
	uint64_t hash = 14695981039346656037ull;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(to_plan_print_table(out, of, server), 0);
	fclose(out);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
	free(text);
	return hash;
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
		if (world->now < world->refuse)
			return "no";
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

/* Nothing is sent, which is no shift. */
static json_t *sample(const struct to_cluster *cluster, unsigned int server, uint64_t until)
{
	json_t *names = json_array(), *tm, *reply;
	char *text;

	for (unsigned int i = 0; i < SERVERS; i++)
		json_array_append_new(names, json_string(cluster->servers[i].name));
	tm = json_pack("{s:s, s:i, s:s, s:s, s:I, s:[s,s,s], s:o, s:s, s:i, s:[{s:s, s:n, s:n}],"
		       "s:[{s:I, s:I, s:I, s:[i,i], s:[], s:[[i,i,i,i]]}]}",
		       "format", "topoopt-tm", "version", 1, "job", "test", "plan",
		       "0000000000000000", "interval_ns", (json_int_t)interval_ns, "classes", "roce",
		       "tcp", "other", "servers", names, "server", cluster->servers[server].name,
		       "generation", 1, "ports", "name", "eth0", "to", "from", "samples",
		       "start_ns", (json_int_t)(until - interval_ns), "end_ns", (json_int_t)until,
		       "elapsed_ns", (json_int_t)interval_ns, "lost", 0, 0, "flows", "ports", 0, 0, 0,
		       0);
	assert_non_null(tm);
	text = json_dumps(tm, JSON_COMPACT);
	json_decref(tm);
	reply = json_string(text);
	free(text);
	return reply;
}

/* Ports and their rates. */
static json_t *look(unsigned int server)
{
	const struct to_link *link = &plan->cluster->links[0];
	json_t *ports = json_array();

	for (unsigned int q = 0; q < plan->cluster->servers[server].n_ports; q++) {
		const struct to_port *port = &plan->cluster->servers[server].ports[q];
		const uint64_t cable = to_server_cable_bandwidth(&plan->cluster->servers[server], q);
		const bool slow = world->now >= world->slow && world->now < world->fast &&
				  ((server == link->a.server && q == link->a.port) ||
				   (server == link->b.server && q == link->b.port));

		json_array_append_new(ports, json_pack("{s:s, s:I}", "name", port->name, "mbits",
						       (json_int_t)(cable / 1000000 / (slow ? 4 : 1))));
	}
	return ports;
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
	const char *error;
	json_t *reply, *live = json_array();

	if (((int)i == world->dead && !world->alive && happens()) ||
	    ((int)i == world->away && world->now >= world->away_at && world->now < world->home_at)) {
		snprintf(call->errors[i], 256, "the agent does not answer");
		json_decref(live);
		return;
	}
	error = kernel_call(k, op, call->request, table);
	reply = json_pack("{s:b, s:I, s:b, s:b}", "ok", !error, "generation",
			  (json_int_t)k->generation, "staged", k->staged != 0, "differs",
			  table != k->table);
	for (unsigned int q = 0; q < server->n_ports; q++)
		if (is_lit(i, q))
			json_array_append_new(live, json_string(server->ports[q].name));
	if (world->mute && (i == plan->cluster->links[0].a.server ||
			    i == plan->cluster->links[0].b.server))
		json_decref(live);
	else
		json_object_set_new(reply, "live", live);
	if (!strcmp(op, "sample"))
		json_object_set_new(reply, "tm", sample(link->cluster, i, until));
	if (!strcmp(op, "look"))
		json_object_set_new(reply, "ports", look(i));
	if (error)
		json_object_set_new(reply, "error", json_string(error));
	call->replies[i] = reply;
}

static int link_call(struct to_fabric_link *base, const struct to_fabric_call *call,
		     struct to_error *err)
{
	const char *op = json_string_value(json_object_get(call->request, "op"));

	(void)err;
	if (!strcmp(op, "sample"))
		world->now = behind() +
			     json_integer_value(json_object_get(call->request, "until_ns"));
	world->stop |= world->now >= world->end;
	if (world->again && world->now >= world->again && !strcmp(op, "stage")) {
		world->cut = world->now;
		world->back = NEVER;
		world->again = 0;
	}
	if (world->clear_at && world->now >= world->clear_at) {
		world->kernels[2] = (struct kernel){ 0 };
		world->clear_at = 0;
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

/* ---- files and time ---- */

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	int ret;

	point();
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
	world->now += ns;
	world->stop |= world->now >= world->end;
}

uint64_t __wrap_to_clock_monotonic_ns(void);
uint64_t __wrap_to_clock_monotonic_ns(void)
{
	return world->now;
}

uint64_t __wrap_to_clock_realtime_ns(void);
uint64_t __wrap_to_clock_realtime_ns(void)
{
	return world->now - behind();
}

double __wrap_to_clock_seconds_since(uint64_t start_ns);
double __wrap_to_clock_seconds_since(uint64_t start_ns)
{
	return (world->now - start_ns) * 1e-9;
}

/* ---- the test ---- */

/* A controller in a process of its own, which is stopped @seconds from now. */
static int controller_never(double seconds, bool never)
{
	struct to_run_log log = { 0 };
	struct to_controller_config config = {
		.plan = plan_path, .interval_ns = interval_ns,
		.carrier = TO_CARRIER_DEFAULTS, .candidates = TO_CANDIDATES_DEFAULTS, .stop = &world->stop,
		.log = &log, .fabric = { .command = "{}", .timeout_ns = SECOND },
		.lossy.hold_ns = 5 * SECOND, .carrier_ns = 5 * SECOND,
	};
	struct to_error err = { 0 };
	int status, ret;
	pid_t pid;

	world->point = 0;
	world->stop = 0;
	world->end = world->now + seconds * 1e9;
	if (never)
		config.carrier.after_ns = 0;
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

static int controller(double seconds)
{
	return controller_never(seconds, false);
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

static unsigned int logged(const char *words)
{
	char *text = read_text(log_path), *at = text;
	unsigned int n = 0;

	while ((at = strstr(at, words))) {
		at++;
		n++;
	}
	free(text);
	return n;
}

static unsigned int n_changes(void)
{
	return logged("\"event\":\"changed\"");
}

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

/* All run the plan of the file at @path, but @dead; the plan that was asked for is there. */
static void check_runs(const char *path, int dead)
{
	const unsigned int some = dead ? 0 : 1;
	struct to_error err = { 0 };
	struct to_plan *active = to_plan_load_shared(path, &err);
	struct to_plan *asked = to_plan_load_shared(plan_path, &err);

	assert_string_equal(err.text, "");
	assert_int_not_equal(access(next_path, F_OK), 0);
	for (unsigned int i = 0; i < SERVERS; i++) {
		const struct kernel *k = &world->kernels[i];

		assert_int_equal(table_hash(asked, i), table_hash(plan, i));
		if ((int)i == dead)
			continue;
		assert_int_equal(k->table, table_hash(active, i));
		assert_int_equal(k->generation, world->kernels[some].generation);
		assert_false(k->staged || k->open);
	}
	to_plan_free(active);
	to_plan_free(asked);
}

static bool is_repaired(void)
{
	return !access(repair_path, F_OK);
}

/* A fabric on the plan, with light everywhere, until @cut seconds from now. */
static void world_begin(double cut, double back)
{
	struct to_error err = { 0 };

	remove_files();
	memset(world, 0, sizeof(*world));
	world->now = START;
	world->dead = world->away = -1;
	world->cut = world->back = world->armed = world->also = world->slow = NEVER;
	assert_int_equal(to_plan_save(plan, plan_path, &err), 0);
	assert_int_equal(controller(1), 0);
	check_runs(plan_path, -1);
	assert_int_equal(n_changes(), 0);
	world->cut = world->now + cut * 1e9;
	world->back = back ? world->now + back * 1e9 : NEVER;
}

static void test_cut_and_back(void **state)
{
	(void)state;
	world_begin(2, 8);
	assert_int_equal(controller(2.9), 0);
	assert_int_equal(n_changes(), 0);
	assert_int_equal(controller(1.3), 0);
	assert_int_equal(logged("\"action\":\"repair\",\"generation\""), 1);
	assert_int_equal(n_changes(), 1);
	assert_true(is_repaired());
	check_runs(repair_path, -1);
	/* the light is back, but has to stay */
	assert_int_equal(controller(13), 0);
	assert_int_equal(n_changes(), 1);
	check_runs(repair_path, -1);
	/* what was dark for another controller is not tried again */
	assert_int_equal(logged("\"event\":\"refused\""), 0);
	assert_int_equal(logged("\"event\":\"decision\""), 1);
	assert_int_equal(controller(12), 0);
	assert_int_equal(n_changes(), 2);
	assert_int_equal(logged("\"action\":\"return\",\"generation\""), 1);
	assert_false(is_repaired());
	check_runs(plan_path, -1);
	assert_int_equal(controller(30), 0);
	assert_int_equal(n_changes(), 2);
}

/* A ring, of cables with two functions each. */
static struct to_plan *plan_shared(void)
{
	const struct to_planner_knobs options = { .fixed = true, .seed = 1 };
	struct to_error err = { 0 };
	struct to_cluster *c = to_cluster_synthetic(SERVERS, 4, 100 * GBPS, TO_LINKS_DUPLEX, &err);
	struct to_demand *demand = job_new(SERVERS);
	struct to_plan *shared;

	assert_non_null(c);
	job_group(demand, 0, 1, SERVERS, 100 * MIB);
	c->links = calloc(2 * SERVERS, sizeof(*c->links));
	assert_non_null(c->links);
	c->n_switches = 0;
	for (uint32_t x = 0; x < SERVERS; x++) {
		for (unsigned int q = 0; q < 4; q++) {
			c->servers[x].ports[q].optical_switch = -1;
			strcpy(c->servers[x].ports[q].cable, q % 2 ? "p1" : "p0");
			if (q % 2)
				c->links[c->n_links++] = (struct to_link){
					.a = { x, q - 1 }, .b = { (x + 1) % SERVERS, q },
					.ring = -1, .tree = -1 };
		}
	}
	shared = to_planner_make(c, demand, &options, &err);
	assert_string_equal(err.text, "");
	return shared;
}

/* A cut is one repair without all functions of the cable; one function alone is one without it. */
static void test_shared_cable(void **state)
{
	struct to_plan *others = plan, *repaired;
	struct to_error err = { 0 };

	(void)state;
	plan = plan_shared();
	for (unsigned int one = 0; one < 2; one++) {
		world_begin(2, 8);
		world->one = one;
		assert_int_equal(controller(4.2), 0);
		assert_int_equal(n_changes(), 1);
		check_runs(repair_path, -1);
		repaired = to_plan_load_shared(repair_path, &err);
		assert_string_equal(err.text, "");
		assert_int_equal(repaired->n_down, one ? 1 : 4);
		assert_int_equal(repaired->n_dark, one ? 1 : 2);
		to_plan_free(repaired);
		/* another controller finds what the plan is without */
		assert_int_equal(controller(3), 0);
		assert_int_equal(n_changes(), 1);
		assert_int_equal(controller(30), 0);
		assert_int_equal(n_changes(), 2);
		check_runs(plan_path, -1);
	}
	to_plan_free(plan);
	plan = others;
}

/* In one run: after 1 s of darkness and 10 s of light, and not sooner. */
static void test_times(void **state)
{
	(void)state;
	world_begin(2, 8);
	assert_int_equal(controller(40), 0);
	assert_int_equal(n_changes(), 2);
	assert_int_equal(logged("\"shift_ms\":1000.0,"), 1);
	assert_int_equal(logged("\"shift_ms\":10000.0,"), 1);
}

/* Dark and lit for half a second each, for a minute. */
static void test_flapping(void **state)
{
	(void)state;
	for (unsigned int ms = 100; ms <= 3000; ms += ms < 900 ? 400 : 700) {
		world_begin(2, 62);
		world->flap_ns = ms * 1000000;
		assert_int_equal(controller(90), 0);
		assert_in_range(n_changes(), 0, 2);
		if (ms == 500)
			assert_int_equal(n_changes(), 2);
		assert_false(is_repaired());
		check_runs(plan_path, -1);
	}
}

/* One that stays lit for longer than the hold-down each time waits ever longer. */
static void test_slow_flapping(void **state)
{
	(void)state;
	world_begin(2, 602);
	world->flap_ns = 15 * SECOND;
	assert_int_equal(controller(600), 0);
	/* 40 changes of the light */
	assert_in_range(n_changes(), 2, 6);
}

static void test_short_darkness(void **state)
{
	(void)state;
	world_begin(2, 2.9);
	assert_int_equal(controller(20), 0);
	assert_int_equal(n_changes(), 0);
	check_runs(plan_path, -1);
}

static void test_dead_server(void **state)
{
	(void)state;
	for (int dead = 0; dead < SERVERS; dead += 3) {
		world_begin(2, 20);
		world->dead = dead;
		assert_int_equal(controller(10), 0);
		assert_int_equal(n_changes(), 1);
		assert_int_equal(logged("\"event\":\"refused\""), 0);
		assert_true(is_repaired());
		check_runs(repair_path, dead);
		/* a controller that begins without it */
		assert_int_equal(controller(5), 0);
		assert_int_equal(n_changes(), 1);
		check_runs(repair_path, dead);
		assert_int_equal(controller(40), 0);
		assert_int_equal(n_changes(), 2);
		assert_false(is_repaired());
		check_runs(plan_path, -1);
	}
}

/* A server that is dead when the controller starts, before it ever saw its light. */
static void test_dead_before(void **state)
{
	(void)state;
	world_begin(0, 60);
	world->dead = 2;
	assert_int_equal(controller(40), 0);
	assert_int_equal(n_changes(), 1);
	check_runs(repair_path, 2);
	assert_int_equal(controller(90), 0);
	assert_int_equal(n_changes(), 2);
	check_runs(plan_path, -1);
}

/* All cables of a server that is alive are cut: one repair, at the first attempt. */
static void test_cut_off(void **state)
{
	(void)state;
	world_begin(2, 20);
	world->dead = 4;
	world->alive = true;
	assert_int_equal(controller(10), 0);
	assert_int_equal(n_changes(), 1);
	assert_int_equal(logged("\"ok\":false"), 0);
	assert_int_equal(logged("\"cut_off\":[\"s4\"]"), 1);
	check_runs(repair_path, -1);
	assert_int_equal(controller(40), 0);
	assert_int_equal(n_changes(), 2);
	check_runs(plan_path, -1);
}

static void test_never(void **state)
{
	(void)state;
	world_begin(2, 0);
	assert_int_equal(controller_never(20, true), 0);
	assert_int_equal(n_changes(), 0);
	/* one that is told to repair nothing undoes the repair of another */
	assert_int_equal(controller(5), 0);
	assert_true(is_repaired());
	assert_int_equal(controller_never(5, true), 0);
	assert_false(is_repaired());
	check_runs(plan_path, -1);
}

/* Traffic is measured as before when somebody sets the clock back between two samples. */
static void test_clock_set_back(void **state)
{
	(void)state;
	interval_ns = 2 * SECOND;
	world_begin(100, 0);
	world->set_at = world->now + 6 * SECOND;
	assert_int_equal(controller(20), 0);
	interval_ns = INTERVAL_NS;
	/* ten, of which the last waits for another one */
	assert_int_equal(logged("\"event\":\"end\",\"as_planned\":true,\"intervals\":9"), 1);
}

/* Agents that do not tell of their ports: nothing is known to be dark. */
static void test_old_agents(void **state)
{
	(void)state;
	world_begin(2, 0);
	world->mute = true;
	assert_int_equal(controller(20), 0);
	assert_int_equal(n_changes(), 0);
	check_runs(plan_path, -1);
}

/* The repaired plan of another plan than the one that is asked for now. */
static void test_other_plan(void **state)
{
	struct to_error err = { 0 };
	struct to_plan *other;

	(void)state;
	world_begin(2, 5);
	assert_int_equal(controller(4), 0);
	assert_true(is_repaired());
	other = to_plan_load_shared(repair_path, &err);
	assert_non_null(other);
	strcpy(other->demand->name, "other");
	assert_int_equal(to_plan_save(other, repair_path, &err), 0);
	to_plan_free(other);
	world->now = world->back;
	assert_int_equal(controller(2), 0);
	assert_int_equal(logged("it is of another plan"), 1);
	assert_false(is_repaired());
	check_runs(plan_path, -1);
}

/*
 * The controller dies at every point of the change that is due @at seconds after the
 * light went; the next one finds all servers on one of the two plans, or brings them
 * there. It ends as it would have without that.
 */
static void check_deaths(int dead, double at, bool repaired)
{
	int status;

	/* the last of them are of samples after it */
	for (unsigned int k = 1; k <= POINTS; k += dead < 0 ? 1 : 5) {
		world_begin(2, at > 8 ? 8 : 0);
		world->dead = dead;
		world->armed = world->cut + at * 1e9;
		world->die_at = k;
		assert_int_equal(controller(at + 5), DIED);
		world->armed = NEVER;
		world->end = world->now;
		/* until it does without a server that is dead, it cannot reach all */
		status = controller(0);
		assert_in_range(status, 0, dead >= 0 && repaired);
		if (!status)
			check_runs(is_repaired() ? repair_path : plan_path,
				   is_repaired() ? dead : -1);
		assert_int_equal(controller(45), 0);
		assert_int_equal(is_repaired(), repaired);
		check_runs(repaired ? repair_path : plan_path, repaired ? dead : -1);
	}
}

static void test_deaths(void **state)
{
	(void)state;
	check_deaths(-1, 0.95, true);
	check_deaths(-1, 15.95, false);
	check_deaths(4, 0.95, true);
	check_deaths(4, 15.95, false);
}

/* The same points, at which a signal tells the controller to end: it leaves nothing to undo. */
static void check_signals(int dead, double at)
{
	for (unsigned int k = 1; k <= POINTS; k += dead < 0 ? 1 : 5) {
		world_begin(2, at > 8 ? 8 : 0);
		world->dead = dead;
		world->armed = world->cut + at * 1e9;
		world->die_at = k;
		world->told = true;
		assert_in_range(controller(at + 5), 0, dead >= 0 && !is_repaired());
		world->armed = NEVER;
		if (dead < 0 || is_repaired() || !happens())
			check_runs(is_repaired() ? repair_path : plan_path, dead);
		assert_int_equal(logged("\"event\":\"end\""), 2);
		/* the next one has nothing to bring anywhere */
		world->end = world->now;
		assert_in_range(controller(0), 0, dead >= 0 && !is_repaired());
		assert_int_equal(logged("unfinished change"), 0);
	}
}

static void test_signals(void **state)
{
	(void)state;
	check_signals(-1, 0.95);
	check_signals(-1, 15.95);
	check_signals(4, 0.95);
}

/* A cable is cut while another server's agent is away: the others are repaired, and it later. */
static void test_away(void **state)
{
	const struct to_link *cut = &plan->cluster->links[0];
	unsigned int away = 0;

	(void)state;
	while (away == cut->a.server || away == cut->b.server)
		away++;
	world_begin(2, 0);
	world->away = away;
	world->away_at = world->now + SECOND / 2;
	world->home_at = world->now + 8 * SECOND;
	assert_int_equal(controller(7), 1);
	assert_int_equal(n_changes(), 1);
	assert_true(is_repaired());
	check_runs(repair_path, away);
	assert_int_equal(logged("\"event\":\"refused\""), 0);
	assert_int_equal(logged("\"event\":\"away\""), 1);
	assert_int_equal(controller(5), 0);
	assert_int_equal(n_changes(), 1);
	check_runs(repair_path, -1);
}

/* A repair that failed is tried at once when something else is down. */
static void test_other_case(void **state)
{
	(void)state;
	world_begin(1, 0);
	world->refuse = world->now + 18 * SECOND;
	/* after 17 s the next attempt is due at 33 s, or when link 1 is down, too */
	world->also = world->now + 19 * SECOND;
	assert_int_equal(controller(20.5), 0);
	assert_int_equal(n_changes(), 1);
	check_runs(repair_path, -1);
}

/* Ports at a fourth of the plan's rate are planned for as they are, until they have it again. */
static void test_slow(void **state)
{
	const struct to_port_ref at = plan->cluster->links[0].a;
	struct to_plan *repaired;
	struct to_error err = { 0 };

	(void)state;
	world_begin(100, 0);
	world->slow = world->now + 2 * SECOND;
	world->fast = world->now + 20 * SECOND;
	assert_int_equal(controller(3), 0);
	assert_int_equal(n_changes(), 0);
	assert_int_equal(controller(3), 0);
	assert_int_equal(n_changes(), 1);
	assert_int_equal(logged("\"event\":\"slow\""), 2);
	assert_int_equal(logged("\"reason\":\"slow\""), 2);
	check_runs(repair_path, -1);
	repaired = to_plan_load_shared(repair_path, &err);
	assert_string_equal(err.text, "");
	assert_int_equal(repaired->n_dark + repaired->n_down, 0);
	assert_int_equal(repaired->cluster->servers[at.server].ports[at.port].bandwidth,
			 plan->cluster->servers[at.server].ports[at.port].bandwidth / 4);
	to_plan_free(repaired);
	/* another controller goes on from there */
	assert_int_equal(controller(5), 0);
	assert_int_equal(n_changes(), 1);
	assert_true(is_repaired());
	world->now = world->fast;
	assert_int_equal(controller(4), 0);
	assert_int_equal(n_changes(), 1);
	assert_int_equal(controller(8), 0);
	assert_int_equal(n_changes(), 2);
	assert_false(is_repaired());
	check_runs(plan_path, -1);
}

/* A cable that is cut in the return makes no light by waiting, where no switch does. */
static void test_cut_in_return(void **state)
{
	(void)state;
	world_begin(2, 8);
	world->again = world->back + 9 * SECOND;
	assert_int_equal(controller(19), 0);
	assert_int_equal(logged("\"action\":\"return\",\"reason\""), 1);
	assert_int_equal(logged("has no carrier\",\"ok\":true"), 1);
	assert_int_equal(n_changes(), 1);
	check_runs(repair_path, -1);
}

/* A server that lost its table gets it at the next look, and the others keep theirs. */
static void test_cleared(void **state)
{
	uint64_t generation;

	(void)state;
	world_begin(100, 0);
	generation = world->kernels[1].generation;
	world->clear_at = world->now + SECOND;
	assert_int_equal(controller(1.5), 0);
	check_runs(plan_path, -1);
	assert_int_equal(world->kernels[1].generation, generation);
	assert_int_equal(logged("\"event\":\"brought\""), 1);
	/* one on which somebody put another plan: a new generation for all */
	world->kernels[2].generation += 5;
	world->kernels[2].table++;
	assert_int_equal(controller(1), 0);
	check_runs(plan_path, -1);
	assert_true(world->kernels[1].generation > generation + 5);
	assert_int_equal(n_changes(), 0);
}

/* Servers that answer, with light at all their ports but those of link @dark. */
static void carrier_look_at(struct to_carrier *carrier, const struct to_link *dark, uint64_t now)
{
	struct to_fabric_server servers[SERVERS] = {};
	uint64_t since;

	for (unsigned int s = 0; s < SERVERS; s++)
		servers[s] = (struct to_fabric_server){ .reached = true, .generation = 1,
							.live = ~0ull };
	if (dark) {
		servers[dark->a.server].live &= ~(1ull << dark->a.port);
		servers[dark->b.server].live &= ~(1ull << dark->b.port);
	}
	to_carrier_look(carrier, servers, plan, NULL, now);
	to_carrier_settle(carrier, now, &since);
}

/* A link of an optical switch that was dark in a change is not suspect afterwards, but no other. */
static void test_forgiven(void **state)
{
	const struct to_carrier_config config = TO_CARRIER_DEFAULTS;
	const struct to_link *link = &plan->cluster->links[0];
	struct to_port *port = &plan->cluster->servers[link->a.server].ports[link->a.port];
	const struct to_carrier_port *a, *b;
	struct to_carrier carrier;
	uint64_t now = START;

	(void)state;
	assert_int_equal(to_carrier_init(&carrier, &config, SERVERS, now), 0);
	a = to_carrier_port(&carrier, link->a);
	b = to_carrier_port(&carrier, link->b);
	carrier_look_at(&carrier, link, now += SECOND);
	carrier_look_at(&carrier, link, now += config.after_ns);
	assert_true(a->down && b->down);
	carrier_look_at(&carrier, NULL, now += SECOND);
	assert_true(a->down && b->down);
	port->optical_switch = 0;
	to_carrier_forgive(&carrier, plan->cluster, now, now);
	assert_true(a->down && b->down);	/* they were before the change */
	to_carrier_forgive(&carrier, plan->cluster, START, now);
	assert_true(!a->down && b->down);
	port->optical_switch = -1;
	carrier_look_at(&carrier, NULL, now += SECOND);
	assert_false(a->down);
	/* still dark: it goes down by itself */
	carrier_look_at(&carrier, link, now += SECOND);
	assert_false(a->down);
	carrier_look_at(&carrier, link, now += config.after_ns);
	assert_true(a->down);
	to_carrier_free(&carrier);
}

/* Let port @at, whose table expects a port @planned, hear @hears; @mac: with the MAC expected. */
static void hear(struct to_fabric_server *servers, struct to_peer *peer, struct to_port_ref at,
		 struct to_port_ref planned, const struct to_port_ref *hears, bool mac)
{
	const struct to_server *all = plan->cluster->servers;
	const bool same = hears && !memcmp(hears, &planned, sizeof(planned)) && mac;

	*peer = (struct to_peer){ .transit = same, .local = same, .heard = same, .reason =
		same ? TOPOOPT_CHECK_REASON_HEARD : hears ? TOPOOPT_CHECK_REASON_STRANGER :
		TOPOOPT_CHECK_REASON_SILENT };
	strcpy(peer->port, all[at.server].ports[at.port].name);
	strcpy(peer->server, all[planned.server].name);
	strcpy(peer->server_port, all[planned.server].ports[planned.port].name);
	if (hears && !same) {
		strcpy(peer->stranger, all[hears->server].name);
		strcpy(peer->stranger_port, all[hears->server].ports[hears->port].name);
	}
	servers[at.server].peers = peer;
	servers[at.server].n_peers = 1;
}

/*
 * A cable leads from the first end of link 0 to another port of the server at the second. The end that was silent
 * hears it once the plan expects that, which is no reason to doubt it.
 */
static void test_recabled(void **state)
{
	const struct to_carrier_config config = TO_CARRIER_DEFAULTS;
	const struct to_link *link = &plan->cluster->links[0], *other = link;
	struct to_fabric_server servers[SERVERS] = {};
	struct to_peer at_a, at_near;
	struct to_carrier carrier;
	const struct to_port_ref a = link->a, b = link->b;
	struct to_port_ref near, far;	/* ends of @other, @near at the server of @b */
	struct to_link *found;
	uint64_t now = START, since;

	(void)state;
	for (unsigned int s = 0; s < SERVERS; s++)
		servers[s] = (struct to_fabric_server){ .reached = true, .generation = 1,
							.live = ~0ull };
	while (other == link || (other->a.server != b.server && other->b.server != b.server))
		other++;
	near = other->a.server == b.server ? other->a : other->b;
	far = other->a.server == b.server ? other->b : other->a;
	assert_int_equal(to_carrier_init(&carrier, &config, SERVERS, now), 0);
	hear(servers, &at_a, a, b, &near, true);
	hear(servers, &at_near, near, far, NULL, true);
	for (unsigned int i = 0; i < 2; i++) {
		now += config.after_ns;
		to_carrier_look(&carrier, servers, plan, NULL, now);
		to_carrier_settle(&carrier, now, &since);
	}
	assert_true(to_carrier_port(&carrier, near)->down);
	/* the plan in force expects what is heard */
	hear(servers, &at_a, a, near, &near, true);
	hear(servers, &at_near, near, a, &a, true);
	to_carrier_look(&carrier, servers, plan, NULL, ++now);
	to_carrier_settle(&carrier, now, &since);
	assert_int_equal(to_carrier_find_recabled(&carrier, plan, now, &found), 1);
	assert_memory_equal(&found->a, a.server < near.server ? &a : &near, sizeof(a));
	free(found);
	to_carrier_free(&carrier);
}

/* A port with another MAC than the plan's has another NIC: no cable leads elsewhere. */
static void test_replaced(void **state)
{
	const struct to_carrier_config config = TO_CARRIER_DEFAULTS;
	const struct to_link *link = &plan->cluster->links[0];
	struct to_fabric_server servers[SERVERS] = {};
	struct to_peer peer;
	struct to_carrier carrier;
	struct to_link *found;
	uint64_t now = START, since;

	(void)state;
	for (unsigned int s = 0; s < SERVERS; s++)
		servers[s] = (struct to_fabric_server){ .reached = true, .generation = 1,
							.live = ~0ull };
	assert_int_equal(to_carrier_init(&carrier, &config, SERVERS, now), 0);
	hear(servers, &peer, link->a, link->b, &link->b, false);
	for (unsigned int i = 0; i < 3; i++) {
		now += config.after_ns;
		to_carrier_look(&carrier, servers, plan, NULL, now);
		to_carrier_settle(&carrier, now, &since);
	}
	assert_true(to_carrier_port(&carrier, link->a)->down);
	assert_int_equal(to_carrier_port(&carrier, link->a)->reason, TO_HELD_REPLACED);
	assert_int_equal(to_carrier_find_recabled(&carrier, plan, now, &found), 0);
	to_carrier_free(&carrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recabled),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_away),
		cmocka_unit_test(test_other_case),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_cut_in_return),
		cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_forgiven),
		cmocka_unit_test(test_cut_and_back),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_flapping),
		cmocka_unit_test(test_slow_flapping),
		cmocka_unit_test(test_short_darkness),
		cmocka_unit_test(test_dead_server),
		cmocka_unit_test(test_dead_before),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_clock_set_back),
		cmocka_unit_test(test_old_agents),
		cmocka_unit_test(test_other_plan),
		cmocka_unit_test(test_deaths),
		cmocka_unit_test(test_shared_cable),
	};
	struct to_demand *demand = job_new(SERVERS);
	struct to_error err = { 0 };
	int ret;

	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (world == MAP_FAILED || !mkdtemp(dir))
		return 1;
	job_group(demand, 0, 1, SERVERS, 100 * MIB);
	plan = job_plan(demand, DEGREE, TO_LINKS_DUPLEX, &err);
	plan->cluster->n_switches = plan->n_cross_connects = 0;
	for (unsigned int i = 0; i < SERVERS; i++)
		for (unsigned int q = 0; q < DEGREE; q++)
			plan->cluster->servers[i].ports[q].optical_switch = -1;
	snprintf(plan_path, sizeof(plan_path), "%s/plan.json", dir);
	snprintf(next_path, sizeof(next_path), "%s.next", plan_path);
	snprintf(repair_path, sizeof(repair_path), "%s.repair", plan_path);
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	to_plan_free(plan);
	remove_files();
	rmdir(dir);
	return ret;
}
