#!/usr/bin/env bash
# build-freertr.sh - make the jar of freeRtr that FREERTR_JAR names, from its sources, with the javac that is installed.
#
#   build-freertr.sh SOURCES JAR   SOURCES is a directory that has src/org/freertr, or a git directory of freeRtr
#
# Nothing is downloaded, and nothing of it belongs into this repository: JAR must be outside.
set -euo pipefail
export LC_ALL=C
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

(( $# == 2 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 2; }
sources=$(realpath "$1")
jar=$(realpath -m "$2")
here=$(realpath "$(dirname "$0")/../..")
[[ $jar != "$here"/* ]] || die "$jar is in the repository; name a file outside"
command -v javac >/dev/null || die 'javac is not installed'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -d $sources/src/org/freertr ]]; then
	cp -r "$sources/src" "$work/src"
elif git --git-dir="$sources" rev-parse HEAD >/dev/null 2>&1; then
	git --git-dir="$sources" archive HEAD src | tar x -C "$work"
else
	die "$sources has no src/org/freertr and is no git directory"
fi
[[ -d $work/src/org/freertr ]] || die "$sources has no src/org/freertr"
version=$(javac -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')
if (( version < 21 )); then # before virtual threads: ordinary ones
	sed -i 's/return Thread\.ofVirtual()\.start(r);/Thread t = new Thread(r); t.start(); return t;/' "$work/src/org/freertr/util/logger.java"
fi
mkdir "$work/classes"
(cd "$work/src" && javac -nowarn -encoding UTF-8 -d "$work/classes" org/freertr/router.java)
printf 'Main-Class: org.freertr.router\n' >"$work/manifest"
mkdir -p "$(dirname "$jar")"
jar cfm "$work/rtr.jar" "$work/manifest" -C "$work/classes" .
mv "$work/rtr.jar" "$jar"
printf '%s\n' "$jar"
