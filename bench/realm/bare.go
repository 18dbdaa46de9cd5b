package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	goldap "github.com/go-ldap/ldap/v3"

	"ctl.internal/bench/load"
)

// newBareLogin logs users in with the client library alone: a connection a worker, kept over
// the rounds as the realm keeps its own, on it a bind as the user and a search for the
// attribute the realm reads.
func (o options) newBareLogin(
	s *slapd,
	k setting,
	next func(worker int) int,
) (func(context.Context, int, load.Done) error, error) {
	text, err := os.ReadFile(s.certificate)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate")
	}
	settings := goldap.DialWithTLSConfig(&tls.Config{
		RootCAs:    trusted,
		ServerName: "127.0.0.1",
		MinVersion: tls.VersionTLS12,
	})
	kept := make([]*goldap.Conn, o.parallel) // they end with the server
	return func(ctx context.Context, worker int, done load.Done) error {
		if kept[worker] == nil {
			c, err := goldap.DialURL(s.url, settings)
			if err != nil {
				return err
			}
			kept[worker] = c
		}
		c := kept[worker]
		for ctx.Err() == nil {
			i := next(worker)
			began := time.Now()
			if err := c.Bind(userDN(i), k.loginPassword(i)); err != nil {
				return err
			}
			r, err := c.Search(goldap.NewSearchRequest("dc=lab,dc=test", goldap.ScopeWholeSubtree, goldap.NeverDerefAliases, 1000, 5, false,
				"(uid="+goldap.EscapeFilter(userName(i))+")", []string{"title"}, nil))
			if err != nil {
				return err
			}
			if len(r.Entries) != 1 || r.Entries[0].GetAttributeValue("title") != "clerk" {
				return fmt.Errorf("%s: not the entry that was looked for", userName(i))
			}
			done(time.Since(began), true)
		}
		return nil
	}, nil
}
