package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"ctl.internal/bench/load"
	"ctl.internal/bench/rig"
	"ctl.internal/internal/wire/link"
	"ctl.internal/sdk/realm"
)

// realmPlugin is the process of the realm, started, connected to and asked as the host
// does it, without a host.
type realmPlugin struct {
	process *plugin.Client
	link    *link.Conn
	client  *realm.Client
}

func startRealm(ctx context.Context, bin string, s *slapd) (*realmPlugin, error) {
	cmd := exec.Command(filepath.Join(bin, "plugins", "realm-ldap"))
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+s.certificate)
	process, conn, err := rig.Plugin(ctx, cmd) // certificates, asked for at the host, then are the system's
	if err != nil {
		return nil, fmt.Errorf("realm-ldap: %w", err)
	}
	p := &realmPlugin{process: process}
	if err := p.connectRealm(ctx, conn, s); err != nil {
		p.stop()
		return nil, fmt.Errorf("realm-ldap: %w", err)
	}
	return p, nil
}

func (p *realmPlugin) connectRealm(
	ctx context.Context,
	conn *grpc.ClientConn,
	s *slapd,
) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if p.link, err = link.Open(ctx, conn); err != nil {
		return err
	}
	p.client = realm.NewClient(p.link)
	_, err = p.client.Configure(ctx, realm.Config{
		Name: "ldapRealm",
		Kind: "CtlJndiLdapRealm",
		Properties: map[string]realm.Property{
			"userDnTemplate":             {Value: "uid={0}," + base},
			"contextFactory.url":         {Value: s.url},
			"searchBase":                 {Value: "dc=lab,dc=test"},
			"ldapAttributeForComparison": {Value: "title"},
			"groupRolesMap": {
				Value: `"clerk":"user"`,
				Map:   map[string]string{"clerk": "user"},
			},
		},
	})
	return err
}

// newLoginLoad asks the realm as the host does.
func (p *realmPlugin) newLoginLoad(
	k setting,
	next func(worker int) int,
) func(context.Context, int, load.Done) error {
	return func(ctx context.Context, worker int, done load.Done) error {
		for ctx.Err() == nil {
			i := next(worker)
			began := time.Now()
			// A login that was begun is ended, as one by HTTP is.
			limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			r := p.client.Authenticate(
				limit,
				"ldapRealm",
				realm.Credentials{
					User:     userName(i),
					Password: k.loginPassword(i),
				},
			)
			cancel()
			if r.Outcome != realm.Authenticated || len(r.Roles) != 1 || r.Roles[0] != "user" {
				return fmt.Errorf("login of %s: %+v", userName(i), r)
			}
			done(time.Since(began), true)
		}
		return nil
	}
}

func (p *realmPlugin) pid() int {
	n, _ := strconv.Atoi(p.process.ID())
	return n
}

func (p *realmPlugin) stop() {
	if p.link != nil {
		p.link.Close()
	}
	p.process.Kill()
}
