// SPDX-License-Identifier: GPL-2.0-or-later
/* Agents that a command starts, one for each server; they speak at a pipe. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/argv.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/json.h"
#include "base/limits.h"
#include "control/fabric_link.h"
#include "format/cluster_json.h"
#include "format/plan_json.h"
#include "format/plan_slice.h"

#define NS_PER_MS 1000000ull
#define PIPE_CLOSE_NS (10000 * NS_PER_MS)	/* to end in peace */
#define PIPE_END_NS (1000 * NS_PER_MS)		/* after the end of its output */
#define PIPE_END_STEP_NS (5 * NS_PER_MS)
#define PIPE_OWED_NS (10000 * NS_PER_MS)	/* then an agent that owes a reply is started anew */
#define PIPE_PAUSE_NS (250 * NS_PER_MS)		/* before the second start in a row, then doubled */
#define PIPE_PAUSE_MAX_NS (4000 * NS_PER_MS)
#define PIPE_KEEP 65536u	/* bytes of a buffer that waits for the next reply */
#define PIPE_FILES_OTHER 32	/* open files beside those of the agents */

/**
 * struct pipe_agent - one agent
 * @fd: its standard input and output, -1 when there is none
 * @errors: its standard error, -1 when it has closed that
 * @out, @sent: request on its way
 * @in: what came of a reply; no end of a line is in the first @searched bytes
 * @n_in, @n_errors: bytes that came since the last request
 * @last_error: last line on its standard error
 * @servers: of a plan that it has, as it said last, 0: none
 * @shown: to_fabric_call.once of the plan that it was shown last, 0: none
 * @owed: id of the last request, whose reply has not come in time, 0: it has
 * @asked_ns: CLOCK_MONOTONIC of the last request
 * @fresh: it has not replied since it was started
 * @start_ns, @pause_ns: CLOCK_MONOTONIC before which no query starts it, and the pause after
 *	that
 * @ended: why it ended
 */
struct pipe_agent {
	pid_t pid;
	int fd, errors;
	char *out;
	size_t out_len, sent;
	char *in;
	size_t in_len, in_room, searched;
	size_t n_in, n_errors;
	char last_error[192];
	uint64_t servers, shown;
	json_int_t owed;
	uint64_t asked_ns, start_ns, pause_ns;
	bool fresh;
	char ended[256];
};

/**
 * struct pipes - the connections
 * @command: words that start an agent, with {} for its server's name
 * @n_polled, @polled: agents that are waited for
 * @polls: two for each of them
 * @reply_max: bytes of a reply
 * @files: how many files may be open, as it was found; commands get it back
 */
struct pipes {
	struct to_fabric_link link;
	const struct to_cluster *cluster;
	struct to_argv command;
	struct pipe_agent *agents;
	unsigned int n_polled, *polled;
	struct pollfd *polls;
	size_t reply_max;
	struct rlimit files;
};

/*
 * In a session of its own: what ends the controller, Ctrl-C or a signal to its
 * process group, must leave it the agents to end in order.
 */
static void pipe_child(const struct pipes *p, const struct to_argv *command, char **environment,
		       int fd, int errors)
{
	setsid();
	setrlimit(RLIMIT_NOFILE, &p->files);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	execvpe(command->argv[0], command->argv, environment);
	fprintf(stderr, "%s: %s\n", command->argv[0], strerror(errno));
	_exit(127);
}

/* With all that it has started. */
static void pipe_kill(const struct pipe_agent *agent)
{
	if (kill(-agent->pid, SIGKILL))
		kill(agent->pid, SIGKILL);
}

static int pipe_start(const struct pipes *p, unsigned int i)
{
	struct pipe_agent *agent = &p->agents[i];
	struct to_argv command = {};
	char **environment = to_environment_of_child(NULL);
	int pair[2] = { -1, -1 }, errors[2] = { -1, -1 };

	agent->last_error[0] = '\0';
	agent->in_len = agent->searched = 0;
	agent->servers = 0;
	agent->owed = 0;
	agent->fresh = true;
	if (!environment || to_argv_fill(&command, &p->command, p->cluster->servers[i].name) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) || pipe2(errors, O_CLOEXEC) ||
	    fcntl(errors[0], F_SETFL, O_NONBLOCK))
		goto fail;
	agent->pid = fork();
	if (agent->pid < 0)
		goto fail;
	if (!agent->pid)
		pipe_child(p, &command, environment, pair[1], errors[1]);
	close(pair[1]);
	close(errors[1]);
	free(environment);
	to_argv_free(&command);
	agent->fd = pair[0];
	agent->errors = errors[0];
	return 0;
