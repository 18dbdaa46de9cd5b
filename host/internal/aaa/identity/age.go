package identity

import "time"

// HowToChange names the calls by which users change their own password.
const HowToChange = "change it with POST /auth/password, `idmtool USER change-own-password`, or `aaa:change-own-pwd` over SSH"

// MustChange says why a user has to choose another password before anything else, empty when not.
func (s *Service) MustChange(p *Principal) string {
	switch {
	case p == nil:
		return ""
	case s.o.ChangeFirst && p.First:
		return "the password was made at random for the first login; " + HowToChange
	case s.o.MaxAge > 0 && !p.PasswordSet.IsZero() && s.o.Now().Sub(p.PasswordSet) > s.o.MaxAge:
		return "the password has expired; " + HowToChange
	}
	return ""
}

// MayDemand reports whether MustChange can ever say something.
func (s *Service) MayDemand() bool { return s.o.ChangeFirst || s.o.MaxAge > 0 }

func (s *Service) now() time.Time { return s.o.Now().UTC().Truncate(time.Second) }
