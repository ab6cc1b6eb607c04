#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run by check.sh, "install" in the root of a machine and "boot" by the machine
# until it powers off; prints TAP to /out/tap, with one count.

exec >>/out/tap 2>>/out/log
. "$(dirname "$(realpath "$0")")/../lib.sh"
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
export DEBIAN_KERNEL_USE_CCACHE=1 CCACHE_DIR=/var/cache/ccache
on() { ip netns exec "$@"; }
plan=/src/examples/chain-3/plan.json
packages=(toctl tosim topoopt-fwd-dkms)
kernel=$(ls /lib/modules)

installed() { # DIRECTORY: what is built for this kernel is what its packages have
	dkms status | grep -q "^topoopt-fwd/$(deb_version "$1"), $kernel, .*: installed"
}

deb_version() { # DIRECTORY
	dpkg-deb -f "$1"/toctl_*.deb Version
}

install_from() { # DIRECTORY
	apt-get -y --no-install-recommends install "$1"/{topoopt-fwd-dkms,toctl,tosim}_*.deb
}

# The neighbours, each in a namespace of its own; the last argument is the port
# that the fabric does not need.
peer() { # SERVER INTERFACE PORT SPARE
	must ip netns add "$1"
	must ip link set "$2" netns "$1" name "$3"
	must ip -n "$1" link set lo up
	must ip -n "$1" link add "$4" address "$(port_mac "$1" "$4")" type dummy
	must on "$1" toctl apply "$plan" --node "$1"
}

serves() { # METRIC
	exec 3<>/dev/tcp/127.0.0.1/10116
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3
	grep -q "^$1{" <&3
}
generation() {
	toctl --json show | jq .generation
}
relays() { # skb, or xdp in whatever mode the driver has
	toctl --json show | jq -r '[.ports[].xdp.program | sub("-generic$"; "")] | unique | join(" ")'
}

files() {
	find / -xdev | sort
}

# Emulated processors would compile for 20 minutes at the upgrade: DKMS builds it
# then, but ccache remembers what the compiler made of it here.
compile_next() {
	local module

	module=topoopt-fwd/$(deb_version /src/build/deb-next)
	dpkg-deb -x /src/build/deb-next/topoopt-fwd-dkms_*.deb / &&
		dkms build "$module" -k "$kernel" && dkms remove "$module" --all &&
		rm -r "/usr/src/${module/\//-}"
}

install() {
	files >/out/files
	check "install" install_from /src/build/deb || cat /var/lib/dkms/topoopt-fwd/*/build/make.log >&2
	check "DKMS builds it for $kernel" installed /src/build/deb
	check "toctl is that version" grep -qF "toctl $(deb_version /src/build/deb) " <(toctl version)
	check "tosim is that version" grep -qF "tosim $(deb_version /src/build/deb) " <(tosim version)
	check "tosim simulates a plan" tosim simulate "$plan"
	check "manual pages" ls /usr/share/man/man8/{toctl,tosim,toctl-plan,tosim-simulate}.8.gz \
		/usr/share/man/man5/{plan,sweep}.json.5.gz /usr/share/man/man4/topoopt_fwd.4.gz
	mkdir /etc/topoopt/job
	cp "$plan" /etc/topoopt/job/
	check "the units have no mistakes" systemd-analyze verify --man=no \
		topoopt@job.service topoopt-run@job.service topoopt-agent.service topoopt-export.service
	check "and confine what they start" systemd-analyze security --offline=true --threshold=40 \
		topoopt@job.service topoopt-run@job.service topoopt-agent.service topoopt-export.service
	check "enable" systemctl enable topoopt@job
	check "DKMS builds the next version" compile_next
	echo "$tap_count" >/out/count
}

# Pings from s0 to s2 before, while and after something happens.
forwards_during() { # NAME COMMAND...
	local name=$1 pinging

	shift
	ip netns exec s0 ping -i 0.05 "$(node s2)" >"$tmp/pings" &
	pinging=$!
	check "$name: s0 reaches s2 before" wait_for 20 replies_after 0
	check "$name" "$@"
	check "$name: and after" wait_for 20 replies_after "$(last_reply)"
	kill -INT "$pinging"
	wait "$pinging"
	is "$name: s1 relays all the time" "$(replies | wc -l)" "$(last_reply)"
}

# By the account, as nobody says where home is when a unit runs this.
ssh_dir=~root/.ssh

scan_keys() {
	ssh-keyscan 127.0.0.1 >"$ssh_dir/known_hosts" && test -s "$ssh_dir/known_hosts"
}

# Let ssh lead from here to the servers, which are this machine: by a key each.
reach_servers() {
	local server inside

	mkdir -p "$ssh_dir"
	chmod 700 "$ssh_dir"
	for server in s0 s1 s2; do
		inside="ip netns exec $server "
		[[ $server != s1 ]] || inside=
		ssh-keygen -q -t ed25519 -N '' -f "$ssh_dir/$server" &&
			printf 'command="%ssh -c \\"$SSH_ORIGINAL_COMMAND\\"" %s\n' "$inside" \
				"$(<"$ssh_dir/$server.pub")" >>"$ssh_dir/authorized_keys" &&
			printf 'Host %s\n\tHostName 127.0.0.1\n\tIdentityFile ~/.ssh/%s\n' \
				"$server" "$server" >>"$ssh_dir/config" || return
	done
	wait_for 60 scan_keys
}

journal() { # UNIT REGEX
	journalctl -o cat -u "$1" | grep -qE "$2"
}

restarted() { # UNIT TIMES
	(($(systemctl show --property NRestarts --value "$1") >= $2))
}

replies() { # sequence numbers
	sed -n 's/.* bytes from .* icmp_seq=\([0-9]*\) .*/\1/p' "$tmp/pings"
}

