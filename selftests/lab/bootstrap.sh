# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Debian roots, from the mirror that the host's apt is configured with or from
# TOPOOPT_MIRROR; sourced, after common.sh.

lab_mirror() {
	local found=${TOPOOPT_MIRROR:-}

	# shellcheck disable=SC2016 # apt's variable
	[[ -n $found ]] || found=$(apt-get indextargets --format '$(SITE)' \
		'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
	[[ -n $found ]] ||
		lab_die "apt knows no Debian mirror: set TOPOOPT_MIRROR=http://..."
	echo "$found"
}

# A directory with the packages of the first suite; the others may be asked for
# more later. Needs root.
lab_bootstrap() { # ROOT SUITES PACKAGES [MMDEBSTRAP-ARGUMENT...]
	local key=/usr/share/keyrings/debian-archive-keyring.gpg root=$1 url name
	local -a suites packages proxy=()

	read -ra suites <<<"$2"
	read -ra packages <<<"$3"
	shift 3
	url=$(lab_mirror)
	while read -r name; do
		proxy+=(--aptopt="$name")
	done < <(apt-config dump --no-empty --format '%F "%v";%n' Acquire | grep -i '::proxy')
	printf "deb [signed-by=$key] $url %s main\n" "${suites[@]}" |
		mmdebstrap --quiet --mode=root --format=directory --variant=apt \
			--aptopt='APT::Install-Recommends "false"' \
			--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
			"${proxy[@]}" --include="$(IFS=,; echo "${packages[*]}")" "$@" \
			"${suites[0]}" "$root" -
}