fail:
	for (unsigned int k = 0; k < 2; k++) {
		if (pair[k] >= 0)
			close(pair[k]);
		if (errors[k] >= 0)
			close(errors[k]);
	}
	free(environment);
	to_argv_free(&command);
	return -1;
}

/* May it say more on its standard error? What is not read stops it. */
static bool pipe_hears_errors(const struct pipe_agent *agent)
{
	return agent->n_errors < TO_AGENT_ERRORS_MAX;
}

/* What the agent said last on its standard error. */
static void pipe_read_errors(struct pipe_agent *agent)
{
	char text[1024];
	char *line, *save;
	ssize_t n = -1;

	while (pipe_hears_errors(agent) &&
	       (n = read(agent->errors, text, sizeof(text) - 1)) > 0) {
		agent->n_errors += n;
		text[n] = '\0';
		for (line = strtok_r(text, "\r\n", &save); line;
		     line = strtok_r(NULL, "\r\n", &save))
			snprintf(agent->last_error, sizeof(agent->last_error), "%s", line);
	}
	/* poll() would tell of the end again and again. */
	if (!n) {
		close(agent->errors);
		agent->errors = -1;
	}
}

static void pipe_end(struct pipe_agent *agent)
{
	close(agent->fd);
	if (agent->errors >= 0)
		close(agent->errors);
	agent->fd = agent->errors = -1;
	agent->shown = 0;
	free(agent->out);
	agent->out = NULL;
}

/* Waits for the agent to end, which is killed at @deadline. Return: whether it was. */
static bool pipe_reap(const struct pipe_agent *agent, uint64_t deadline, int *status)
{
	while (!waitpid(agent->pid, status, WNOHANG)) {
		if (to_clock_monotonic_ns() >= deadline) {
			pipe_kill(agent);
			waitpid(agent->pid, status, 0);
			return true;
		}
		to_clock_sleep(PIPE_END_STEP_NS);
	}
	return false;
}

/* The agent closed its end: why? It has until @deadline, but not long, to end. */
static void pipe_ended(struct pipe_agent *agent, uint64_t deadline, char error[256])
{
	const uint64_t soon = to_clock_monotonic_ns() + PIPE_END_NS;
	int status = 0;
	bool killed;

	pipe_read_errors(agent);
	pipe_end(agent);
	killed = pipe_reap(agent, soon < deadline ? soon : deadline, &status);
	if (agent->last_error[0])
		snprintf(error, 256, "the agent ended: %s", agent->last_error);
	else if (killed)
		snprintf(error, 256, "the agent closed its output and did not end");
	else if (WIFSIGNALED(status))
		snprintf(error, 256, "the agent was killed by signal %d", WTERMSIG(status));
	else
		snprintf(error, 256, "the agent ended with status %d", WEXITSTATUS(status));
	/* One that was at work is started anew at once, one that fails again ever later. */
	agent->pause_ns = agent->pause_ns ? 2 * agent->pause_ns : PIPE_PAUSE_NS;
	if (agent->pause_ns > PIPE_PAUSE_MAX_NS)
		agent->pause_ns = PIPE_PAUSE_MAX_NS;
	agent->start_ns = agent->fresh ? to_clock_monotonic_ns() + agent->pause_ns : 0;
	snprintf(agent->ended, sizeof(agent->ended), "%s", error);
}

/* JSON on one line: what ends a line is between values. */
static void pipe_write_json(FILE *out, const char *text, const char *end)
{
	for (; text < end; text++)
		if (*text != '\n')
			putc_unlocked(*text, out);
}

