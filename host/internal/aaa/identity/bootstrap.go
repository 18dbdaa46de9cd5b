package identity

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/home"
)

// First are the passwords of the built-in users at the first start. Empty ones
// are made at random and written to File, once, readable by the owner only.
type First struct {
	Admin, User string
	File        string
}

// Bootstrap fills an empty database with the built-in domain, roles and users.
// It reports whether it did; on a database with content it changes nothing.
func (s *Service) Bootstrap(ctx context.Context, f First) (bool, error) {
	var begun bool
	err := s.readSnapshot(ctx, func(v view) (err error) {
		begun, err = v.hasRecord(guardKey)
		return err
	})
	if err != nil || begun {
		return false, err
	}
	users := []*struct {
		name, password string
		random         bool
		hash           []byte
	}{{
		name:     "admin",
		password: f.Admin,
	}, {name: "user", password: f.User}}
	text := ""
	for _, u := range users {
		if u.password == "" {
			u.password, u.random = rand.Text(), true
			text += u.name + " " + u.password + "\n"
		}
	}
	if text != "" {
		err := os.MkdirAll(filepath.Dir(f.File), 0o755)
		if err == nil {
			err = home.WriteFile(f.File, []byte(text), 0o600)
		}
		if err != nil {
			return false, fmt.Errorf("write the first passwords: %w", err)
		}
	}
	for _, u := range users {
		if u.hash, err = s.hashPassword(ctx, u.name+"@"+SDN, u.password); err != nil {
			return false, err
		}
	}
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		if begun, err = v.hasRecord(guardKey); begun || err != nil {
			return nil, err
		}
		ops := []datastore.Op{
			putRecord(domainKey(SDN), domainRecord{"the controller's own domain", true}),
			putRecord(roleKey(SDN, AdminRole), roleRecord{"may do everything"}),
			putRecord(roleKey(SDN, UserRole), roleRecord{"may use what no rule keeps for others"}),
		}
		for _, u := range users {
			ops = append(
				ops,
				putRecord(
					userKey(SDN, u.name),
					userRecord{
						Profile: Profile{Description: u.name + " user"},
						Enabled: true,
						Epoch:   rand.Text(),
						Hash:    u.hash,
						Changed: s.now(),
						Created: s.o.Now().UTC(),
						First:   u.random,
					},
				),
			)
		}
		for _, g := range []grantKeys{
			{SDN, "admin", SDN, AdminRole, SDN}, {SDN, "admin", SDN, UserRole, SDN}, {SDN, "user", SDN, UserRole, SDN},
		} {
			ops = append(ops, g.putOps()...)
		}
		return ops, nil
	})
	return err == nil && !begun, err
}
