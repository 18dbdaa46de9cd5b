package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ctl.internal/bench/load"
	"ctl.internal/bench/rig"
)

// settings of the controller: the realm as documented, after the local one.
const secINI = `[main]
tokenAuthRealm = TokenAuthRealm
ldapRealm = org.ctl.aaa.sec.realm.CtlJndiLdapRealm
ldapRealm.userDnTemplate = uid={0},ou=People,dc=lab,dc=test
ldapRealm.contextFactory.url = %s
ldapRealm.searchBase = dc=lab,dc=test
ldapRealm.ldapAttributeForComparison = title
ldapRealm.groupRolesMap = "clerk":"user"
securityManager.realms = $tokenAuthRealm, $ldapRealm
[urls]
/** = authcBasic, roles[user]
`

// startController runs a ctld whose users come from an LDAP server.
func (o options) startController(
	ctx context.Context,
	home string,
	s *slapd,
) (*rig.Controller, error) {
	catalogue, err := os.ReadFile("features.yaml")
	if err != nil {
		return nil, fmt.Errorf("%w; run it from the top of the tree", err)
	}
	if err := rig.Write(
		home,
		map[string]string{
			"features.yaml": string(catalogue),
			"etc/sec.ini":   fmt.Sprintf(secINI, s.url),
			"etc/ctl.yaml":  "aaa:\n  loginCache: 0s\n",
		},
	); err != nil {
		return nil, err
	}
	c, err := rig.Start(o.bin, home, "SSL_CERT_FILE="+s.certificate)
	if err != nil {
		return nil, err
	}
	if _, err := c.Ctl(ctx, "feature:install ctl-realm-ldap ctl-restconf"); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

func (o options) measureSetting(ctx context.Context, dir string, k setting) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s, err := startSlapd(ctx, dir, o.users, k)
	if err != nil {
		return err
	}
	defer s.Stop()
	c, err := o.startController(ctx, filepath.Join(dir, "h"), s)
	if err != nil {
		return err
	}
	defer c.Stop()
	plug, err := startRealm(ctx, o.bin, s)
	if err != nil {
		return err
	}
	defer plug.stop()
	// Each worker goes through a part of the users of its own.
	next := make([]int, o.parallel)
	user := func(worker int) int {
		next[worker]++
		return (worker + next[worker]*o.parallel) % o.users
	}
	work, err := o.newBareLogin(s, k, user)
	if err != nil {
		return err
	}
	requests := make([][]byte, o.users)
	for i := range requests {
		requests[i] = newLoginRequest(c.HTTP, k, i)
	}
	cost := func(name string, pid int) rig.Cost {
		return rig.Cost{
			Name: name,
			Used: func() time.Duration { return rig.Used(pid) },
		}
	}
	self, server := cost("load", os.Getpid()), cost("slapd", s.PID)
	through := &rig.Side{
		Name: "HTTP Basic, host, realm, server",
		Last: c,
		Run: func(ctx context.Context, d time.Duration) (load.Result, error) {
			return load.Each(ctx, c.HTTP, func(i int) []byte {
				return requests[user(i)]
			}, o.parallel, d)
		},
		Costs: []rig.Cost{self, cost("host", c.PID), cost("realm", rig.ChildOf(c.PID, "realm-ldap")), server},
	}
	alone := &rig.Side{Name: "realm, server",
		Run: func(ctx context.Context, d time.Duration) (load.Result, error) {
			return load.Do(ctx, o.parallel, d, plug.newLoginLoad(k, user))
		},
		Costs: []rig.Cost{self, cost("realm", plug.pid()), server}}
	peer := &rig.Side{Name: "bare go-ldap, bind and search",
		Run: func(ctx context.Context, d time.Duration) (load.Result, error) {
			return load.Do(ctx, o.parallel, d, work)
		},
		Costs: []rig.Cost{self, server}}
	compared := rig.Comparison{
		Rounds:   o.rounds,
		Duration: o.duration,
		Profile: func(*rig.Side) string {
			if o.profiles == "" {
				return ""
			}
			return filepath.Join(o.profiles, "host-"+strings.Fields(k.name)[0]+".pprof")
		},
	}
	if err := compared.Run(ctx, through, alone, peer); err != nil {
		return err
	}
	fmt.Printf("\n%s\n", k.name)
	for _, side := range []*rig.Side{peer, alone, through} {
		fmt.Printf("  %-32s %s\n", side.Name, side.Describe())
	}
	rate, cpu := alone.Against(peer)
	all, allCPU := through.Against(peer)
	fmt.Printf(
		"  through the realm %.2f (of processor time %.2f), asked for 0.8; with HTTP and host in front of it %.2f (of processor time %.2f)\n",
		rate,
		cpu,
		all,
		allCPU,
	)
	return nil
}

func newLoginRequest(address string, k setting, i int) []byte {
	credentials := base64.StdEncoding.EncodeToString([]byte(userName(i) + ":" + k.loginPassword(i)))
	return load.Request("GET", address, "/restconf/yang-library-version", "Basic "+credentials, nil)
}
