package identity

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"ctl.internal/host/internal/datastore"
)

// Crowd adds many users with one password and roles of SDN, 500 in a transaction.
func (s *Service) Crowd(ctx context.Context, users []User, password string, roles ...string) error {
	hash, err := s.o.Hasher.Hash(ctx, password)
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(users, 500) {
		err := s.updateRecords(ctx, func(view) (ops []datastore.Op, err error) {
			for _, u := range batch {
				record := userRecord{Enabled: u.Enabled, Epoch: rand.Text(), Changed: s.now()}
				if record.Hash, err = s.sealHash(u.ID(), hash); err != nil {
					return nil, err
				}
				ops = append(ops, putRecord(userKey(u.Domain, u.Name), record))
				for _, id := range roles {
					name, domain, _ := strings.Cut(id, "@")
					ops = append(ops, grantKeys{u.Domain, u.Name, domain, name, SDN}.putOps()...)
				}
			}
			return ops, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
