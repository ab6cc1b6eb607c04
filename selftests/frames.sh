# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Single frames for kernel selftests (frame.py); source it after lib.sh.
#
#	frames_watch "$C" eth0		# record marked frames from here on
#	frame "$A" eth1 "$(port_mac "$B" eth0)" "$(node "$A")" "$(node "$C")" mark-1 --ttl 9
#	frame_arrives "$C" eth0 mark-1	# waits
#	is "TTL" "$(frame_field ttl)" 8	# of the frame that arrived last
#
# That a frame does not arrive is seen by one sent after it that does: see
# frame_lost.

: "${lib_dir:?}" "${tmp:?}"
declare -A frame_pipe

frames_watch() { # SERVER DEVICE
	local file=$tmp/frames-$1-$2

	on "$1" python3 "$lib_dir/frame.py" watch "$2" >"$file" &
	must wait_for 60 grep -q '^watching' "$file"
}

frame() { # SERVER DEVICE MAC SRC DST MARK [OPTION...]
	local pipe=$tmp/frame-$1-$2 fd

	if [[ ! -p $pipe ]]; then
		mkfifo "$pipe"
		on "$1" python3 "$lib_dir/frame.py" send "$2" <"$pipe" >"$tmp/sent-$1-$2" &
		exec {fd}>"$pipe"
		frame_pipe[$1-$2]=$fd
	fi
	echo "${@:3}" >&"${frame_pipe[$1-$2]}"
}

frame_arrives() { # SERVER DEVICE MARK
	wait_for 60 grep -q "^$3 " "$tmp/frames-$1-$2" &&
		grep "^$3 " "$tmp/frames-$1-$2" >"$tmp/frame"
}

# Succeeds when the first frame did not arrive although a later one did.
frame_lost() { # SERVER DEVICE MARK LATER-MARK
	frame_arrives "$1" "$2" "$4" || {
		echo "$4 did not arrive at $1 $2 either"
		return 1
	}
	! grep "^$3 " "$tmp/frames-$1-$2"
}

frame_field() { # NAME
	sed -n "s/.* $1=\([^ ]*\).*/\1/p" "$tmp/frame"
}
