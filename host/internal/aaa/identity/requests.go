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

// lasts reports whether a request gives its role now.
func (r Request) lasts(now time.Time) bool {
	return r.State == RequestApproved && now.Before(r.Until)
}

// Decide approves or denies a request; one that is approved can be denied still, which ends the right. by is who does; it is not who
// asked, unless it is somebody at the machine itself.
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
		lasts := r.lasts(v.now)
		switch {
		case !r.waits(v.now) && (approve || !lasts):
			return nil, fault.New(fault.InUse, "request %s is not waiting for a decision any more", id)
		case r.User == by && !local:
			return nil, fault.New(
				fault.Denied,
				"nobody decides a request of his own: another administrator does, or the console on the machine of the controller",
			)
		}
		r.Decided, r.State = by, RequestDenied
		if !approve && !lasts {
			return []datastore.Op{putRecord(requestKey(id), r)}, nil
		}
		if approve {
			r.State, r.Until = RequestApproved, v.now.Add(r.For).UTC()
		} else {
			r.Until = v.now.UTC()
		}
		op, err := v.lend(r)
		return []datastore.Op{putRecord(requestKey(id), r), op}, err
	})
	return r, s.auditChange(ctx, err, action, id+" "+r.User+" "+r.Role+" for "+r.For.String())
}

// lend returns what gives a user the role of a request that was decided: of all approved requests for it the end that is the latest
// holds, and without any the role is taken back.
func (v view) lend(decided Request) (op datastore.Op, err error) {
	u, record, err := v.findUser(decided.User)
	if err != nil {
		return op, err
	}
	if decided.State == RequestApproved {
		if err := record.mayHave(decided); err != nil {
			return op, err
		}
		if _, err := v.findRole(decided.Role + "@" + SDN); err != nil {
			return op, err
		}
	}
	all, err := v.listRequests()
	if err != nil {
		return op, err
	}
	var lent lentRecord
	for _, r := range append(all, decided) {
		if r.ID == decided.ID {
			r = decided
		}
		if r.User == decided.User && r.Role == decided.Role && r.lasts(v.now) && record.mayHave(r) == nil && r.Until.After(lent.Until) {
			lent = lentRecord{r.Until, r.ID}
		}
	}
	key := lentPrefix(u.Domain, u.Name) + decided.Role
	if lent.Request == "" {
		return removeRecord(key), nil
	}
	return putRecord(key, lent), nil
}

// mayHave refuses a request of an earlier user of the same name.
func (u userRecord) mayHave(r Request) error {
	if r.Asked.Before(u.Created.Truncate(time.Second)) {
		return fault.New(fault.InUse, "request %s is of an earlier user %s, who is deleted", r.ID, r.User)
	}
	return nil
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
