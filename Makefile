# SPDX-License-Identifier: GPL-2.0-or-later
# topoopt_fwd: the kernel module, the BPF programs, toctl and tosim. Everything that
# is built goes to build/. `make help` lists the targets.

export BUILD := $(abspath build)
PREFIX ?= /usr/local
LAB := selftests/lab
SUB := @$(MAKE) --no-print-directory --silent

# Kernel headers: those of the running kernel, which get installed, else the newest.
running = $(shell ls -d /lib/modules/$$(uname -r)/build 2>/dev/null)
newest = $(lastword $(shell ls -d /lib/modules/*/build 2>/dev/null | sort -V))
KDIR ?= $(eval KDIR := $(or $(running),$(shell $(LAB)/deps.sh headers)$(running),$(newest)))$(KDIR)
RELEASE ?= $(shell sed -n 's/.*"\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
tree = $(BUILD)/kmod-$(RELEASE)

all: kmod tools  ## module, toctl and tosim

kmod: shadow  ## the module, for the kernel headers in KDIR (default: the running kernel's)
	$(MAKE) -C $(KDIR) M=$(tree) modules

# kbuild writes beside the sources, so it gets a tree of links to them.
shadow:
	@mkdir -p $(tree)
	@find $(tree) -xtype l -delete
	@find kmod uapi -type d -exec mkdir -p $(tree)/{} \;
	@find Kbuild kmod uapi -type f -exec ln -srf {} $(tree)/{} \;
	@mkdir -p $(tree)/test/nic
	@ln -srf selftests/module/nic/* $(tree)/test/nic
	@ln -srf selftests/module/Kbuild selftests/module/*.[ch] kmod/*.[ch] kmod/compat uapi $(tree)/test

tools: bpf  ## toctl and tosim, their library, manual pages and completion
	$(SUB) -C tools

bpf:  ## BPF objects
	@$(LAB)/deps.sh build
	$(SUB) -C bpf

unit: tools  ## unit tests, and the programs that other tests run
	$(SUB) -C selftests

# What runs in guests: the module for KERNEL, or for all guest kernels.
guest: unit
	@$(LAB)/deps.sh lab
	@$(LAB)/kmod.sh $(KERNEL)

# All that the tests need.
prepare: guest
	@$(LAB)/deps.sh browser etcd ns3 shells simgrid
	@$(LAB)/prometheus.sh
	@Documentation/netlink/ynl.sh $(BUILD)/ynl >/dev/null

check: prepare  ## all tests; KERNEL=6.1|6.12|7.2|6.12-arm64, TEST=name
	@selftests/run.sh $(KERNEL:%=-k %) $(TEST:%=-t %)

check-sanitize:  ## unit tests with ASan and UBSan; TEST=name
	@$(MAKE) --no-print-directory unit SANITIZE=1
	@selftests/run.sh -s $(TEST:%=-t %)

check-valgrind: unit  ## unit tests in C under valgrind; TEST=name
	@$(LAB)/deps.sh valgrind
	@selftests/run.sh -v $(TEST:%=-t %)

fuzz: bpf  ## libFuzzer on file formats and on what the kernel, agents and etcd say; RUNS=100000
	@$(LAB)/deps.sh fuzz
	@$(MAKE) --no-print-directory -C selftests fuzz SANITIZE=fuzz
	@selftests/fuzz/fuzz.sh $(RUNS)

check-debug: KERNEL = 6.12-kasan
check-debug: prepare  ## kernel tests under KASAN, lockdep and kmemleak; TEST=
	@selftests/run.sh -k $(KERNEL) $(TEST:%=-t %)

chaos: KERNEL = 6.12
chaos: guest  ## twelve servers under faults; KERNEL=, SECONDS=, SEED=
	@TEST_CHAOS=$(SECONDS) TEST_SEED=$(SEED) selftests/run.sh -k $(KERNEL) -t chaos

demo: KERNEL = 7.2
demo: guest  ## twelve servers without a switch become one fabric
	@selftests/demo/demo.sh

bench: guest  ## measurements; KERNEL=
	@selftests/bench/bench.sh $(KERNEL)

bench-plan: tools  ## how good plans are and what they cost; ONLY="plans matching"
	@$(LAB)/deps.sh bench
	$(SUB) -C selftests bench-plan
	@selftests/bench/bench-plan.py $(ONLY)

bench-replan: unit  ## how fast a new plan follows measured traffic, and what it gains
	@build/bench/replan build/bench/replan.json

bench-loop: unit  ## what the closed loop loses to one who knows the future; SEED=
	@build/bench/loop build/bench/loop.json $(or $(SEED),1)

bench-simulate: tools  ## what simulated iterations take, flows beside SimGrid, packets beside csg-htsim; HTSIM=
	@$(LAB)/deps.sh simgrid
	@selftests/bench/simulate.py

bench-merge: unit  ## what an interval of toctl run takes before it decides, 128 and 1024 servers
	@build/bench/tm_live 128 1024

bench-relay: KERNEL = 6.12
bench-relay: guest  ## what relaying a packet costs, by driver, beside every alternative; KERNEL=
	@selftests/bench/relay.sh -k $(KERNEL)

bench-fabric: unit  ## a plan on 1024 servers through etcd
	@$(LAB)/deps.sh etcd
	@selftests/bench/fabric.sh

bench-lockout: unit  ## strangers at etcd's leases: operations refused; SECONDS=
	@selftests/bench/lockout.py $(or $(SECONDS),600)

bench-change: KERNEL = 7.2
bench-change: guest  ## what a change of plan takes of each server's processor; KERNEL=
	@selftests/bench/change.sh -k $(KERNEL)

bench-collective: KERNEL = 7.2
bench-collective: guest  ## BML, parameter servers and rings side by side; KERNEL=
	@selftests/bench/collective.sh -k $(KERNEL)

bench-nic: KERNEL = 7.2
bench-nic: guest  ## QEMU's NICs beside the test NIC, and relaying at XDP; KERNEL=
	@selftests/bench/nic.sh -k $(KERNEL)
	@selftests/bench/nic_relay.sh -k $(KERNEL)

bench-packets: KERNEL = 7.2
bench-packets: guest  ## an iteration over TCP and UDP in the lab beside the same one simulated; KERNEL=
	@selftests/bench/packets.sh -k $(KERNEL)

bench-recovery: KERNEL = 6.12
bench-recovery: guest  ## what a cut link costs UDP and TCP between all; KERNEL=
	@selftests/bench/recovery.sh -k $(KERNEL)

bench-throughput: KERNEL = 7.2
bench-throughput: guest  ## goodput, latency and RDMA over relays; KERNEL=
	@selftests/bench/throughput.sh -k $(KERNEL)

reproduce: tools  ## papers' figures beside ours; FIG=11 to 16 (of TopoOpt) or PAPER=themis, bml, sip
	@examples/papers/reproduce.py $(FIG:%=fig%) $(PAPER)

bench-jobs: KERNEL = 7.2
bench-jobs: guest  ## stock clients on a fabric, results checked; KERNEL=, PART=mpi
	@selftests/bench/jobs.sh -k $(KERNEL) $(PART)

lab: KERNEL ?= 7.2
lab: guest  ## a shell in a running fabric; KERNEL=7.2, SERVERS=12 or PLAN=file
	@$(LAB)/shell.sh -k $(KERNEL) $(SERVERS:%=-n %) $(PLAN)

install: kmod tools  ## into PREFIX (/usr/local) and the kernel's updates/, below DESTDIR
	$(SUB) -C tools install DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)
	install -D -m 644 $(tree)/topoopt_fwd.ko \
		$(DESTDIR)/lib/modules/$(RELEASE)/updates/topoopt_fwd.ko
	$(if $(DESTDIR),,depmod $(RELEASE))

uninstall:  ## what install put there
	@rm -rf $(BUILD)/installed
	@$(SUB) install DESTDIR=$(BUILD)/installed >/dev/null
	@cd $(BUILD)/installed && find . -type f -printf '$(DESTDIR)/%P\0' | xargs -0 rm -fv
	$(if $(DESTDIR),,depmod $(RELEASE))

lint:  ## static checks; CHECK=
	@$(LAB)/deps.sh lab lint
	@selftests/lint.sh $(CHECK)

intree:  ## the module laid out and built as drivers/net/topoopt of the kernel's tree; KERNEL=
	@$(LAB)/deps.sh lab lint
	@$(LAB)/intree.sh $(KERNEL)

docs: tools  ## documentation as HTML, in build/docs/html
	@$(LAB)/deps.sh docs
	@Documentation/docs.sh $(BUILD)

# Debian wants its files on top, so the packages are made in a tree of their own.
cross = $(filter arm64,$(ARCH))
debs = $(BUILD)/deb$(cross:%=-%)
source = $(debs)/source
deb:  ## Debian packages topoopt-fwd-dkms, toctl and tosim, in build/deb; ARCH=arm64
	@$(LAB)/deps.sh build deb
	@rm -rf $(debs)
	@mkdir -p $(source)/selftests/unit
	@cp -r README.md Documentation Kbuild bpf examples kmod tools uapi $(source)
	@cp -r selftests/unit/formats $(source)/selftests/unit
	@ln -s tools/debian $(source)/debian
	cd $(source) && env -u BUILD -u MAKEFLAGS $(cross:%=$(abspath $(LAB))/cross.sh) \
		dpkg-buildpackage -us -uc -b $(cross:%=-a%)
	lintian --fail-on error,warning,info --info $(debs)/*.changes

check-deb: deb  ## install, use, upgrade and purge them on Debian 12 and 13; SUITE=
	@$(LAB)/deps.sh lab
	@selftests/deb/check.sh $(SUITE)

check-bare:  ## every target and README's commands, each on a Debian that has nothing; ONLY="deb docs"
	@$(LAB)/deps.sh lab
	@selftests/deb/bare.sh $(ONLY)

clean:  ## remove build/
	rm -rf $(BUILD)

help:  ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 13

.PHONY: all kmod shadow tools bpf unit guest intree prepare check check-debug chaos check-sanitize check-valgrind fuzz demo bench bench-plan bench-replan bench-loop bench-simulate bench-merge bench-relay bench-change bench-collective bench-packets bench-recovery bench-throughput bench-fabric bench-lockout bench-jobs lab install uninstall lint docs deb check-deb check-bare clean help
