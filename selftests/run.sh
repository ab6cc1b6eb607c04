#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Run what has been built: unit tests here, kernel selftests in guests, and
# print one line per test; the last line is "N passed, N failed".
#
#	run.sh [-k KERNEL] [-t NAME]
#	run.sh -s|-v [-t NAME]
#
#	-k  one guest kernel only: 6.1, 6.12 or 7.2, 6.12-arm64 (lab/arm64.sh), or a
#	    debug kernel (lab/debug.sh), which gets the kernel tests of its version and
#	    after each of them a look for leaks; the last two have more time
#	-t  one test only: unit/test_NAME.c, kernel/NAME.sh or three/NAME.sh
#	-s  unit tests only, those of make unit SANITIZE=1; no sanitizer may report
#	-v  unit tests in C only, under valgrind
#
#	unit/	one program each, prints TAP
#	kernel/	one script each, run as root in a guest, prints TAP (lib.sh)
#	three/	one script each, run in three guests in a row with the argument A,
#		B or C; A's TAP counts
#
# A script may say in its head "# Kernels: 6.1 6.12" (default: all and 6.12-arm64),
# "# Timeout: 600" (seconds, default 300), "# Processors: 2" and "# Runs: when named".
#
# All kernel tests of a kernel share a guest; when a test takes it down the
# rest goes on in a new one. Where processors race, a test asks for two and gets
# them on 6.12, and all tests on 6.12-kcsan; emulation runs one in half the time.

set -uo pipefail
here=$(dirname "$(realpath "$0")")
. "$here/lab/common.sh"
build=$lab_src/build

header() { # FILE KEY DEFAULT
	local value

	value=$(sed -n "1,/^[^#]/s/^# $2: *//p" "$1")
	echo "${value:-$3}"
}

# Seconds that a test may take. TEST_TIMEOUT is for tests that were told to do
# more than usual, TEST_SLOWER for kernels that take their time.
time_for() { # FILE
	echo $((${TEST_TIMEOUT:-$(header "$1" Timeout 300)} * ${TEST_SLOWER:-1}))
}

# --- inside a guest -------------------------------------------------------

# Without the module, nothing that it allocated may be left. An object counts
# when two scans find it unchanged and it is older than 5 s.
leaks() {
	local found=/sys/kernel/debug/kmemleak

	modprobe -r topoopt_fwd || echo "not ok - the module can be unloaded"
	[[ -w $found ]] || return 0
	sleep 5
	echo scan >"$found"
	echo scan >"$found"
	if grep -q . "$found"; then
		echo "not ok - nothing leaks"
		head -n 60 "$found" | sed 's/^/# /'
		echo clear >"$found"
	fi
}

guest_tests() { # NAME...
	local name file start status

	for name; do
		file=$here/kernel/$name.sh
		start=$SECONDS
		dmesg --clear
		echo "#@ begin $name"
		timeout -k 10 "$(time_for "$file")" bash "$file" 2>&1
		status=$?
		"$here/lab/fabric.sh" down
		[[ -z ${TEST_LEAKS:-} ]] || leaks
		if dmesg | grep -qE "$lab_complaint"; then
			echo "not ok - the kernel complains"
			dmesg | grep -E -m 1 -A 40 "$lab_complaint" | sed 's/^/# /'
		fi
		echo "#@ end $name $status $((SECONDS - start))"
	done
}

if [[ ${1:-} == --guest ]]; then
	shift
	guest_tests "$@"
	exit 0
fi

# --- on the host ----------------------------------------------------------

only_kernel='' only_test='' units_only='' debugger=()
while getopts k:t:sv option; do
	case $option in
	k) only_kernel=$OPTARG; lab_check_kernel "$OPTARG" ;;
	t) only_test=$OPTARG ;;
	s)
		units_only=1 TEST_SLOWER=4 build+=/sanitize
		export BUILD=$build TOCTL=$build/toctl TOSIM=$build/tosim
		;;
	v)
		units_only=1 TEST_SLOWER=10
		debugger=(valgrind --quiet --leak-check=full --error-exitcode=99)
		;;
	*) exit 2 ;;
	esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# No test depends on the user's own fabric.conf.
unset TOPOOPT_FABRIC
install -m 644 /dev/null "$work/fabric.conf"
trap 'exit 130' INT TERM

# Of "time": for took.
time_format='10#%2U+10#%2S %0R'

result() { # pass|fail|skip WHERE TEST NAME
	local -A word=([pass]="  ok  " [fail]=" FAIL " [skip]=" skip ")

	echo "$1" >>"$work/results"
	echo "${word[$1]} $2 $3: $4"
	[[ $1 != fail ]] || echo "${word[$1]} $2 $3: $4" >>"$work/failures-$2"
}

