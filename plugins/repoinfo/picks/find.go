package picks

import (
	"context"
	"maps"

	"ctl.internal/plugins/repoinfo/commit"
	"ctl.internal/plugins/repoinfo/history"
	"ctl.internal/plugins/repoinfo/turns"
	"ctl.internal/sdk/fault"
)

// Found is what was found out about two branches.
type Found struct {
	Same    map[string]Same   // commits of ours that theirs has too, by hash
	Gone    map[string]Same   // commits of ours that theirs had and has reverted
	Undone  map[string]string // commits that ours reverts, by hash, with the commit that reverts
	Dropped map[string]string // the same of theirs
	Unread  int               // commits whose changes could not be compared: an object is missing
}

// maxChanges bounds the memory of one comparison, in commits of one branch.
const maxChanges = 500_000

// Find compares the commits that ours has and theirs has not with those of theirs that ours has not. Merges have no
// change of their own and are left out.
func Find(
	ctx context.Context,
	l *history.Lister,
	r history.Repo,
	ours, theirs, view string,
	turn *turns.Turn,
) (*Found, error) {
	mine, err := changes(ctx, l, r, history.Query{
		Tip:  ours,
		Base: theirs,
		View: view,
	}, turn)
	if err != nil {
		return nil, err
	}
	others, err := changes(ctx, l, r, history.Query{
		Tip:  theirs,
		Base: ours,
		View: view,
	}, turn)
	if err != nil {
		return nil, err
	}
	f := &Found{Undone: Undone(mine), Dropped: Undone(others)}
	f.Same = Match(mine, others) // by what messages say
	open := make([]Change, 0, len(mine))
	for _, c := range mine {
		if _, known := f.Same[c.Hash]; !known {
			open = append(open, c)
		}
	}
	p := patcher{ctx: ctx, repo: r, turn: turn}
	if err := p.identify(open, others); err != nil {
		return nil, err
	}
	f.Unread = p.unread
	maps.Copy(f.Same, Match(open, others))
	f.Gone = MatchReverted(open, others)
	for hash := range f.Same {
		delete(f.Gone, hash)
	}
	return f, nil
}

// changes reads the commits of a query.
func changes(
	ctx context.Context,
	l *history.Lister,
	r history.Repo,
	q history.Query,
	turn *turns.Turn,
) (list []Change, err error) {
	if q.Tip == q.Base {
		return nil, nil
	}
	q.Merges = history.NoMerges
	_, err = l.Walk(ctx, r, q, turn, func(run []commit.Commit) error {
		for i := range run {
			c := &run[i]
			list = append(list, Change{
				Hash:       string(c.Hash),
				ChangeIDs:  c.ChangeIDs(),
				PickedFrom: c.PickedFrom(),
				Reverts:    c.Reverts(),
			})
		}
		if len(list) > maxChanges {
			return fault.New(
				fault.TooBig,
				"project %s: more than %d commits are in only one of the two references: give closer ones",
				r.Project,
				maxChanges,
			)
		}
		return nil
	})
	return list, err
}