/* @request with the array that begins at @links and @table as values. */
static int pipe_write_values(FILE *out, const json_t *request, const char *links, const char *table)
{
	char *head = json_dumps(request, JSON_COMPACT);

	if (!head)
		return -1;
	/* an object that is not empty, without its end */
	fprintf(out, "%.*s,\"links\":", (int)strlen(head) - 1, head);
	pipe_write_json(out, links, strrchr(links, ']') + 1);
	fputs(",\"table\":", out);
	pipe_write_json(out, table, table + strlen(table));
	free(head);
	return fputs("}\n", out) == EOF;
}

/* Whether @agent gets its part of the plan. */
static bool pipe_gets_plan(const struct pipe_agent *agent, const struct to_fabric_call *call)
{
	return call->plan && (!call->once || call->once != agent->shown);
}

/* The line for server @i; @cluster: of the plan, NULL when the agent does not get it. */
static int pipe_write_request(struct pipes *p, const struct to_fabric_call *call,
			      const char *cluster, unsigned int i)
{
	struct pipe_agent *agent = &p->agents[i];
	FILE *out = open_memstream(&agent->out, &agent->out_len);
	json_t *request = json_copy(call->request);
	const char *links = NULL;
	char *table = NULL;
	size_t len = 0;
	FILE *text;
	int ret = -1;

	if (out && request && pipe_gets_plan(agent, call)) {
		agent->shown = call->once;
		text = open_memstream(&table, &len);
		if (text) {
			ret = to_plan_print_table(text, call->plan, i);
			fclose(text);
		}
		if (!ret && agent->servers && agent->servers == to_plan_slice_servers(cluster, &links)) {
			ret = pipe_write_values(out, request, links, table);
			goto out;
		}
		ret = ret ? ret : json_object_set_new(request, "cluster", json_string(cluster));
		ret = ret ? ret : json_object_set_new(request, "table", json_string(table));
	} else if (out && request) {
		json_object_del(request, "rest");
		ret = 0;
	}
	if (!ret)
		ret = json_dumpf(request, out, JSON_COMPACT) || putc('\n', out) == EOF;
out:
	json_decref(request);
	free(table);
	if (out)
		fclose(out);
	agent->sent = agent->n_in = agent->n_errors = 0;
	agent->asked_ns = to_clock_monotonic_ns();
	return ret;
}

