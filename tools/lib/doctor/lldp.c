// SPDX-License-Identifier: GPL-2.0-or-later
#include "doctor/lldp.h"

#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "format/names.h"

#define LLDP_WAIT_NS (2 * TO_NS_PER_S)

/* Whatever is an array in json0 has one element that counts: the first. */
static const json_t *lldp_first(const json_t *object, const char *key)
{
	return json_array_get(json_object_get(object, key), 0);
}

/* "value" of the first @key, "" when there is none that may be shown. */
static const char *lldp_value(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(lldp_first(object, key), "value"));

	return text && to_names_is_label(text) ? text : "";
}

/* Whether MAC address @text is one of this server: functions on one cable hear each other. */
static bool lldp_is_own(const struct to_inventory *inventory, const char *text)
{
	char own[18];

	for (unsigned int i = 0; i < inventory->n_nics; i++) {
		const uint8_t *mac = inventory->nics[i].mac;

		snprintf(own, sizeof(own), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
			 mac[3], mac[4], mac[5]);
		if (!strcasecmp(own, text))
			return true;
	}
	return false;
}

static void lldp_interface(struct to_inventory *inventory, const json_t *interface)
{
	const char *name = json_string_value(json_object_get(interface, "name"));
	const json_t *chassis = lldp_first(interface, "chassis"), *port = lldp_first(interface, "port");
	const char *system = lldp_value(chassis, "name"), *id = lldp_value(port, "id");
	char there[32], at[32];

	if (lldp_is_own(inventory, id) || lldp_is_own(inventory, lldp_value(chassis, "id")))
		return;
	if (!system[0])
		system = lldp_value(chassis, "id");
	for (unsigned int i = 0; name && i < inventory->n_nics; i++) {
		struct to_inventory_nic *nic = &inventory->nics[i];

		if (!strcmp(nic->name, name) && !nic->lldp[0] && system[0])
			snprintf(nic->lldp, sizeof(nic->lldp), "%s%s%s",
				 to_text_clean(there, sizeof(there), system), id[0] ? " " : "",
				 to_text_clean(at, sizeof(at), id));
	}
}

void to_lldp_parse(struct to_inventory *inventory, const char *text, size_t len)
{
	struct to_error why;
	json_t *all = to_json_load(text, len, TO_JSON_MEMORY_MAX, "lldpctl", &why);
	const json_t *interface;
	size_t i;

	json_array_foreach(json_object_get(lldp_first(all, "lldp"), "interface"), i, interface) {
		lldp_interface(inventory, interface);
	}
	json_decref(all);
}

void to_lldp_read(struct to_inventory *inventory)
{
	const struct to_argv command = { (char *[]){ "lldpctl", "-f", "json0", NULL }, 3 };
	struct to_error why;
	char *text = NULL;

	if (to_child_run(&command, "", LLDP_WAIT_NS, &text, &why))
		return;
	to_lldp_parse(inventory, text, strlen(text));
	free(text);
}
