package identity

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/sdk/fault"
)

// Request is a right that a user asks for, for a while.
type Request struct {
	ID      string        `json:"id"`
	User    string        `json:"user"` // id
	Role    string        `json:"role"` // of SDN
	Reason  string        `json:"reason,omitempty"`
	For     time.Duration `json:"for"`
	Asked   time.Time     `json:"asked"`
	State   string        `json:"state"`
	Decided string        `json:"decided,omitempty"` // who approved or denied it
	Until   time.Time     `json:"until,omitzero"`    // end of the right
}

// The states of a request.
const (
	RequestWaits    = "waiting"
	RequestApproved = "approved"
	RequestDenied   = "denied"
)

const (
	maxRequestTime = 7 * 24 * time.Hour // a right for a while
	maxRequestWait = 24 * time.Hour     // for a decision
	maxRequestKept = 30 * 24 * time.Hour
	maxRequests    = 10 // of one user that wait
	requestIDBytes = 8
)

// lentRecord is a role that a user has until a time.
type lentRecord struct {
	Until   time.Time `json:"until"`
	Request string    `json:"request"`
}

func requestKey(id string) string { return joinKey("request", id) }

// lentPrefix is where the roles of a user are that end by themselves.
func lentPrefix(domain, name string) string { return joinKey("lent", domain, name) + "/" }

// Ask notes that a user wants a role of SDN for a while.
func (s *Service) Ask(
	ctx context.Context,
	user, role, reason string,
	long time.Duration,
) (r Request, err error) {
	if long < time.Minute || long > maxRequestTime {
		return r, fault.At(fault.Invalid, "for", "a right is for 1 minute to %s", maxRequestTime)
	}
	if err := checkText("reason", reason); err != nil {
		return r, err
	}
	r = Request{
		ID:     strings.ToLower(rand.Text()[:requestIDBytes]),
		User:   user,
		Role:   role,
		Reason: reason,
		For:    long,
		Asked:  s.now(),
		State:  RequestWaits,
	}
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		if _, _, err := v.findUser(user); err != nil {
			return nil, err
		}
		if _, err := v.findRole(role + "@" + SDN); err != nil {
			return nil, err
		}
		all, err := v.listRequests()
		if err != nil {
			return nil, err
		}
		ops, waiting := []datastore.Op{putRecord(requestKey(r.ID), r)}, 0
		for _, one := range all {
			if one.User == user && one.waits(v.now) {
				waiting++
			}
			if v.now.Sub(one.Asked) > maxRequestKept {
				ops = append(ops, removeRecord(requestKey(one.ID)))
			}
		}
		if waiting >= maxRequests {
			return nil, fault.New(fault.InUse, "%d requests of %s wait for a decision already", waiting, user)
		}
		return ops, nil
	})
	return r, s.auditChange(ctx, err, "request role", r.ID+" "+user+" "+role)
}

// waits reports whether a request can be decided now.
func (r Request) waits(now time.Time) bool {
	return r.State == RequestWaits && now.Sub(r.Asked) <= maxRequestWait
}

// Decide approves or denies a request. by is who does; it is not who asked, unless it is somebody at the machine itself.
func (s *Service) Decide(
	ctx context.Context,
	id, by string,
	local, approve bool,
) (r Request, err error) {
	action := "deny request"
	if approve {
		action = "approve request"
	}
	err = s.updateRecords(ctx, func(v view) ([]datastore.Op, error) {
		if r, err = findRecord[Request](v, requestKey(id), "request", id); err != nil {
			return nil, err
		}
		switch {
		case !r.waits(v.now):
			return nil, fault.New(fault.InUse, "request %s is not waiting for a decision any more", id)
		case r.User == by && !local:
			return nil, fault.New(
				fault.Denied,
				"nobody decides a request of his own: another administrator does, or the console on the machine of the controller",
			)
		}
		r.Decided, r.State = by, RequestDenied
		if !approve {
			return []datastore.Op{putRecord(requestKey(id), r)}, nil
		}
		u, _, err := v.findUser(r.User)
		if err != nil {
			return nil, err
		}
		if _, err := v.findRole(r.Role + "@" + SDN); err != nil {
			return nil, err
		}
		r.State, r.Until = RequestApproved, v.now.Add(r.For).UTC()
		lent := lentRecord{r.Until, id}
		return []datastore.Op{
			putRecord(requestKey(id), r),
			putRecord(lentPrefix(u.Domain, u.Name)+r.Role, lent),
		}, nil
	})
	return r, s.auditChange(ctx, err, action, id+" "+r.User+" "+r.Role+" for "+r.For.String())
}

// Requests are all that are kept, the latest first.
func (s *Service) Requests(ctx context.Context) ([]Request, error) {
	return readValue(ctx, s, func(v view) ([]Request, error) {
		all, err := v.listRequests()
		slices.SortFunc(all, func(a, b Request) int { return b.Asked.Compare(a.Asked) })
		return all, err
	})
}

func (v view) listRequests() (all []Request, err error) {
	for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: requestKey("")}) {
		if err != nil {
			return nil, err
		}
		r, err := decodeRecord[Request](e)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// addLent gives a principal the roles that it has for a while, and notes when the first of them ends.
func (v view) addLent(p *Principal) error {
	for e, err := range v.sn.Range(
		namespace,
		datastore.RangeOptions{Prefix: lentPrefix(p.Domain, p.Name)},
	) {
		if err != nil {
			return err
		}
		lent, err := decodeRecord[lentRecord](e)
		if err != nil {
			return err
		}
		role := strings.TrimPrefix(e.Key, lentPrefix(p.Domain, p.Name))
		there, err := v.hasRecord(roleKey(SDN, role))
		if err != nil {
			return err
		}
		if !there || !v.now.Before(lent.Until) {
			continue
		}
		if p.Until.IsZero() || lent.Until.Before(p.Until) {
			p.Until = lent.Until
		}
		if !slices.Contains(p.Roles, role) {
			p.Roles = append(p.Roles, role)
		}
	}
	return nil
}

// lentTo are the ids of the users who have a role for a while.
func (v view) lentTo(role string) (ids []string, err error) {
	for e, err := range v.sn.Range(namespace, datastore.RangeOptions{Prefix: joinKey("lent", "")}) {
		if err != nil {
			return nil, err
		}
		lent, err := decodeRecord[lentRecord](e)
		if err != nil {
			return nil, err
		}
		parts := strings.Split(e.Key, "/")
		if len(parts) == 4 && parts[3] == role && v.now.Before(lent.Until) {
			ids = append(ids, parts[2]+"@"+parts[1])
		}
	}
	return ids, nil
}