static void pipe_send(struct pipe_agent *agent)
{
	ssize_t n = send(agent->fd, agent->out + agent->sent, agent->out_len - agent->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	/* An agent that is gone shows when reading. */
	agent->sent = n < 0 ? agent->sent + (errno == EAGAIN ? 0 : agent->out_len) :
			      agent->sent + n;
	if (agent->sent >= agent->out_len) {
		free(agent->out);
		agent->out = NULL;
	}
}

/* The reply that was owed is there: what it took shows how patient to be. */
static void pipe_settle(struct pipes *p, struct pipe_agent *agent)
{
	const uint64_t took = to_clock_monotonic_ns() - agent->asked_ns;

	if (!agent->fresh && took > p->link.late_ns)
		p->link.late_ns = took;
	agent->owed = 0;
}

/* Takes the reply to request @id out of what came; others are late ones. */
static json_t *pipe_take_reply(struct pipes *p, struct pipe_agent *agent, json_int_t id)
{
	json_t *reply = NULL;
	json_int_t of;
	char *end;

	while (!reply && (end = memchr(agent->in + agent->searched, '\n',
				       agent->in_len - agent->searched))) {
		size_t len = end + 1 - agent->in;

		reply = to_json_load(agent->in, len, 2 * p->reply_max, "reply", NULL);
		of = json_integer_value(json_object_get(reply, "id"));
		if (of && of == agent->owed)
			pipe_settle(p, agent);
		if (of) {
			agent->fresh = false;
			agent->pause_ns = 0;
		}
		if (of != id) {
			json_decref(reply);
			reply = NULL;
		}
		memmove(agent->in, end + 1, agent->in_len - len);
		agent->in_len -= len;
		agent->searched = 0;
	}
	/* a line that came with the reply, and is none, is a line of its own */
	if (!reply)
		agent->searched = agent->in_len;
	if (reply && agent->in_room > PIPE_KEEP && agent->in_len < PIPE_KEEP) {
		char *in = realloc(agent->in, PIPE_KEEP);

		agent->in = in ? in : agent->in;
		agent->in_room = in ? PIPE_KEEP : agent->in_room;
	}
	return reply;
}

/* Return: how much came, 0 at the end, -E2BIG when it is more than a reply and a late one. */
static ssize_t pipe_receive(const struct pipes *p, struct pipe_agent *agent)
{
	ssize_t n;

	if (agent->in_len >= p->reply_max || agent->n_in >= 2 * p->reply_max)
		return -E2BIG;
	if (agent->in_room - agent->in_len < 4096 && agent->in_room < p->reply_max) {
		size_t room = agent->in_room ? 2 * agent->in_room : 16384;
		char *in;

		room = room < p->reply_max ? room : p->reply_max;
		in = realloc(agent->in, room);
		if (!in)
			return 0;
		agent->in = in;
		agent->in_room = room;
	}
	n = recv(agent->fd, agent->in + agent->in_len, agent->in_room - agent->in_len,
		 MSG_DONTWAIT);
	if (n > 0) {
		agent->in_len += n;
		agent->n_in += n;
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 1 : n;
}

/* Whoever sends without end is stopped. */
static void pipe_stop(struct pipe_agent *agent, uint64_t deadline, char error[256])
{
	pipe_kill(agent);
	pipe_ended(agent, deadline, error);
	snprintf(error, 256, "faulty agent: it sent %zu bytes that are no reply", agent->n_in);
}

/* What poll() says about the @k-th of them; sets its reply or error when it has one. */
static void pipe_serve(struct pipes *p, const struct to_fabric_call *call, unsigned int k)
{
	const json_int_t id = json_integer_value(json_object_get(call->request, "id"));
	const struct pollfd *polls = &p->polls[2 * k];
	unsigned int i = p->polled[k];
	struct pipe_agent *agent = &p->agents[i];
	ssize_t n;

	if (polls[1].revents)
		pipe_read_errors(agent);
	if (polls[0].revents & POLLOUT && agent->out)
		pipe_send(agent);
	if (!(polls[0].revents & (POLLIN | POLLHUP | POLLERR)))
		return;
	n = pipe_receive(p, agent);
	if (n == -E2BIG)
		pipe_stop(agent, call->deadline_ns, call->errors[i]);
	else if (n <= 0)
		pipe_ended(agent, call->deadline_ns, call->errors[i]);
	else
		call->replies[i] = pipe_take_reply(p, agent, id);
	if (call->replies[i]) {
		const char *servers = json_string_value(json_object_get(call->replies[i], "servers"));

		agent->servers = servers ? strtoull(servers, NULL, 16) : 0;
	}
}

/* Is a query kept from the agent until it has given the reply that it owes? */
static bool pipe_is_behind(const struct pipe_agent *agent, const struct to_fabric_call *call)
{
	return call->query && agent->owed &&
	       agent->owed != json_integer_value(json_object_get(call->request, "id"));
}

/* Polls who has neither reply nor error. Return: until when some of them are worth waiting for. */
static uint64_t pipe_prepare(struct pipes *p, const struct to_fabric_call *call)
{
	uint64_t until = 0;

	p->n_polled = 0;
	for (unsigned int i = 0; i < p->cluster->n_servers; i++) {
		const struct pipe_agent *agent = &p->agents[i];
		struct pollfd *polls = &p->polls[2 * p->n_polled];

		if (!call->who[i] || call->replies[i] || call->errors[i][0])
			continue;
		polls[0] = (struct pollfd){
			.fd = agent->fd, .events = POLLIN | (agent->out ? POLLOUT : 0),
		};
		polls[1] = (struct pollfd){
			.fd = pipe_hears_errors(agent) ? agent->errors : -1, .events = POLLIN,
		};
		p->polled[p->n_polled++] = i;
		if (!pipe_is_behind(agent, call) && !(call->lost && call->lost[i]) &&
		    until < call->limit_ns)
			until = agent->n_in ? call->limit_ns : call->deadline_ns;
	}
	return until;
}

/* Sends a query that was kept back, once the reply that was owed is there. */
static void pipe_catch_up(struct pipes *p, const struct to_fabric_call *call, unsigned int i,
			  bool was_behind)
{
	struct pipe_agent *agent = &p->agents[i];

	if (was_behind && agent->fd >= 0 && !pipe_is_behind(agent, call) &&
	    pipe_write_request(p, call, NULL, i))
		snprintf(call->errors[i], 256, "out of memory");
}

/* Until all have a reply or an error, or it is too late; then what is there already is heard. */
static int pipes_wait(struct pipes *p, const struct to_fabric_call *call, struct to_error *err)
{
	uint64_t look = call->look ? call->look_ns : UINT64_MAX;
	int timeout, n;

	do {
		uint64_t until = pipe_prepare(p, call);
		const uint64_t now = to_clock_monotonic_ns();

		if (now < until && now >= look) {
			call->look(call->data);
			look = now + TO_FABRIC_LOOK_NS;
			until = pipe_prepare(p, call);
		}
		until = until < look ? until : look;
		timeout = now < until ? (until - now) / NS_PER_MS + 1 : 0;
		n = p->n_polled ? poll(p->polls, 2 * p->n_polled, timeout) : 0;
		if (n < 0 && errno != EINTR)
			return to_error_set(err, -errno, "waiting for the agents: %s",
					    strerror(errno));
		for (unsigned int k = 0; n > 0 && k < p->n_polled; k++) {
			const bool behind = pipe_is_behind(&p->agents[p->polled[k]], call);

			if (!p->polls[2 * k].revents && !p->polls[2 * k + 1].revents)
				continue;
			pipe_serve(p, call, k);
			pipe_catch_up(p, call, p->polled[k], behind);
		}
	} while (timeout || n);
	return 0;
}

/* Sends agent @i the request, and starts it where there is none. */
static void pipe_ask(struct pipes *p, const struct to_fabric_call *call, const char *cluster,
		     unsigned int i)
{
	struct pipe_agent *agent = &p->agents[i];
	const uint64_t now = to_clock_monotonic_ns();

	if (agent->fd >= 0 && call->query && agent->owed && now - agent->asked_ns > PIPE_OWED_NS) {
		pipe_kill(agent);
		pipe_ended(agent, call->deadline_ns, call->errors[i]);
		snprintf(call->errors[i], 256, "the agent does not answer");
		return;
	}
	if (agent->fd < 0 && call->query && now < agent->start_ns) {
		snprintf(call->errors[i], 256, "%s", agent->ended);
		return;
	}
	if (agent->fd >= 0 && pipe_is_behind(agent, call))
		return;
	free(agent->out);
	agent->out = NULL;
	if (agent->fd < 0 && pipe_start(p, i))
		snprintf(call->errors[i], 256, "the command does not start: %s", strerror(errno));
	else if (pipe_write_request(p, call, cluster, i))
		snprintf(call->errors[i], 256, "out of memory");
}

static int pipes_call(struct to_fabric_link *link, const struct to_fabric_call *call,
		      struct to_error *err)
{
	struct pipes *p = (struct pipes *)link;
	unsigned int n = p->cluster->n_servers;
	char *cluster = NULL;
	bool any = false;
	size_t len = 0;
	int ret;

	for (unsigned int i = 0; i < n; i++)
		any |= call->who[i] && pipe_gets_plan(&p->agents[i], call);
	if (any) {
		FILE *out = open_memstream(&cluster, &len);

		if (!out)
			return to_error_set(err, -ENOMEM, "out of memory");
		to_cluster_print_unchecked(out, call->plan->cluster);
		fclose(out);
	}
	for (unsigned int i = 0; i < n; i++) {
		if (call->who[i])
			pipe_ask(p, call, cluster, i);
	}
	free(cluster);
	ret = pipes_wait(p, call, err);
	for (unsigned int i = 0; i < n; i++) {
		struct pipe_agent *agent = &p->agents[i];

		if (!call->who[i] || call->replies[i] || call->errors[i][0])
			continue;
		/* Nothing can follow half a request. */
		if (agent->out) {
			pipe_kill(agent);
			pipe_ended(agent, call->deadline_ns, call->errors[i]);
		}
		if (!pipe_is_behind(agent, call))
			agent->owed = json_integer_value(json_object_get(call->request, "id"));
		snprintf(call->errors[i], 256, "the agent does not answer%s%s",
			 agent->last_error[0] ? ": " : "", agent->last_error);
	}
	return ret;
}

static void pipes_free(struct pipes *p)
{
	if (p) {
		free(p->agents);
		free(p->polled);
		free(p->polls);
		to_argv_free(&p->command);
	}
	free(p);
}

/* Hears the agent out until it ends. Return: false when it goes on. */
static bool pipe_drain(const struct pipes *p, struct pipe_agent *agent, uint64_t deadline)
{
	char text[4096];
	uint64_t now;

	agent->n_in = 0;
	while ((now = to_clock_monotonic_ns()) < deadline && agent->n_in < p->reply_max) {
		struct pollfd end = { .fd = agent->fd, .events = POLLIN };
		ssize_t n;

		if (poll(&end, 1, (deadline - now) / NS_PER_MS + 1) <= 0)
			continue;
		n = recv(agent->fd, text, sizeof(text), MSG_DONTWAIT);
		if (n <= 0)
			return true;
		agent->n_in += n;
	}
	return false;
}

/* All agents see the end of their input; those that do not end are killed. */
static void pipes_close(struct to_fabric_link *link)
{
	struct pipes *p = (struct pipes *)link;
	uint64_t deadline = to_clock_monotonic_ns() + PIPE_CLOSE_NS;
	char text[256];

	for (unsigned int i = 0; i < p->cluster->n_servers; i++)
		if (p->agents[i].fd >= 0)
			shutdown(p->agents[i].fd, SHUT_WR);
	for (unsigned int i = 0; i < p->cluster->n_servers; i++) {
		struct pipe_agent *agent = &p->agents[i];

		free(agent->in);
		if (agent->fd < 0)
			continue;
		if (!pipe_drain(p, agent, deadline))
			pipe_kill(agent);
		pipe_ended(agent, deadline, text);
	}
	setrlimit(RLIMIT_NOFILE, &p->files);
	pipes_free(p);
}

/* Every agent is two open files, and many are more than one begins with. */
static int pipes_allow_files(struct pipes *p, struct to_error *err)
{
	const rlim_t needs = 2 * (rlim_t)p->cluster->n_servers + PIPE_FILES_OTHER;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &p->files))
		return to_error_set(err, -errno, "limit of open files: %s", strerror(errno));
	if (p->files.rlim_cur >= needs)
		return 0;
	files = p->files;
	files.rlim_cur = files.rlim_max;
	if (files.rlim_max < needs)
		return to_error_set(err, -EMFILE,
				    "%u agents need %llu open files, and %llu are the hard limit (ulimit -Hn, LimitNOFILE= of a unit)",
				    p->cluster->n_servers, (unsigned long long)needs,
				    (unsigned long long)files.rlim_max);
	if (setrlimit(RLIMIT_NOFILE, &files))
		return to_error_set(err, -errno, "limit of open files: %s", strerror(errno));
	return 0;
}

