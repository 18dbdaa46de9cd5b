package identity

import (
	"context"
	"slices"
)

// checkPast refuses a password that a user has, or had, among the last of Options.History.
func (s *Service) checkPast(ctx context.Context, id, fresh string) error {
	if s.o.History == 0 {
		return nil
	}
	r, err := readValue(ctx, s, func(v view) (userRecord, error) {
		_, r, err := v.findUser(id)
		return r, err
	})
	if err != nil {
		return err
	}
	for _, sealed := range r.lastHashes(s.o.History) {
		encoded, err := s.openHash(id, sealed)
		if err != nil {
			return err
		}
		same, _, err := s.o.Hasher.Verify(ctx, fresh, encoded)
		if err != nil {
			return err
		}
		if same {
			return invalidField(
				"password",
				"the last %d passwords of the user cannot be chosen again (aaa.passwordHistory)",
				s.o.History,
			)
		}
	}
	return nil
}

// lastHashes are the hashes of at most n passwords, the present one first.
func (r userRecord) lastHashes(n int) [][]byte {
	all := slices.Concat([][]byte{r.Hash}, r.Past)
	return all[:min(n, len(all))]
}
