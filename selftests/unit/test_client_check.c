// SPDX-License-Identifier: GPL-2.0-or-later
/* What a server lacks for NCCL and UCX. */

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env_lab.h"
#include "job/client_check.h"

static char root[] = "/tmp/client_check.XXXXXX";

static void root_write(const char *path, const char *text)
{
	char full[200];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void root_remove(const char *path)
{
	char full[200];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(remove(full), 0);
}

/* The one finding of this name about a client, NULL when there is none. */
static const struct to_check *find(const struct to_checks *checks, const char *name)
{
	const struct to_check *found = NULL;

	for (unsigned int i = 0; i < checks->n; i++)
		if (!strcmp(checks->items[i].name, name)) {
			assert_null(found);
			found = &checks->items[i];
		}
	return found;
}

/* Whether a version that is not known, or old, is warned of. */
static bool warned(const struct to_checks *checks)
{
	for (unsigned int i = 0; i < checks->n; i++)
		if (!strncmp(checks->items[i].text, "NCCL before 2.30.7 ", 19)) {
			assert_string_equal(checks->items[i].name, "path");
			assert_int_equal(checks->items[i].verdict, TO_CHECK_WARN);
			return true;
		}
	return false;
}

static void expect(const struct to_checks *checks, const char *name, enum to_verdict verdict,
		   const char *text, const char *fix)
{
	const struct to_check *check = find(checks, name);

	assert_non_null(check);
	assert_int_equal(check->verdict, verdict);
	assert_string_equal(check->text, text);
	assert_string_equal(check->fix, fix);
}

static struct to_checks look(struct lab *lab, enum to_env_client client)
{
	struct to_checks checks = {};

	to_client_check(&checks, &lab->view, client, root);
	return checks;
}

static void lab_of_four(struct lab *lab, bool crossed)
{
	struct to_error err = {};

	lab_start(lab, ring_of_four(crossed, &err), TO_RANKS_NONE, 0);
}

static void test_version(void **state)
{
	struct to_checks checks;
	struct lab lab;

	(void)state;
	lab_of_four(&lab, true);
	checks = look(&lab, TO_ENV_NCCL);
	assert_null(find(&checks, "version"));
	expect(&checks, "ports", TO_CHECK_OK,
	       "6 variables of toctl job env make it use the planned ports", "");
	assert_true(warned(&checks));
	to_checks_free(&checks);

	/* the newest counts, by number */
	root_write("/usr/lib/aarch64-linux-gnu/libnccl.so.2.9.30", "");
	root_write("/usr/lib/aarch64-linux-gnu/libnccl.so.2.30.6", "");
	checks = look(&lab, TO_ENV_NCCL);
	expect(&checks, "version", TO_CHECK_WARN,
	       "NCCL 2.30.6 does not choose the port by its cable", "install NCCL 2.30.7 or later");
	assert_true(warned(&checks));
	to_checks_free(&checks);
	root_write("/usr/lib/aarch64-linux-gnu/libnccl.so.2.30.7", "");
	checks = look(&lab, TO_ENV_NCCL);
	expect(&checks, "version", TO_CHECK_OK, "NCCL 2.30.7", "");
	assert_false(warned(&checks));
	to_checks_free(&checks);
	checks = look(&lab, TO_ENV_UCX);
	assert_null(find(&checks, "version"));
	to_checks_free(&checks);
	root_remove("/usr/lib/aarch64-linux-gnu/libnccl.so.2.9.30");
	root_remove("/usr/lib/aarch64-linux-gnu/libnccl.so.2.30.6");
	root_remove("/usr/lib/aarch64-linux-gnu/libnccl.so.2.30.7");
	to_plan_free(lab.plan);
}

static void test_settings(void **state)
{
	struct to_checks checks;
	struct lab lab;

	(void)state;
	lab_of_four(&lab, true);
	root_write("/etc/nccl.conf", "# ours\nNCCL_DEBUG=WARN\n#NCCL_ALGO=Tree\nNCCL_ALGO=Ring\n");
	checks = look(&lab, TO_ENV_NCCL);
	assert_null(find(&checks, "setting"));
	to_checks_free(&checks);
	root_write("/etc/nccl.conf", "NCCL_IB_MERGE_NICS=1\nNCCL_IB_GID_INDEX=1\n");
	checks = look(&lab, TO_ENV_UCX);
	assert_null(find(&checks, "setting"));
	to_checks_free(&checks);
	root_write("/etc/nccl.conf", "NCCL_IB_GID_INDEX=1\n");
	checks = look(&lab, TO_ENV_NCCL);
	expect(&checks, "setting", TO_CHECK_WARN, "/etc/nccl.conf has NCCL_IB_GID_INDEX=1",
	       "NCCL_IB_GID_INDEX=3");
	to_checks_free(&checks);
	root_remove("/etc/nccl.conf");

	setenv("UCX_TLS", "tcp", true);
	checks = look(&lab, TO_ENV_UCX);
	expect(&checks, "setting", TO_CHECK_WARN, "the environment has UCX_TLS=tcp",
	       "UCX_TLS=rc,sm,self");
	to_checks_free(&checks);
	unsetenv("UCX_TLS");
	to_plan_free(lab.plan);
}

static void test_ports(void **state)
{
	struct to_checks checks;
	struct lab lab;

	(void)state;
	lab_of_four(&lab, true);
	lab.ports[1].rdma.gid = -1;
	checks = look(&lab, TO_ENV_NCCL);
	expect(&checks, "ports", TO_CHECK_FAIL,
	       "s0: mlx5_1 of eth1 has no RoCEv2 GID of the port's address: toctl apply sets the address",
	       "");
	to_checks_free(&checks);
	checks = look(&lab, TO_ENV_GLOO);
	assert_int_equal(find(&checks, "ports")->verdict, TO_CHECK_OK);
	assert_null(find(&checks, "memlock"));
	to_checks_free(&checks);
	to_plan_free(lab.plan);
}

static void test_memlock(void **state)
{
	struct rlimit limit = { 8 << 20, 8 << 20 };
	struct to_checks checks;
	struct lab lab;

	(void)state;
	lab_of_four(&lab, true);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	checks = look(&lab, TO_ENV_UCX);
	assert_int_equal(find(&checks, "memlock")->verdict, TO_CHECK_WARN);
	assert_string_equal(find(&checks, "memlock")->text,
			    "locked memory is limited to 8192 KiB here: RDMA cannot register larger buffers");
	to_checks_free(&checks);
	to_plan_free(lab.plan);
}

static int root_make(void **state)
{
	static const char *const directories[] = {
		"/etc", "/usr", "/usr/lib", "/usr/lib/aarch64-linux-gnu"
	};
	char full[200];

	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(full, sizeof(full), "%s%s", root, directories[i]);
		if (mkdir(full, 0755))
			return -1;
	}
	return 0;
}

static int root_clear(void **state)
{
	(void)state;
	root_remove("/usr/lib/aarch64-linux-gnu");
	root_remove("/usr/lib");
	root_remove("/usr");
	root_remove("/etc");
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_memlock),
	};

	return cmocka_run_group_tests(tests, root_make, root_clear);
}
