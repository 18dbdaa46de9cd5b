package identity

import (
	"errors"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// change names what is about to end.
type change struct{ withoutUser, withoutDomain string }

// keepAdmin refuses a change after which no enabled user of an enabled domain
// would hold role admin in SDN. If no user holds it now, the check is skipped.
func (v view) keepAdmin(c change) error {
	left, err := v.anyAdmin(c)
	if err != nil || left {
		return err
	}
	had, err := v.anyAdmin(change{})
	if err != nil || !had {
		return err
	}
	return fault.New(
		fault.InUse,
		"this is the last enabled administrator of %s; create another one first",
		SDN,
	)
}

func (v view) anyAdmin(c change) (bool, error) {
	found := false
	err := v.eachAdmin(c, func(string) bool { found = true; return false })
	return found, err
}

// eachAdmin calls f with the id of every administrator who may log in, until f
// returns false.
func (v view) eachAdmin(c change, f func(id string) bool) error {
	sdn, err := v.enabledDomain(SDN, c)
	if err != nil || !sdn {
		return err
	}
	prefix := joinKey("granted", SDN, AdminRole) + "/"
	for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: prefix}) {
		if err != nil {
			return err
		}
		g := parseGrant(e.Key)
		id := g.user + "@" + g.userDomain
		if g.domain != SDN || id == c.withoutUser {
			continue
		}
		r, err := getRecord[userRecord](v, userKey(g.userDomain, g.user))
		if err != nil {
			return err
		}
		on, err := v.enabledDomain(g.userDomain, c)
		if err != nil {
			return err
		}
		if r.Enabled && on && !f(id) {
			return nil
		}
	}
	return nil
}

func (v view) enabledDomain(name string, c change) (bool, error) {
	if name == c.withoutDomain {
		return false, nil
	}
	d, err := getRecord[domainRecord](v, domainKey(name))
	if errors.Is(err, datastore.ErrNotFound) {
		return false, nil
	}
	return d.Enabled, err
}
