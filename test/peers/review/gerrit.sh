#!/usr/bin/env bash
# Fetches a Gerrit that can be run: the jars that its plugin authors test with hold the
# whole server. gerrit.sh DIR [VERSION]; 3.9.1 by default, 2.16.28 was tried, too.
# Needs Maven. Then: GERRIT_JARS=DIR make test-peers
set -euo pipefail
dir=${1:?usage: gerrit.sh DIR [VERSION]}
version=${2:-3.9.1}
case $version in
2.*) castle=jdk15on:1.61 ;;
*) castle=jdk18on:1.72 ;;
esac
mkdir -p "$dir"
artifacts=(com.google.gerrit:gerrit-plugin-api:"$version" com.google.gerrit:gerrit-acceptance-framework:"$version")
for part in bcprov bcpkix bcpg $([[ $castle == jdk18on* ]] && echo bcutil); do
	artifacts+=("org.bouncycastle:$part-$castle")
done
for a in "${artifacts[@]}"; do
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dartifact="$a" -DoutputDirectory="$(realpath "$dir")" -Dmdep.useBaseVersion=true
done
ls "$dir"
