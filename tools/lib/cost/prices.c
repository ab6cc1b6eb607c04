// SPDX-License-Identifier: GPL-2.0-or-later
/* prices.json */

#include "cost/prices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/quantity.h"
#include "format/names.h"

#define PRICES_MAX 1e9		/* USD or watts of one component: its sums stay exact to the cent */

static const struct to_speed_prices prices_speeds[] = {
	/*  bits/s        transceiver    NIC          switch port */
	{ 10000000000,  {  20, 0.9 }, { 180,  6 }, {  87,  3 } },
	{ 25000000000,  {  39, 1.2 }, { 185, 10 }, { 144,  5 } },
	{ 40000000000,  {  39, 1.5 }, { 376, 12 }, { 144,  7 } },
	{ 100000000000, {  99, 3   }, { 660, 16 }, { 225,  9 } },
	{ 200000000000, { 198, 6   }, { 790, 22 }, { 450, 13 } },
};

static const struct to_prices prices_default = {
	.name = "TopoOpt, Table 3; typical watts",
	.panel_port = { 100, 0 },
	.ocs_port = { 520, 0.2 },
	.switch_1x2 = { 25, 0 },
	.fibre_usd_per_m = 0.3,
	.panel_ports = 1008,
	.ocs_ports = 384,
};

struct to_prices *to_prices_default(void)
{
	struct to_prices *prices = malloc(sizeof(*prices));

	if (!prices)
		return NULL;
	*prices = prices_default;
	prices->n_speeds = sizeof(prices_speeds) / sizeof(*prices_speeds);
	prices->speeds = malloc(sizeof(prices_speeds));
	if (!prices->speeds) {
		free(prices);
		return NULL;
	}
	memcpy(prices->speeds, prices_speeds, sizeof(prices_speeds));
	return prices;
}

void to_prices_free(struct to_prices *prices)
{
	if (!prices)
		return;
	free(prices->speeds);
	free(prices);
}

const struct to_speed_prices *to_prices_speed(const struct to_prices *prices, uint64_t bandwidth)
{
	for (unsigned int i = 0; i < prices->n_speeds; i++)
		if (prices->speeds[i].bandwidth == bandwidth)
			return &prices->speeds[i];
	return NULL;
}

static int prices_read_real(const struct to_json *at, void *to)
{
	double *value = to;
	int ret = to_json_real(at, value);

	if (!ret && *value > PRICES_MAX)
		return to_json_error(at, -ERANGE, "expected 0 to %.0f", PRICES_MAX);
	return ret;
}

static int prices_read_ports(const struct to_json *at, void *to)
{
	unsigned int *ports = to;
	int ret = to_json_u32(at, ports);

	return !ret && !*ports ? to_json_error(at, -ERANGE, "expected 1 port or more") : ret;
}

static const struct to_json_field price_fields[] = {
	{ "usd", prices_read_real, offsetof(struct to_price, usd), false },
	{ "watts", prices_read_real, offsetof(struct to_price, watts), true },
	{}
};

static int prices_read_price(const struct to_json *at, void *to)
{
	return to_json_object(at, price_fields, to);
}

static int prices_read_sip_ml(const struct to_json *at, void *to)
{
	struct to_prices *prices = to;

	prices->sip_ml = true;
	return prices_read_price(at, &prices->sip_ml_port);
}

static const struct to_json_field speed_fields[] = {
	{ "bandwidth", to_json_rate, offsetof(struct to_speed_prices, bandwidth), false },
	{ "transceiver", prices_read_price, offsetof(struct to_speed_prices, transceiver), false },
	{ "nic", prices_read_price, offsetof(struct to_speed_prices, nic), false },
	{ "switch_port", prices_read_price, offsetof(struct to_speed_prices, switch_port), false },
	{}
};

static int prices_read_speeds(const struct to_json *at, void *to)
{
	struct to_prices *prices = to;
	unsigned int n;
	int ret = to_json_array(at, sizeof(*prices->speeds), &prices->speeds, &n);

	if (!ret && !n)
		ret = to_json_error(at, -EINVAL, "expected 1 speed or more");
	for (unsigned int i = 0; !ret && i < n; i++) {
		struct to_json child = to_json_element(at, i);
		struct to_speed_prices *speed = &prices->speeds[i];

		ret = to_json_object(&child, speed_fields, speed);
		if (!ret && to_prices_speed(prices, speed->bandwidth))
			ret = to_json_error_at(&child, "bandwidth", -EEXIST,
					       "another speed has this bandwidth");
		prices->n_speeds = i + 1;
	}
	return ret;
}

static int prices_read_format(const struct to_json *at, void *to)
{
	(void)to;
	return to_json_format(at, "topoopt-prices");
}

static const struct to_json_field prices_fields[] = {
	{ "format", prices_read_format, 0, false },
	{ "version", to_json_version, 0, false },
	{ "comment", to_json_comment, 0, true },
	{ "name", to_names_read_label, offsetof(struct to_prices, name), false },
	{ "speeds", prices_read_speeds, 0, false },
	{ "panel_port", prices_read_price, offsetof(struct to_prices, panel_port), false },
	{ "ocs_port", prices_read_price, offsetof(struct to_prices, ocs_port), false },
	{ "switch_1x2", prices_read_price, offsetof(struct to_prices, switch_1x2), false },
	{ "sip_ml_port", prices_read_sip_ml, 0, true },
	{ "fibre_usd_per_m", prices_read_real, offsetof(struct to_prices, fibre_usd_per_m), false },
	{ "panel_ports", prices_read_ports, offsetof(struct to_prices, panel_ports), true },
	{ "ocs_ports", prices_read_ports, offsetof(struct to_prices, ocs_ports), true },
	{}
};

struct to_prices *to_prices_parse(const char *data, size_t len, const char *name,
				  struct to_error *err)
{
	struct to_prices *prices = calloc(1, sizeof(*prices));
	struct to_json_doc doc;
	struct to_json at;
	int ret;

	if (!prices) {
		to_error_set(err, -ENOMEM, "%s: out of memory", name);
		return NULL;
	}
	prices->panel_ports = prices_default.panel_ports;
	prices->ocs_ports = prices_default.ocs_ports;
	ret = to_json_open(&doc, &at, data, len, name, NULL, err);
	if (!ret)
		ret = to_json_object(&at, prices_fields, prices);
	to_json_close(&doc);
	if (!ret)
		return prices;
	to_prices_free(prices);
	return NULL;
}

struct to_prices *to_prices_load(const char *path, struct to_error *err)
{
	struct to_prices *prices;
	char *data;
	size_t len;

	if (to_file_read(path, TO_FILE_MAX, &data, &len, err))
		return NULL;
	prices = to_prices_parse(data, len, path, err);
	free(data);
	return prices;
}