last_reply() {
	replies | tail -n 1
}

replies_after() { # SEQUENCE-NUMBER
	(($(last_reply) > $1 + 10))
}

boot() {
	local unit

	read -r tap_count </out/count
	lib_read_plan
	# However it ends.
	at_exit "systemctl poweroff"
	check "a boot applies the plan" wait_for 60 systemctl is-active topoopt@job
	is "as one commit" "$(generation)" 1
	check "with the module that DKMS put there" grep -q /updates/dkms/ <(modinfo -n topoopt_fwd)
	peer s0 eth2 eth0 eth1
	peer s2 eth3 eth1 eth0

	check "the exporter serves" systemctl start topoopt-export
	check "what the kernel counts" wait_for 20 serves topoopt_device_generation
	check_fails "no agent starts without fabric.conf" . systemctl start topoopt-agent
	printf '[etcd]\nendpoints = http://127.0.0.1:1\n' >/etc/topoopt/fabric.conf
	must systemctl start topoopt-agent
	check "an agent tries for as long as etcd is away" wait_for 240 restarted topoopt-agent 7
	systemctl stop topoopt-agent
	rm /etc/topoopt/fabric.conf
	# on a busy host it fails too slowly to meet the limit of starts
	for unit in topoopt@job topoopt-run@job topoopt-agent topoopt-export; do
		is "$unit: tried without end" \
			"$(systemctl show --property StartLimitIntervalUSec --value "$unit")" 0
	done
	forwards_during "upgrade" install_from /src/build/deb-next
	ccache --show-stats >&2
	check "upgrade: DKMS builds the new one" installed /src/build/deb-next
	is "upgrade: and drops the old" "$(dkms status | grep -c topoopt)" 1
	is "upgrade: toctl is new" "$(dpkg-query -W -f '${Version}' toctl)" \
		"$(deb_version /src/build/deb-next)"
	is "upgrade: the table is the same" "$(generation)" 1

	jq '.tables[1].groups[0][0].weight = 2' "$plan" >/etc/topoopt/job/plan.json
	forwards_during "reload" systemctl reload topoopt@job
	is "reload: one more commit" "$(generation)" 2

	# 6.1 has no relay at XDP; there the plan is applied without
	[[ $kernel == 6.1.* ]] && relay=skb || relay=xdp
	echo "OPTIONS=--xdp on" >/etc/topoopt/job/environment
	check "reload: with OPTIONS" systemctl reload topoopt@job
	is "OPTIONS: all ports relay at $relay" "$(relays)" "$relay"
	is "OPTIONS: no other commit" "$(generation)" 2

	echo "{" >/etc/topoopt/job/plan.json
	check_fails "a damaged plan is refused" . systemctl reload topoopt@job
	is "and changes nothing" "$(generation)" 2
	check "the journal has the reason" grep -q 'plan.json' <(journalctl -u topoopt@job -n 20)

	cp "$plan" /etc/topoopt/job/plan.json
	echo "OPTIONS=--interval 1s" >/etc/topoopt/job/controller
	printf '[agents]\ntimeout = 60s\n' >/etc/topoopt/fabric.conf
	mkdir -p /var/lib/topoopt/job
	: >/var/lib/topoopt/job/plan.json
	must reach_servers
	must systemctl start topoopt-run@job
	check "a controller begins with the job's plan where a full disk left none" \
		wait_for 60 journal topoopt-run@job 'plan.json.damaged: beginning with /etc/topoopt/job/plan.json'
	check "it brings the servers to the plan through ssh" \
		wait_for 240 journal topoopt-run@job ': (brought to the plan|everything is as planned)$'
	check "and measures them" wait_for 240 journal topoopt-run@job 'traffic data from all servers'
	check "it ends well" systemctl stop topoopt-run@job
	check "with the fabric as planned" journal topoopt-run@job 'end after [0-9]+ intervals and 0 changes$'

	on s0 toctl clear >&2
	on s2 toctl clear >&2
	ip netns del s0
	ip netns del s2
	cp "$plan" /etc/topoopt/job/plan.json
	must systemctl stop topoopt@job
	must rmmod topoopt_fwd
	check "modprobe takes the new module" modprobe topoopt_fwd
	check "the plan is applied again" systemctl start topoopt@job
	is "from the beginning" "$(generation)" 1

	# as it is where a controller runs
	systemctl enable topoopt-run@job
	mkdir -p /var/lib/topoopt/job
	check "purge" apt-get -y purge "${packages[@]}"
	check "purge: unloads the module" test ! -e /sys/module/topoopt_fwd
	is "purge: leaves no route, rule or device" "$(ip route show table all proto 116
		ip rule show | grep 116
		ip -o link show type dummy)" ""
	is "purge: leaves no file" \
		"$(comm -13 /out/files <(files) | grep -iE 'topoopt|toctl|tosim')" ""
	done_testing
}

"$1"
