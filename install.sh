#!/usr/bin/env bash
# install.sh - build ctl and install it.
#
#   ./install.sh                    as root: programs in /usr/local, home in /var/lib/ctl,
#                                   user "ctl", systemd unit ctld.service
#   ./install.sh --prefix DIR       everything below DIR; works as an ordinary user
#   ./install.sh --uninstall [--prefix DIR] [--purge]
#                                   remove the programs, unit and (--purge) the home
#
# Run again to upgrade: a snapshot of the home is saved in its backups/ (--no-snapshot: none), programs
# are replaced, the home's etc/ and data/ are kept.
set -euo pipefail
umask 022 # the service user must be able to run what root installs; the home is closed below

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix='' uninstall=false purge=false snapshot=true
die() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
say() { printf '%s\n' "$*"; }

while (( $# )); do
	case $1 in
		--prefix) [[ -n ${2:-} ]] || die '--prefix needs a directory'; prefix=$2; shift 2 ;;
		--prefix=*) prefix=${1#*=}; shift ;;
		--uninstall) uninstall=true; shift ;;
		--purge) purge=true; shift ;;
		--no-snapshot) snapshot=false; shift ;;
		-h|--help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
		*) die "unknown argument $1 (try --help)" ;;
	esac
done

system=false
if [[ -z $prefix ]]; then
	[[ $(id -u) -eq 0 ]] || die 'installing for the whole system needs root; as an ordinary user give --prefix DIR'
	system=true prefix=/usr/local home=/var/lib/ctl
