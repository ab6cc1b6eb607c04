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

# The module and BPF programs, in the kernel's style.
lint_checkpatch() {
	local ignore=(
		VOLATILE		# how BPF programs declare what the loader sets
		OPEN_ENDED_LINE		# TRACE_EVENT() is laid out that way
		PARENTHESIS_ALIGNMENT	# the same
		UNCOMMENTED_DEFINITION	# kernel-doc above the struct says what a lock is for
	)

	perl "$source/scripts/checkpatch.pl" --no-tree --strict --terse --show-types -q \
		--no-summary --max-line-length=100 --ignore "$(IFS=,; echo "${ignore[*]}")" -f \
		kmod/*.[ch] kmod/compat/*.h bpf/*.[ch]
}

# The compiler's warnings and sparse's.
lint_sparse() {
	"$here/lab/kmod.sh" 6.12 W=1 C=2 CF=-Wsparse-error KCFLAGS=-Werror
}

lint_cppcheck() {
	cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability \
		--std=c11 --inline-suppr --suppressions-list=tools/cppcheck.supp \
		--library=tools/cppcheck.cfg -D_GNU_SOURCE \
		-j "$(nproc)" -Itools/lib -Iuapi tools/lib tools/toctl
}

# Every shell script that git would keep.
lint_shellcheck() {
	grep -rlE --exclude-dir={.git,build} '^#! ?/bin/(ba)?sh' . | xargs shellcheck -x
}

lint_yamllint() {
	yamllint --strict -c Documentation/netlink/yamllint.yaml Documentation/netlink/specs
}

all=(shellcheck yamllint checkpatch cppcheck sparse)
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