# What there is to say of a failure, now and after all tests.
details() { # WHERE <TEXT
	sed -E 's/^(# )?/        /' | tee -a "$work/failures-$1"
}

# Read one test's TAP, and count and print it.
tap() { # WHERE TEST STATUS <TAP
	local line plan='' seen=0 failed=0 said=()

	while IFS= read -r line; do
		case $line in
		"not ok"*)
			((++seen, ++failed))
			result fail "$1" "$2" "${line#not ok*- }"
			;;
		ok*"# SKIP"* | ok*"# skip"*)
			((++seen))
			result skip "$1" "$2" "${line#ok*- }"
			;;
		ok*)
			((++seen))
			result pass "$1" "$2" "${line#ok*- }"
			;;
		1..0*SKIP*)
			result skip "$1" "$2" "${line#*SKIP }"
			return
			;;
		1..*) plan=${line#1..} ;;
		*)
			said+=("$line")
			((!failed)) || details "$1" <<<"$line"
			;;
		esac
	done
	if [[ $3 == 124 || $3 == 137 ]]; then
		result fail "$1" "$2" "ran out of time"
	elif ((!failed && $3)); then
		result fail "$1" "$2" "ended with status $3"
		printf '%s\n' "${said[@]}" | tail -n 60 | details "$1"
	elif ((!failed)) && [[ $plan != "$seen" ]]; then
		result fail "$1" "$2" "ran $seen of ${plan:-an unknown number of} tests"
	fi
}

# What a test took, for the list at the end.
took() { # HUNDREDTHS-OF-CPU-SECONDS SECONDS WHERE TEST
	printf '%7d %7d  %s %s\n' "$((($1 + 50) / 100))" "${@:2}" >>"$work/times"
}

# Hundredths of CPU seconds of a guest's emulator so far, as long as it is there.
guest_cpu() { # KERNEL
	local console=$work/console-$1

	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$(<"$console/console.pid")/stat" 2>/dev/null
}

