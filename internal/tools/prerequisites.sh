#!/bin/bash
# Installs what the tests need and Go doesn't bring: a real redis-server for
# the Redis store, a C compiler for the race detector, and a browser for the status
# page. Does nothing where all are there; says in one line what to do where it
# may not install.
set -euo pipefail

packages=()
command -v redis-server >/dev/null || packages+=(redis-server)
# The package that links against C needs its headers too, hence libc6-dev.
command -v "$(go env CC | cut -d' ' -f1)" >/dev/null || packages+=(gcc libc6-dev)
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
	packages+=(chromium)
[ ${#packages[@]} -eq 0 ] && exit 0

fail() {
	echo "make test: needs ${packages[*]}, and $1; install by hand: apt-get install ${packages[*]}" >&2
	exit 1
}

command -v apt-get >/dev/null || fail "there is no apt-get here"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null || fail "this user is not root and there is no sudo"
	as_root=(sudo)
fi

echo "make test: installing ${packages[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >>"$log" 2>&1; }
# A failed update is no reason to stop: the lists at hand may be enough.
apt update || true
apt install --yes --no-install-recommends "${packages[@]}" ||
	fail "apt-get failed ($(grep -v '^$' "$log" | tail -n 1))"
