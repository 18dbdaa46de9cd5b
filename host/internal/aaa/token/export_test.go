package token

import (
	"context"

	"ctl.internal/host/internal/aaa/identity"
	"ctl.internal/host/internal/datastore"
)

// Issue makes an access token without a refresh token: what is left of a login whose refresh token was used.
func (s *Service) Issue(ctx context.Context, p *identity.Principal) (string, error) {
	now := s.o.Now()
	token, ops, err := record{User: p.ID(), Epoch: p.Epoch, Issued: now, Expires: now.Add(s.o.Lifetime)}.newTokenOps()
	if err == nil {
		_, err = s.o.Store.Commit(ctx, datastore.Txn{Ops: ops})
	}
	return token, err
}

// Stamp writes what the clock of the service says, as each sweep of Run does.
func (s *Service) Stamp(ctx context.Context) error { return s.stamp(ctx) }
