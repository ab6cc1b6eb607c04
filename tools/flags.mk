# SPDX-License-Identifier: GPL-2.0-or-later
# How everything that uses libtopoopt is compiled; for tools and selftests.
# SANITIZE=1 builds with ASan and UBSan, SANITIZE=fuzz with those and for
# libFuzzer, each into its own directory; V=1 shows the commands.

TOP := $(patsubst %/tools/flags.mk,%,$(abspath $(lastword $(MAKEFILE_LIST))))
BUILD ?= $(TOP)/build
BPF := $(BUILD)/bpf
PKGS := jansson libmnl libbpf libprotobuf-c inih zlib
LAZY_PKGS := libcurl libmicrohttpd
PKG_CONFIG ?= pkg-config
Q := $(if $(V),,@)
say = @printf '  %-5s %s\n' $(1) $(2:$(BUILD)/%=%)

CFLAGS ?= -O2 -g
ifeq ($(SANITIZE),1)
OUT := $(BUILD)/sanitize
CFLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else ifeq ($(SANITIZE),fuzz)
OUT := $(BUILD)/fuzz
CC := clang
CFLAGS := -O1 -g -w -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
else
OUT := $(BUILD)
endif

TO_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -D_GNU_SOURCE -MMD -MP \
	-I$(TOP)/tools/lib -Wa,-I$(TOP)/tools/lib -I$(TOP)/uapi -I$(BPF) -I$(OUT)/proto \
	$(shell $(PKG_CONFIG) --cflags $(PKGS) $(LAZY_PKGS))
TO_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS)) -lresolv -lm