unit_tests() {
	local program name output status report cpu seconds TIMEFORMAT=$time_format

	for program in "$build"/unit/test_*; do
		name=${program##*/test_}
		[[ -x $program && ! -d $program && ${only_test:-$name} == "$name" ]] || continue
		[[ -z ${debugger[*]} || -e $here/unit/test_$name.c ]] || continue
		output=$work/unit-$name
		{ time (cd "$lab_src" && CMOCKA_MESSAGE_OUTPUT=TAP TOPOOPT_FABRIC=$work/fabric.conf \
			timeout "$(time_for "$here/unit/test_$name".*)" "${debugger[@]}" "$program" \
			>"$output" 2>&1 </dev/null); } 2>"$work/time"
		status=$?
		read -r cpu seconds < <(tail -n 1 "$work/time")
		took "$((${cpu//./}))" "$seconds" unit "$name"
		tap unit "$name" "$status" <"$output"
		# a test that expects a failure takes a report for one
		report=$(cat "$work"/report.* 2>/dev/null)
		if [[ -n $report ]]; then
			result fail unit "$name" "a report"
			details unit <<<"$report"
		fi
		rm -f "$work"/report.*
	done
}

# Processors of the guest that a test runs in.
processors() { # FILE KERNEL
	[[ $2 != *-kcsan ]] || { echo 2; return; }
	[[ $2 == 6.12 || $2 == *-kasan ]] && header "$1" Processors 1 || echo 1
}

# Names of the scripts of a directory that are to run on a kernel, those alone
# that want so many processors if that is said.
scripts() { # DIRECTORY KERNEL [PROCESSORS]
	local file name kernels

	for file in "$here/$1"/*.sh; do
		name=$(basename "$file" .sh)
		[[ -e $file && ${only_test:-$name} == "$name" ]] || continue
		kernels=" $(header "$file" Kernels "${lab_kernels[*]} 6.12-arm64") "
		[[ $kernels == *" $2 "* || $kernels == *" ${2%-k?san} "* ]] || continue
		[[ $only_test || $(header "$file" Runs always) == always ]] || continue
		[[ -z ${3:-} || $(processors "$file" "$2") == "$3" ]] || continue
		echo "$name"
	done
}

# One guest for as many of the tests as it survives; what it left undone is
# in $work/left-KERNEL afterwards.
one_guest() { # KERNEL PROCESSORS NAME...
	local kernel=$1 cpus=$2 line name='' status before='' now limit=300 console=$work/console-$1

	shift 2
	printf '%s\n' "$@" >"$work/left-$kernel"
	for name; do
		((limit += $(time_for "$here/kernel/$name.sh") + 15))
	done
	name=''
	while IFS= read -r line; do
		case $line in
		"#@ begin "*)
			name=${line#\#@ begin }
			sed -i "/^$name\$/d" "$work/left-$kernel"
			: >"$work/tap-$kernel"
			before=${before:-$(guest_cpu "$kernel")}
			;;
		"#@ end "*)
			now=$(guest_cpu "$kernel" || echo "$before")
			took "$((now - before))" "${line##* }" "$kernel" "$name"
			before=$now
			status=${line% *}
			tap "$kernel" "$name" "${status##* }" <"$work/tap-$kernel"
			name=''
			;;
		*) echo "$line" >>"$work/tap-$kernel" ;;
		esac
	done < <("$here/lab/guest" -k "$kernel" -c "$cpus" -t "$limit" -m 2048 -w -o "$console" -- \
		/src/selftests/run.sh --guest "$@" 2>"$work/guest-$kernel")
	[[ -n $name ]] || return 0
	echo "not ok - the guest survives" >>"$work/tap-$kernel"
	cat "$work/guest-$kernel" >>"$work/tap-$kernel"
	tap "$kernel" "$name" 1 <"$work/tap-$kernel"
}

kernel_tests() { # KERNEL
	local kernel=$1 name before cpus cpu seconds TIMEFORMAT=$time_format
	local -a left three

	for cpus in 1 2; do
		before=-1
		mapfile -t left < <(scripts kernel "$kernel" "$cpus")
		while ((${#left[@]} && ${#left[@]} != before)); do
			before=${#left[@]}
			one_guest "$kernel" "$cpus" "${left[@]}"
			mapfile -t left <"$work/left-$kernel"
		done
		if ((${#left[@]})); then
			result fail "$kernel" guest "does not run tests"
			details "$kernel" <"$work/guest-$kernel"
		fi
	done
	mapfile -t three < <(scripts three "$kernel")
	for name in "${three[@]}"; do
		{ time "$here/lab/guests3" -k "$kernel" -t "$(time_for "$here/three/$name.sh")" -- \
			bash "/src/selftests/three/$name.sh" >"$work/tap-$kernel" 2>&1; } 2>"$work/time-$kernel"
		tap "$kernel" "$name" $? <"$work/tap-$kernel"
		read -r cpu seconds < <(tail -n 1 "$work/time-$kernel")
		took "$((${cpu//./}))" "$seconds" "$kernel" "$name"
	done
}

touch "$work/results" "$work/times"
if [[ -n $units_only ]]; then
	export {ASAN,UBSAN,LSAN}_OPTIONS="log_path=$work/report:print_stacktrace=1"
	((!${#debugger[@]})) || debugger+=("--log-file=$work/report.%p")
	lab_kernels=()
fi
if [[ $only_kernel == *-* ]]; then
	slower=5
	# where KCSAN watches, it waits
	[[ $only_kernel != *-kcsan ]] || slower=20
	export TEST_SLOWER="${TEST_SLOWER:-$slower}"
	[[ $only_kernel != *-k?san ]] || export TEST_LEAKS=1
fi
running=()
# Two at a time, which keep two processors busy. Where the shell itself gives up
# on a command, tests would be missing from the count.
run() { # COMMAND...
	{ ("$@"; :) || result fail "${2:-unit}" "$1" "goes through all tests"; } &
	running+=($!)
	((${#running[@]} < 2)) || wait -n
}
[[ -n $only_kernel && (-n $only_test || $only_kernel == *-*) ]] || run unit_tests
for kernel in ${only_kernel:-"${lab_kernels[@]}"}; do
	run kernel_tests "$kernel"
done
wait
cat "$work"/failures-* 2>/dev/null
sort -rn "$work/times" | head -n 12 | sed '1i\  CPU s  wall s  most expensive:'
times >"$work/cpu"
awk -F '[ms ]+' -v wall="$SECONDS" \
	'NR == 2 { printf "%7d %7d  in all\n", 60 * ($1 + $3) + $2 + $4, wall }' "$work/cpu"
count() { grep -c "^$1\$" "$work/results" || :; }
failed=$(count fail)
skipped=$(count skip)
if [[ ! -s $work/results ]]; then
	lab_die "no test${only_test:+ named $only_test}${only_kernel:+ for kernel $only_kernel}"
fi
echo "$(count pass) passed, $failed failed$( ((!skipped)) || echo ", $skipped skipped")"
((failed == 0))
