// SPDX-License-Identifier: GPL-2.0
/* Module init and exit. */

#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <net/rtnetlink.h>

#include "kfunc.h"
#include "netlink.h"
#include "netlink_policy.h"
#include "table.h"

static int __init topoopt_init(void)
{
	int err;

	err = register_pernet_subsys(&topoopt_netns_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&topoopt_port_notifier);
	if (err)
		goto err_pernet;
	err = topoopt_table_init();
	if (err)
		goto err_netdevice;
	err = netlink_register_notifier(&topoopt_request_notifier);
	if (err)
		goto err_table;
	err = genl_register_family(&topoopt_nl_family);
	if (err)
		goto err_netlink;
	err = rtnl_link_register(&topoopt_device_link_ops);
	if (err)
		goto err_family;
	topoopt_drops_init();
	topoopt_kfunc_init();
	return 0;

err_family:
	genl_unregister_family(&topoopt_nl_family);
err_netlink:
	netlink_unregister_notifier(&topoopt_request_notifier);
err_table:
	topoopt_table_exit();
err_netdevice:
	unregister_netdevice_notifier(&topoopt_port_notifier);
err_pernet:
	unregister_pernet_subsys(&topoopt_netns_ops);
	return err;
}

static void __exit topoopt_exit(void)
{
	topoopt_drops_exit();
	rtnl_link_unregister(&topoopt_device_link_ops);
	genl_unregister_family(&topoopt_nl_family);
	netlink_unregister_notifier(&topoopt_request_notifier);
	topoopt_table_exit();
	unregister_netdevice_notifier(&topoopt_port_notifier);
	unregister_pernet_subsys(&topoopt_netns_ops);
}

module_init(topoopt_init);
module_exit(topoopt_exit);

MODULE_DESCRIPTION("Relay between the NICs of servers wired directly to each other");
MODULE_VERSION(TOPOOPT_VERSION);
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK(TOPOOPT_KIND);
