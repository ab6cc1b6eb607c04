// SPDX-License-Identifier: GPL-2.0
/* Module init and exit. */

#include <linux/module.h>
#include <net/rtnetlink.h>

#include "kfunc.h"
#include "topoopt.h"

static int __init topoopt_init(void)
{
	int err;

	err = register_pernet_subsys(&topoopt_device_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&topoopt_port_notifier);
	if (err)
		goto err_pernet;
	err = topoopt_netlink_init();
	if (err)
		goto err_notifier;
	err = rtnl_link_register(&topoopt_device_link_ops);
	if (err)
		goto err_netlink;
	topoopt_drops_init();
	topoopt_kfunc_init();
	return 0;

err_netlink:
	topoopt_netlink_exit();
err_notifier:
	unregister_netdevice_notifier(&topoopt_port_notifier);
err_pernet:
	unregister_pernet_subsys(&topoopt_device_net_ops);
	return err;
}

static void __exit topoopt_exit(void)
{
	topoopt_drops_exit();
	rtnl_link_unregister(&topoopt_device_link_ops);
	topoopt_netlink_exit();
	unregister_netdevice_notifier(&topoopt_port_notifier);
	unregister_pernet_subsys(&topoopt_device_net_ops);
}

module_init(topoopt_init);
module_exit(topoopt_exit);

MODULE_DESCRIPTION("Relay between the NICs of servers wired directly to each other");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK("topoopt");