struct to_fabric_link *to_fabric_pipes(const struct to_cluster *cluster,
				       const char *command, struct to_error *err)
{
	struct to_error why;
	struct pipes *p;

	if (!strstr(command, "{}")) {
		to_error_set(err, -EINVAL,
			     "the command \"%s\" has no {} for the server's name", command);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (p && to_argv_split(&p->command, command, &why)) {
		to_error_set(err, -EINVAL, "agents.command: %s", why.text);
		pipes_free(p);
		return NULL;
	}
	if (p) {
		p->agents = calloc(cluster->n_servers, sizeof(*p->agents));
		p->polled = calloc(cluster->n_servers, sizeof(*p->polled));
		p->polls = calloc(2 * cluster->n_servers, sizeof(*p->polls));
	}
	if (!p || !p->agents || !p->polled || !p->polls) {
		pipes_free(p);
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	p->cluster = cluster;
	p->reply_max = TO_REPLY_MAX(cluster->n_servers);
	if (pipes_allow_files(p, err)) {
		pipes_free(p);
		return NULL;
	}
	for (unsigned int i = 0; i < cluster->n_servers; i++)
		p->agents[i].fd = p->agents[i].errors = -1;
	p->link.call = pipes_call;
	p->link.close = pipes_close;
	return &p->link;
}
