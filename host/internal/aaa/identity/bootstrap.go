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
	err := s.read(ctx, func(v view) (err error) {
		begun, err = v.has(guardKey)
		return err
	})
	if err != nil || begun {
		return false, err
	}
	text, made := "", map[string]bool{}
	for _, p := range []struct {
		name     string
		password *string
	}{{"admin", &f.Admin}, {"user", &f.User}} {
		if *p.password == "" {
			*p.password = rand.Text()
			text += p.name + " " + *p.password + "\n"
			made[p.name] = true
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
	adminHash, err := s.hash(ctx, "admin@"+SDN, f.Admin)
	if err != nil {
		return false, err
	}
	userHash, err := s.hash(ctx, "user@"+SDN, f.User)
	if err != nil {
		return false, err
	}
	err = s.update(ctx, func(v view) ([]datastore.Op, error) {
		if begun, err = v.has(guardKey); begun || err != nil {
			return nil, err
		}
		ops := []datastore.Op{
			put(domainKey(SDN), domainRecord{"the controller's own domain", true}),
			put(roleKey(SDN, AdminRole), roleRecord{"may do everything"}),
			put(roleKey(SDN, UserRole), roleRecord{"may use what no rule keeps for others"}),
			put(userKey(SDN, "admin"), userRecord{Profile: Profile{Description: "admin user"}, Enabled: true, Epoch: rand.Text(), Hash: adminHash, Changed: s.now(), First: made["admin"]}),
			put(userKey(SDN, "user"), userRecord{Profile: Profile{Description: "user user"}, Enabled: true, Epoch: rand.Text(), Hash: userHash, Changed: s.now(), First: made["user"]}),
		}
		for _, g := range []grantKeys{
			{SDN, "admin", SDN, AdminRole, SDN}, {SDN, "admin", SDN, UserRole, SDN}, {SDN, "user", SDN, UserRole, SDN},
		} {
			ops = append(ops, g.put()...)
		}
		return ops, nil
	})
	return err == nil && !begun, err
}
