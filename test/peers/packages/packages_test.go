//go:build peers

// Package packages makes the packages and installs them as their users do.
package packages

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	tree     = "../../.."
	patience = 10 * time.Minute
)

func peer(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("SKIPPED, NOT TESTED: the peer %s is not installed (test/peers/install.sh)", name)
		}
	}
}

// run runs a line of shell at the top of the tree, which must succeed.
func run(t *testing.T, line string) string {
	t.Helper()
	out, err := try(t, line)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

func try(t *testing.T, line string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", "set -e; "+line)
	cmd.Dir, cmd.WaitDelay = tree, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestPackages(t *testing.T) {
	peer(t, "make", "git")
	run(t, "make packages")
	sums := run(t, "cat bin/packages/SHA256SUMS")
	if strings.Count(sums, "\n") < 6 {
		t.Fatalf("SHA256SUMS:\n%s", sums)
	}
	t.Run("are the same twice", func(t *testing.T) {
		run(t, "make packages")
		if again := run(t, "cat bin/packages/SHA256SUMS"); again != sums {
			t.Errorf("first\n%s\nthen\n%s", sums, again)
		}
	})
	t.Run("a later version is newer", laterVersion)
	t.Run("image", image)
	t.Run("rpm", rpm)
	t.Run("deb in a Debian chroot", deb)
}

// Each of these is an upgrade of the one before, for dpkg and for rpm if it is there: without a tag by the time of the commit,
// then by tags and the commits since. A tag of a candidate is before the tag of its version.
func laterVersion(t *testing.T) {
	peer(t, "dpkg")
	dir := t.TempDir()
	run(t, fmt.Sprintf("cp Makefile %[1]q; cd %[1]q; git init -q .; git config user.name a; git config user.email a@b", dir))
	var versions []string
	for i, tag := range []string{"", "", "v1.2.3-rc1", "", "v1.2.3-rc2", "v1.2.3", "", "", "v1.3.0-beta-2", "", "v1.3.0"} {
		run(t, fmt.Sprintf("cd %q; GIT_COMMITTER_DATE='2026-01-02T03:04:%02d-%02d00' git commit -q --allow-empty -m x", dir, i, i))
		if tag != "" {
			run(t, fmt.Sprintf("cd %q; git tag %s", dir, tag))
		}
		versions = append(versions, strings.TrimSpace(run(t, fmt.Sprintf(
			"cd %q; make -s --eval='say-version: ; @echo $(PACKAGE_VERSION)' say-version", dir))))
	}
	for i := range versions[1:] {
		run(t, fmt.Sprintf("dpkg --compare-versions %q lt %q || { echo %[1]q is not before %[2]q; exit 1; }", versions[i], versions[i+1]))
		if _, err := exec.LookPath("rpm"); err == nil {
			run(t, fmt.Sprintf("test $(rpm --eval '%%{lua:print(rpm.vercmp(\"%s\", \"%s\"))}') = -1", versions[i], versions[i+1]))
		}
	}
}

// skopeo and umoci open the image; what is in it runs.
func image(t *testing.T) {
	peer(t, "skopeo", "umoci")
	if out := run(t, "skopeo inspect oci:bin/packages/ctl.oci:latest"); !strings.Contains(out, `"Os": "linux"`) {
		t.Errorf("skopeo: %s", out)
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "bundle", "rootfs")
	run(t, fmt.Sprintf("umoci unpack --rootless --image bin/packages/ctl.oci:latest %q", filepath.Join(dir, "bundle")))
	for _, file := range []string{"usr/lib/ctl/ctld", "usr/lib/ctl/plugins/switch", "etc/ssl/certs/ca-certificates.crt", "usr/bin/git"} {
		if info, err := os.Stat(filepath.Join(root, file)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer chroot needs root")
	}
	// What a container runtime gives to every image.
	if out := run(t, fmt.Sprintf("mkdir -p %[1]q/dev; mknod -m 666 %[1]q/dev/null c 1 3; chroot %[1]q /usr/bin/git --version; chroot %[1]q /usr/bin/ctl --version", root)); !strings.Contains(out, "git version") || !strings.Contains(out, "plugin contract") {
		t.Errorf("in the image: %s", out)
	}
}

// rpm itself installs the package below an empty root; what it installed verifies, runs, and goes again. The scripts are those of
// the .deb, which run in the chroot below.
func rpm(t *testing.T) {
	peer(t, "rpm", "lexgrog")
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer rpm needs root to install")
	}
	root := filepath.Join(t.TempDir(), "root")
	rpm := fmt.Sprintf("rpm --root %q --dbpath /var/lib/rpm ", root)
	run(t, fmt.Sprintf("mkdir -p %q; %s --initdb; %s -i --nodeps --noscripts bin/packages/ctl-*.rpm", root, rpm, rpm))
	if out := run(t, rpm+"-qi ctl; "+rpm+"-q --scripts ctl"); !strings.Contains(out, "Apache-2.0") || !strings.Contains(out, "useradd") {
		t.Errorf("rpm -qi: %s", out)
	}
	if out, err := try(t, rpm+"-V --nodeps --noscripts ctl"); err != nil || out != "" {
		t.Errorf("rpm -V: %v %s", err, out)
	}
	if out := run(t, fmt.Sprintf("%q/usr/bin/ctl --version; ls %[1]q/usr/lib/systemd/system %[1]q/usr/lib/ctl/docs/index.html", root)); !strings.Contains(out, "plugin contract") || !strings.Contains(out, "ctld.service") {
		t.Errorf("installed: %s", out)
	}
	// Every manual page is one: it has a name and a summary, as whatis and apropos read them.
	if out, err := try(t, fmt.Sprintf("lexgrog %q/usr/share/man/man[18]/*", root)); err != nil || !strings.Contains(out, `ctld - runs the controller`) || !strings.Contains(out, "ctl-lab-routers - ") || !strings.Contains(out, "idmtool - ") {
		t.Errorf("manual pages: %v\n%s", err, out)
	}
	run(t, rpm+"-e --noscripts ctl")
	if out := run(t, fmt.Sprintf("find %q -type f -path '*ctl*' -not -path '*/rpm/*'", root)); out != "" {
		t.Errorf("not removed: %s", out)
	}
}

// The package is installed, upgraded while it holds data, and purged without a trace.
func deb(t *testing.T) {
	peer(t, "debootstrap", "dpkg", "apt-get")
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED, NOT TESTED: the peer debootstrap needs root")
	}
	root := filepath.Join(t.TempDir(), "debian")
	mirror := strings.Fields(run(t, `. /etc/os-release; echo "$VERSION_CODENAME"; apt-get indextargets --format '$(REPO_URI)' | head -n 1`))
	if len(mirror) != 2 {
		t.Skipf("SKIPPED, NOT TESTED: the peer debootstrap knows no mirror: %v", mirror)
	}
	if out, err := try(t, fmt.Sprintf("debootstrap --variant=minbase %s %q %s", mirror[0], root, mirror[1])); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: the peer debootstrap: %v\n%s", err, out[max(0, len(out)-2000):])
	}
	bare := func(line string) string {
		t.Helper()
		return run(t, fmt.Sprintf("unshare -m chroot %q env LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root sh -ec '%s'", root, line))
	}
	in := func(line string) string {
		t.Helper()
		return bare("mount -t proc none /proc; mkdir -p /dev/pts; mount -t devpts -o ptmxmode=666 none /dev/pts; " + line)
	}
	before := in("find / -xdev \\( -path /proc -o -path /sys -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache \\) -prune -o -print | sort")
	run(t, fmt.Sprintf("cp bin/packages/ctl_*.deb %q/first.deb", root))
	// As an installer of images does it: without /proc. It says how to go on.
	if out := bare("dpkg -i /first.deb; apt-get check"); !strings.Contains(out, "systemctl enable --now ctld") || !strings.Contains(out, "/var/lib/ctl/etc/initial-passwords") {
		t.Errorf("installed: %s", out)
	}
	if out := in("dpkg -s ctl; su -s /bin/sh ctl -c \"ctl doctor 2>&1 || true\""); !strings.Contains(out, "Homepage: ") || !strings.Contains(out, "Depends: passwd") || !strings.Contains(out, "/var/lib/ctl") {
		t.Errorf("installed: %s", out)
	}
	if out := in("ctl --version; su -s /bin/sh ctl -c \"ctl man /tmp/man\"; test -s /usr/share/man/man1/ctl.1.gz; test -s /usr/share/man/man8/ctld.8.gz; test -s /usr/share/bash-completion/completions/ctl; ls /usr/lib/ctl/plugins"); !strings.Contains(out, "plugin contract") || !strings.Contains(out, "bier-service") {
		t.Errorf("installed: %s", out)
	}
	// An ordinary user types what session.sh has. The log of that session is kept.
	run(t, fmt.Sprintf("cp test/peers/packages/session.sh %q/session.sh", root))
	out := in("useradd -m anna; su -s /bin/bash anna -c \"cd; bash -ev /session.sh 2>&1\"; userdel -r anna 2>/dev/null; rm /session.sh")
	if err := os.WriteFile(filepath.Join(tree, "bin", "session-debian.log"), []byte(out), 0o644); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"everything is in order", "4 of 4 switches answered", "+ /rests/data/bier-topology", "exit code 2", "changes made: 1", "nothing to change", "try plugin:list", "16MiB",
		`limits.body: "much" is not a size`, "lgo: no such setting", "net.yaml: line 4: topology[0]/node[1]: node-id is missing", "<title>ctl",
		"(reverse-i-search) switch: ", "(failed reverse-i-search) switch: ", "| INFO  | plugin.switch | discovery finished"} {
		if !strings.Contains(out, want) {
			t.Errorf("the session of a user has no %q:\n%s", want, out)
		}
	}
	in("touch /var/lib/ctl/mine")
	run(t, `export SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) ARCH=$(go env GOARCH) VERSION=9.9.9
		go run ./internal/packages stage bin bin/packages/root
		go tool -modfile=.ci/tools.mod nfpm package -f internal/packages/nfpm.yaml -p deb -t bin/packages/next.deb; rm -rf bin/packages/root`)
	run(t, fmt.Sprintf("mv bin/packages/next.deb %q/next.deb", root))
	if out := in("dpkg -i /next.deb; dpkg -s ctl | grep Version; ls /var/lib/ctl /usr/lib/ctl/plugins"); !strings.Contains(out, "9.9.9") || !strings.Contains(out, "mine") || !strings.Contains(out, "bier-service") {
		t.Errorf("upgraded: %s", out)
	}
	in("rm -rf /first.deb /next.deb /tmp/man; dpkg --purge ctl")
	if after := in("find / -xdev \\( -path /proc -o -path /sys -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache \\) -prune -o -print | sort"); added(before, after) != "" {
		t.Errorf("not removed: %s", added(before, after))
	}
	if out := in("getent passwd ctl || echo none"); !strings.Contains(out, "none") {
		t.Errorf("the user is left: %s", out)
	}
}

func added(before, after string) string {
	var out []string
	for line := range strings.Lines(after) {
		if !strings.Contains("\n"+before, "\n"+line) && !strings.HasSuffix(line, "-\n") { // /etc/passwd- and the like are useradd's
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out, " ")
}
