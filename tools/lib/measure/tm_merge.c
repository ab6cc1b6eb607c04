// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/tm_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "measure/tm_check.h"
#include "measure/tm_links.h"
#include "measure/tm_live.h"

/* Return: the live merge of all that was recorded, which begins and ends here. */
static struct to_tm *merge_run(const struct to_tm **by_server, struct to_tm *const *records,
			       unsigned int n, bool partial, struct to_error *err)
{
	struct to_tm *tm = NULL, links = { .n_servers = records[0]->n_servers };
	struct to_tm_live *live = NULL;
	int ret = to_tm_check_records(records, n, by_server, err);

	links.servers = records[0]->servers;
	if (!ret && !partial) {
		ret = to_tm_links_find(&links, by_server, err);
		ret = ret ? ret : to_tm_links_refuse_missing(&links, by_server, err);
		free(links.links);
	}
	if (!ret)
		live = to_tm_live_new(by_server, records[0]->n_servers, err);
	if (live && !to_tm_live_add(live, by_server, err) &&
	    !to_tm_live_settle(live, true, err)) {
		tm = to_tm_live_take(live);
		if (!tm)
			ret = -ENOMEM;
	}
	to_tm_live_free(live);
	if (ret == -ENOMEM)
		to_error_set(err, ret, "out of memory");
	return tm;
}

struct to_tm *to_tm_merge(struct to_tm *const *records, unsigned int n,
			  bool partial, struct to_error *err)
{
	const struct to_tm **by_server;
	struct to_tm *tm;

	if (!n) {
		to_error_set(err, -EINVAL, "no recordings to merge");
		return NULL;
	}
	by_server = calloc(records[0]->n_servers, sizeof(*by_server));
	if (!by_server) {
		to_error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	tm = merge_run(by_server, records, n, partial, err);
	free(by_server);
	return tm;
}