else
	[[ $prefix == /* ]] || prefix=$PWD/$prefix
	home=$prefix/var/ctl
fi
lib=$prefix/lib/ctl bin=$prefix/bin share=$prefix/share unit=/etc/systemd/system/ctld.service
bash=$share/bash-completion/completions/ctl zsh=$share/zsh/site-functions/_ctl fish=$share/fish/vendor_completions.d/ctl.fish

# runs: a controller answers in the home.
runs() { "$bin/ctl" --home "$home" system:version >/dev/null 2>&1; }

if $uninstall; then
	if $system && [[ -e $unit ]]; then
		systemctl disable --now ctld.service >/dev/null 2>&1 || true
	fi
	runs && die "a controller runs in $home: stop it first"
	if $system && [[ -e $unit ]]; then
		rm -f "$unit"
		systemctl daemon-reload >/dev/null 2>&1 || true
	fi
	for p in ctld ctl idmtool ctl-lab; do
		[[ -L $bin/$p && $(readlink "$bin/$p") == "$lib/"* ]] && rm -f "$bin/$p"
	done
	rm -rf -- "$lib"
	rm -f -- "$bash" "$zsh" "$fish" "$share"/man/man1/{ctl,ctld,idmtool}.1 "$share"/man/man1/ctl-*.1 "$share"/man/man8/ctld.8
	$system || find "$share" -depth -type d -empty -delete 2>/dev/null || true
	# Remove our directories when they are empty.
	empty() { $system || rmdir --ignore-fail-on-non-empty -- "$@" 2>/dev/null || true; }
	if $purge; then
		real=$(readlink -f -- "$home" || true) # the home may be a link to another disk
		rm -rf -- "$home" ${real:+"$real"}
		empty "$prefix/var"
		# Remove the user only if it was created for this home directory.
		if $system && [[ $(getent passwd ctl | cut -d: -f6) == "$home" ]]; then userdel ctl >/dev/null 2>&1 || say 'the user "ctl" was left: userdel failed'; fi
		say "removed, with the home $home"
	else
		say "removed; the home $home was kept (--purge removes it)"
	fi
	empty "$bin" "$prefix/lib" "$prefix"
	exit 0
fi

# -- the Go version go.mod asks for
PATH=$PATH:/usr/local/go/bin # directory of Go's own archive, which is not in sudo's PATH
command -v go >/dev/null || die "Go is not installed (see https://go.dev/doc/install), or not in this PATH; sudo
changes PATH, so use: sudo env PATH=\"\$PATH\" $0"
want=$(awk '$1 == "go" {print $2; exit}' "$here/go.mod")
have=$(cd "$here" && GOTOOLCHAIN=local go env GOVERSION | sed 's/^go//')
[[ $(printf '%s\n%s\n' "$want" "$have" | sort -V | head -1) == "$want" ]] || die "Go $want or newer is needed; this is $have"

# Check before the build, which takes minutes, that the directories are writable.
for dir in "$lib/plugins" "$bin" "$(dirname "$home")"; do
	mkdir -p "$dir" 2>/dev/null && [[ -w $dir ]] || die "cannot write to $dir: choose another --prefix, or run this as a
 user who can write there"
done

say 'building …'
if [[ $(id -u) -eq 0 ]]; then
	# The clone may belong to another user: git must read it anyway, and its owner must be able to build in it later.
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$here
	make -s -C "$here" build docs
	chown -R --reference="$here" "$here/bin"
else
	make -s -C "$here" build docs
fi

# An upgrade first saves a snapshot of the home directory; the newest three are kept. The new ctl takes it from the
# running controller or from the files of the home directory.
snapshot() {
	local dir=$home/backups file
	file=$dir/before-upgrade-$(date -u +%Y%m%d-%H%M%S).tar
	install -d -m 700 "$dir"
	"$here/bin/ctl" --home "$home" snapshot save "$file" >/dev/null ||
		die "cannot take a snapshot of $home, so nothing was replaced; remove the cause, or use --no-snapshot"
	[[ $(id -u) -ne 0 ]] || chown -R --reference="$home/" "$home/"
	say "snapshot: $file (ctl snapshot restore restores it)"
	ls -1 "$dir"/before-upgrade-*.tar | head -n -3 | while IFS= read -r old; do rm -f -- "$old"; done
}
if $snapshot && [[ -e $home/etc/ctl.yaml && -e $home/data/format ]]; then snapshot; fi

install -d -m 755 "$lib" "$lib/plugins" "$bin"
# A running program uses its old file: replace the file by rename, never write into it.
put() { install -m 755 "$1" "$2.new" && mv -f "$2.new" "$2"; }
for p in ctld ctl idmtool ctl-lab; do put "$here/bin/$p" "$lib/$p"; ln -sfn "$lib/$p" "$bin/$p"; done
put "$here/bin/ctl-plugins" "$lib/ctl-plugins"
"$lib/ctl-plugins" link "$lib/plugins"
rm -rf -- "$lib/sdk.new" && cp -R "$here/bin/sdk" "$lib/sdk.new" && rm -rf -- "$lib/sdk" && mv "$lib/sdk.new" "$lib/sdk" # for ctl plugin new
rm -rf -- "$lib/docs.new" && cp -R "$here/bin/docs" "$lib/docs.new" && rm -rf -- "$lib/docs" && mv "$lib/docs.new" "$lib/docs" # served under /docs/
install -m 644 "$here/bin/plugins/SHA256SUMS" "$lib/plugins/SHA256SUMS.new" && mv -f "$lib/plugins/SHA256SUMS.new" "$lib/plugins/SHA256SUMS"


# Manual pages, and completion for the shells that look there.
install -d -m 755 "$share/man/man1" "$share/man/man8"
install -m 644 "$here"/bin/man/*.1 "$share/man/man1"
install -m 644 "$here"/bin/man/*.8 "$share/man/man8"
rm -f -- "$share/man/man1/ctld.1" # where earlier versions had it
install -d -m 755 "${bash%/*}" "${zsh%/*}" "${fish%/*}"
"$lib/ctl" completion bash >"$bash"
"$lib/ctl" completion zsh >"$zsh"
"$lib/ctl" completion fish >"$fish"

install -d -m 700 "$home"
printf '%s\n' "$home" >"$lib/home" # where the programs look for a home that nobody names
if $system; then
	id ctl >/dev/null 2>&1 || useradd --system --home-dir "$home" --shell /usr/sbin/nologin ctl
	chown -R ctl: "$home/" # the slash: it may be a link to another disk
	if command -v systemctl >/dev/null && [[ -d /etc/systemd/system ]]; then
		sed "s,/usr/lib/ctl,$lib,; s,/var/lib/ctl,$home," "$here/internal/packages/ctld.service" >"$unit"
		systemctl daemon-reload >/dev/null 2>&1 || true
		if systemctl is-active --quiet ctld.service 2>/dev/null; then
			systemctl restart ctld.service || die 'the new version is installed and does not start; the reason: journalctl -u ctld.service -n 20'
			say 'ctld.service was restarted with the new version'
		else
			say 'start it with: systemctl enable --now ctld.service'
		fi
	else
		say "no systemd here; start it with: runuser -u ctl -- $bin/ctld --home $home"
	fi
	say "installed: $bin/{ctld,ctl,idmtool,ctl-lab}, home $home"
	say "console: sudo -u ctl ctl"
else
	say "installed: $bin/{ctld,ctl,idmtool,ctl-lab}, home $home"
	say "start it with: $(printf '%q' "$bin/ctld")"
	if runs; then
		say 'a controller of the earlier version runs in that home: stop it and start it again'
	fi
	say "console:       $(printf '%q' "$bin/ctl")"
fi
say "first passwords: $home/etc/initial-passwords, written at the first start"
