// SPDX-License-Identifier: GPL-2.0-or-later
#include "job/launcher.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/file.h"
#include "base/password.h"
#include "collectives/collective_run.h"
#include "job/env.h"

/* Files in the directory of a launcher. */
static const struct launcher_file {
	const char *name;
	enum to_ranks_format format;
} launcher_files[] = {
	{ "hosts", TO_RANKS_OPENMPI }, { "hosts.mpich", TO_RANKS_MPICH },
	{ "hosts.slurm", TO_RANKS_SLURM }, { "ranks.json", TO_RANKS_JSON },
};

#define LAUNCHER_FILES (sizeof(launcher_files) / sizeof(*launcher_files))

/* Environment variables that name the files. */
static const struct launcher_variable {
	const char *launcher;	/* kind of the launcher, NULL for all */
	const char *key, *file;
} launcher_variables[] = {
	{ NULL, "TOPOOPT_HOSTS", "hosts" }, { NULL, "TOPOOPT_RANKS", "ranks.json" },
	{ "mpirun", "PRTE_MCA_prte_default_hostfile", "hosts" },
	{ "mpirun", "OMPI_MCA_orte_default_hostfile", "hosts" },
	{ "mpirun", "HYDRA_HOST_FILE", "hosts.mpich" },
	{ "srun", "SLURM_HOSTFILE", "hosts.slurm" },
};

/* Return the kind of a launcher: "mpirun" for all of MPI, else its name. */
static const char *launcher_kind(const char *command)
{
	static const char *const mpi[] = {
		"mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi", "mpiexec.openmpi", "prterun"
	};
	const char *name = strrchr(command, '/');

	name = name ? name + 1 : command;
	for (unsigned int i = 0; i < sizeof(mpi) / sizeof(*mpi); i++)
		if (!strcmp(name, mpi[i]))
			return "mpirun";
	return name;
}

struct launcher_text {
	const struct to_launcher_job *job;
	enum to_ranks_format format;
};

static int launcher_write(FILE *out, const void *data, struct to_error *err)
{
	const struct launcher_text *text = data;

	(void)err;
	if (text->format == TO_RANKS_JSON)
		to_ranks_print_json(out, text->job->ranks, text->job->slots, text->job->fingerprint);
	else
		to_ranks_print(out, text->job->ranks, text->format, text->job->slots);
	return 0;
}

static const int launcher_signals[] = { SIGINT, SIGTERM, SIGHUP };

#define LAUNCHER_SIGNALS 3

static void launcher_path(const struct to_launcher *launcher, const char *name, char path[96])
{
	snprintf(path, 96, "%s/%s", launcher->directory, name);
}

/* Set the variables of the client that the launcher starts; none of them names a port. */
static int launcher_client(const struct to_launcher *launcher, const struct to_launcher_job *job,
			   const char *kind, struct to_error *err)
{
	const struct to_env_port ports[TO_PORTS_MAX] = {};
	struct to_env_view view = {
		.ranks = job->ranks, .server = job->server, .device = job->device, .ports = ports,
	};
	enum to_env_client client = TO_ENV_OPENMPI;
	json_t *variables, *warnings, *value;
	const char *key;
	size_t i;
	int ret;

	if (!strcmp(kind, "torchrun")) {
		client = TO_ENV_TORCHRUN;
		if (job->server == TO_SERVER_NONE)
			return to_error_set(err, -ENOENT,
					    "torchrun starts the ranks of this server, and it is not in the plan; name it with --node");
	} else if (strcmp(kind, "mpirun") && strcmp(kind, "srun")) {
		return 0;
	} else {
		/* variables of MPI are equal on all servers */
		view.server = to_ranks_server(job->ranks, 0);
	}
	ret = to_env_make(&view, client, &variables, &warnings, err);
	if (ret)
		return ret;
	json_object_foreach(variables, key, value) {
		setenv(key, json_string_value(value), 0);
	}
	json_array_foreach(warnings, i, value) {
		if (launcher->note)
			launcher->note(json_string_value(value));
	}
	json_decref(variables);
	json_decref(warnings);
	return 0;
}

/* Make a token for a toctl collective run among the ranks. */
static int launcher_token(struct to_error *err)
{
	char token[TO_PASSWORD_MAX];
	int ret = to_password_make(token, err);

	if (!ret && setenv(TO_COLLECTIVE_TOKEN, token, 0))
		ret = to_error_set(err, -errno, "%s", strerror(errno));
	explicit_bzero(token, sizeof(token));
	return ret;
}

