package identity

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"ctl.internal/host/internal/aaa/password"
	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Imported is a user with the password hash that another system kept (see the
// Legacy functions of package password). The first login makes the hash anew.
type Imported struct {
	User
	Hash  string
	Roles []string // ids of roles, granted in SDN
}

// importBatch bounds one transaction; each is whole or not at all.
const importBatch = 500

// Import adds many users. The list is checked whole before anything is written;
// it returns how many were added before an error stopped it.
func (s *Service) Import(ctx context.Context, list []Imported) (int, error) {
	var faults fault.List
	for i, u := range list {
		err := s.checkUser(u.User)
		if err == nil {
			err = password.Valid(u.Hash)
		}
		if err != nil {
			faults = append(faults, fault.At(fault.Invalid, fmt.Sprintf("entry %d, user %s", i+1, u.ID()), "%v", err))
		}
	}
	if err := faults.Err(); err != nil {
		return 0, err
	}
	done := 0
	for done < len(list) {
		batch := list[done:min(done+importBatch, len(list))]
		err := s.update(ctx, func(v view) (ops []datastore.Op, err error) {
			for _, u := range batch {
				if ops, err = s.importOne(v, ops, u); err != nil {
					return nil, err
				}
			}
			return ops, nil
		})
		if err := s.done(ctx, err, "import users", fmt.Sprintf("%s to %s", batch[0].ID(), batch[len(batch)-1].ID())); err != nil {
			return done, err
		}
		done += len(batch)
	}
	return done, nil
}

func (s *Service) importOne(v view, ops []datastore.Op, u Imported) ([]datastore.Op, error) {
	if err := v.mayCreate(u.User); err != nil {
		return nil, err
	}
	hash, err := s.seal(u.ID(), u.Hash)
	if err != nil {
		return nil, err
	}
	ops = append(ops, put(userKey(u.Domain, u.Name), userRecord{
		Changed:     s.now(),
		Description: u.Description, Email: u.Email, Enabled: u.Enabled, Epoch: rand.Text(), Hash: hash,
	}))
	for _, id := range u.Roles {
		name, domain, _ := strings.Cut(id, "@")
		if _, err := v.role(id); err != nil {
			return nil, err
		}
		ops = append(ops, grantKeys{u.Domain, u.Name, domain, name, SDN}.put()...)
	}
	return ops, nil
}
