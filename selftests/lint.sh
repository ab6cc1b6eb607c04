#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Static checks; any finding fails. What a check must not look for is said here
# or in its configuration file, with the reason.
#
#	lint.sh [CHECK...]	default: all of them
#
# Needs the packages of `deps.sh lab lint`.

set -uo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lab/common.sh"
cd "$lab_src" || exit

checkpatch() { # IGNORED-TYPES FILE...
	perl "$source/scripts/checkpatch.pl" --no-tree --strict --terse --show-types -q \
		--no-summary --max-line-length=100 --ignore "${1// /,}" -f "${@:2}"
}

# The module and BPF programs, in the kernel's style.
lint_checkpatch() {
	local ignore=(
		VOLATILE		# how BPF programs declare what the loader sets
		OPEN_ENDED_LINE		# TRACE_EVENT() is laid out that way
		PARENTHESIS_ALIGNMENT	# the same
		UNCOMMENTED_DEFINITION	# kernel-doc above the struct says what a lock is for
	)
	# what newer kernels define, as they do
	local compat=(COMPLEX_MACRO MACRO_ARG_REUSE MACRO_ARG_UNUSED MULTISTATEMENT_MACRO_USE_DO_WHILE TRAILING_SEMICOLON)

	checkpatch "${ignore[*]}" kmod/*.[ch] bpf/*.[ch] selftests/module/nic/*.[ch] || return
	checkpatch "${ignore[*]} ${compat[*]}" kmod/compat/*.h
}

# The compiler's warnings and sparse's.
lint_sparse() {
	"$here/lab/kmod.sh" 6.12 W=1 C=2 CF=-Wsparse-error KCFLAGS=-Werror
}

lint_cppcheck() {
	cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability \
		--std=c11 --inline-suppr --suppressions-list=tools/cppcheck.supp \
		--library=tools/cppcheck.cfg -D_GNU_SOURCE \
		-j "$(nproc)" -Itools/lib -Itools/toctl -Itools/tosim -Iuapi tools/lib tools/toctl tools/tosim
}

# tools/.clang-tidy says what for.
lint_clang_tidy() {
	local -a flags

	make --no-print-directory tools || return
	read -rd '' -a flags < <(pkg-config --cflags jansson libmnl libbpf libprotobuf-c inih \
		libcurl libmicrohttpd) || :
	clang-tidy --quiet tools/lib/*/*.c tools/to*/*.c tools/to*/cmd/*.c -- -std=gnu11 -D_GNU_SOURCE \
		'-DTO_VERSION="0"' -Itools/lib -Itools/toctl -Itools/tosim -Iuapi -Ibuild/bpf -Ibuild/proto "${flags[@]}"
}

# Which room of tools/lib may use which, which file of the module, and circles of files.
lint_rooms() {
	make --no-print-directory tools && "$here/lab/kmod.sh" 6.12 &&
		"$here/rooms.py" build/tools build/kmod-6.12*-amd64/kmod
}

# Header comments: what is new says by itself what a thing is.
lint_words() {
	"$here/words.py"
}

# The kernel's semantic patches.
lint_coccinelle() {
	local skip=(
		struct_size	# takes an array of its own for one at the structure's end
	)
	local patch name output status=0

	for patch in "$source"/scripts/coccinelle/*/*.cocci; do
		name=$(basename "$patch" .cocci)
		[[ " ${skip[*]} " != *" $name "* ]] || continue
		grep -q '^virtual report' "$patch" || continue
		# a Python of the user's own may take long to start
		output=$(PATH=/usr/bin:/bin spatch --very-quiet -D report --no-includes \
			--include-headers --cocci-file "$patch" kmod/*.[ch] bpf/*.c 2>&1 |
			grep -vE '^(HANDLING|Note|No OCaml compiler|warning: line|$)')
		[[ -z $output ]] || { printf '%s: %s\n' "$name" "$output"; status=1; }
	done
	return "$status"
}

# The module as drivers/net/topoopt of the newest guest kernel.
lint_intree() {
	"$here/lab/intree.sh"
}

# Every shell script that git would keep.
lint_shellcheck() {
	grep -rlE --exclude-dir={.git,build} '^#! ?/bin/(ba)?sh' . | xargs shellcheck -x
}

lint_yamllint() {
	yamllint --strict -c Documentation/netlink/yamllint.yaml Documentation/netlink/specs
}

all=(shellcheck yamllint words rooms checkpatch cppcheck clang_tidy coccinelle sparse intree)
(($#)) || set -- "${all[@]}"
source=$("$here/lab/source.sh") || exit
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
for check; do
	[[ " ${all[*]} " == *" $check "* ]] || lab_die "no check '$check': one of ${all[*]}"
	start=$SECONDS
	if "lint_$check" >"$log" 2>&1; then
		echo "  ok   $check ($((SECONDS - start)) s)"
	else
		echo " FAIL  $check"
		sed 's/^/        /' "$log"
		failed=1
	fi
done
exit "$failed"
