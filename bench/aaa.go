package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ctl.internal/bench/rig"
	"ctl.internal/test/harness"
)

// startNginx starts the well-known web server with auth_basic on a file of 1 KiB. It
// returns nil when there is no nginx or openssl: the comparison is then left out,
// and says so.
func (b *bench) startNginx(ctx context.Context) (s *rig.Side, stop func(), err error) {
	for _, tool := range []string{"nginx", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Printf(
				"   LEFT OUT: %s is not installed, so nothing is compared with nginx auth_basic\n",
				tool,
			)
			return nil, func() {}, nil
		}
	}
	passwd := exec.CommandContext(ctx, "openssl", "passwd", "-apr1", "-salt", "benchslt", "-stdin")
	passwd.Stdin = strings.NewReader("admin\n")
	hash, err := passwd.Output()
	if err != nil {
		return nil, nil, err
	}
	addr, err := rig.FreeAddress()
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Join(b.dir, "nginx")
	conf := fmt.Sprintf(`daemon off; worker_processes 2; pid %[1]s/pid; error_log %[1]s/error.log;
events { worker_connections 512; }
http { access_log off; keepalive_requests 1000000000; client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  server { listen %[2]s; root %[1]s/www; location / { auth_basic application; auth_basic_user_file %[1]s/users; } } }
`, dir, addr)
	if err := rig.Write(
		dir,
		map[string]string{
			"conf":     conf,
			"users":    "admin:" + string(hash),
			"www/page": strings.Repeat("x", 1024),
		},
	); err != nil {
		return nil, nil, err
	}
	// The workers run as another user and must reach the files.
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return nil, nil, err
	}
	server, err := harness.Serve(
		addr,
		exec.Command("nginx", "-c", filepath.Join(dir, "conf"), "-p", dir),
	)
	if err != nil {
		return nil, nil, err
	}
	return newHTTPSide(connections, addr, 0, nil, "GET", "/page", basic, nil), server.Stop, nil
}

// aaaPart runs the benchmarks of the access-control rooms and keeps their words.
func (b *bench) aaaPart(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "-", "-bench", "Match|Decision|Issue|Lookup|FirstLogin|Crowd", "-benchtime", "200ms",
		"./host/internal/aaa/rules", "./host/internal/aaa/policy", "./host/internal/aaa/token", "./host/internal/aaa/password", "./host/internal/aaa/identity").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var lines []string
	for _, l := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(l, "Benchmark") || strings.HasPrefix(l, "pkg:") {
			lines = append(lines, l)
		}
	}
	b.notes = append(
		b.notes,
		"## Access control (`go test -bench … ./host/internal/aaa/...`)\n\nRule matching and policy decisions must not allocate; a decision with 10,000 policies may cost twice one with 10.\n\n```\n"+strings.Join(lines, "\n")+"\n```",
	)
	return nil
}