int to_launcher_prepare(struct to_launcher *launcher, const struct to_launcher_job *job,
			const char *command, struct to_error *err)
{
	struct launcher_text text = { .job = job };
	const char *kind = launcher_kind(command), *tmp = getenv("TMPDIR");
	char path[96];
	sigset_t block;
	int ret = 0;

	sigemptyset(&block);
	for (unsigned int i = 0; i < LAUNCHER_SIGNALS; i++)
		sigaddset(&block, launcher_signals[i]);
	snprintf(launcher->directory, sizeof(launcher->directory), "%.40s/toctl-job-XXXXXX",
		 tmp && strlen(tmp) <= 40 ? tmp : "/tmp");
	if (!mkdtemp(launcher->directory)) {
		ret = to_error_set(err, -errno, "%s: %s", launcher->directory, strerror(errno));
		launcher->directory[0] = '\0';
		return ret;
	}
	sigprocmask(SIG_BLOCK, &block, &launcher->mask);
	for (unsigned int i = 0; !ret && i < LAUNCHER_FILES; i++) {
		launcher_path(launcher, launcher_files[i].name, path);
		text.format = launcher_files[i].format;
		ret = to_file_write(path, launcher_write, &text, err);
	}
	for (unsigned int i = 0; i < sizeof(launcher_variables) / sizeof(*launcher_variables); i++) {
		const struct launcher_variable *v = &launcher_variables[i];

		launcher_path(launcher, v->file, path);
		if (!v->launcher || !strcmp(v->launcher, kind))
			setenv(v->key, path, 0);
	}
	if (!strcmp(kind, "srun"))
		setenv("SLURM_DISTRIBUTION", "arbitrary", 0);
	if (!ret)
		ret = launcher_token(err);
	if (!ret)
		ret = launcher_client(launcher, job, kind, err);
	if (ret)
		to_launcher_clean(launcher);
	return ret;
}

static volatile sig_atomic_t launcher_pid, launcher_interrupted;

/* Pass on a signal of a process. A signal of the terminal reaches the command by itself. */
static void launcher_signal(int number, siginfo_t *info, void *context)
{
	const int code = errno;

	(void)context;
	if (!launcher_pid)
		launcher_interrupted = 1;
	else if (info->si_code <= 0)
		kill(launcher_pid, number);
	errno = code;
}

bool to_launcher_interrupted(void)
{
	return launcher_interrupted;
}

int to_launcher_start(struct to_launcher *launcher, char **argv, struct to_error *err)
{
	const struct sigaction action = {
		.sa_sigaction = launcher_signal, .sa_flags = SA_SIGINFO | SA_RESTART
	};
	struct sigaction before[LAUNCHER_SIGNALS];
	char **environment = to_environment_of_child(TO_COLLECTIVE_TOKEN);

	if (!environment)
		return to_error_set(err, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < LAUNCHER_SIGNALS; i++) {
		sigaction(launcher_signals[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(launcher_signals[i], &action, NULL);
	}
	launcher->pid = fork();
	if (!launcher->pid) {
		for (unsigned int i = 0; i < LAUNCHER_SIGNALS; i++)
			sigaction(launcher_signals[i], &before[i], NULL);
		sigprocmask(SIG_SETMASK, &launcher->mask, NULL);
		execvpe(argv[0], argv, environment);
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	free(environment);
	launcher_pid = launcher->pid > 0 ? launcher->pid : 0;
	sigprocmask(SIG_SETMASK, &launcher->mask, NULL);
	if (launcher->pid < 0)
		return to_error_set(err, -EAGAIN, "%s cannot be started: %s", argv[0],
				    strerror(errno));
	return 0;
}

bool to_launcher_wait(struct to_launcher *launcher, bool block, int *status)
{
	int state;
	pid_t pid;

	do
		pid = waitpid(launcher->pid, &state, block ? 0 : WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	launcher_pid = 0;
	*status = pid > 0 && WIFEXITED(state) ? WEXITSTATUS(state) :
		  pid > 0 && WIFSIGNALED(state) ? 128 + WTERMSIG(state) : 1;
	return true;
}

void to_launcher_clean(struct to_launcher *launcher)
{
	char path[96];

	if (!launcher->directory[0])
		return;
	for (unsigned int i = 0; i < LAUNCHER_FILES; i++) {
		launcher_path(launcher, launcher_files[i].name, path);
		unlink(path);
	}
	rmdir(launcher->directory);
	launcher->directory[0] = '\0';
	if (launcher->pid <= 0)
		sigprocmask(SIG_SETMASK, &launcher->mask, NULL);
}
