package ldap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// maxChecked bounds how many keys of a groupRolesMap are looked for.
const maxChecked = 32

// mapCheck looks, with the first login of an instance, for the keys of its groupRolesMap in the
// directory: one that is not there, or that the directory writes in another way, never gives a role.
// Its zero value is ready.
type mapCheck struct {
	begun atomic.Bool
	found atomic.Pointer[string]
}

// checkOnce checks once; later calls return what was found, empty when nothing was or the check is under
// way. attribute is the one whose values are compared with the keys; empty = the keys are the DNs of
// groups.
func (m *mapCheck) checkOnce(
	ctx context.Context,
	search Search,
	base, attribute string,
	r *Roles,
) string {
	if r == nil {
		return ""
	}
	if m.begun.CompareAndSwap(false, true) {
		text := strings.Join(r.listUnmatchedKeys(ctx, search, base, attribute), "; ")
		if text != "" {
			slog.Warn("groupRolesMap of a realm", "problem", text)
		}
		m.found.Store(&text)
	}
	if text := m.found.Load(); text != nil {
		return *text
	}
	return ""
}

// listUnmatchedKeys says which keys can give no role.
func (r *Roles) listUnmatchedKeys(
	ctx context.Context,
	search Search,
	base, attribute string,
) (out []string) {
	keys := slices.Sorted(maps.Keys(r.exact))
	for _, key := range keys[:min(len(keys), maxChecked)] {
		q := Query{
			Base:       base,
			Filter:     "(" + attribute + "=" + Filter("{0}", key) + ")",
			Attributes: []string{attribute},
			Limit:      1,
		}
		what := fmt.Sprintf("no entry below %s has %s = %s", base, attribute, key)
		if attribute == "" {
			q = Query{
				Base:       key,
				Filter:     "(objectClass=*)",
				Attributes: []string{"1.1"},
				Alone:      true,
			}
			what = fmt.Sprintf(
				"the directory has no group %q; write its DN, such as CN=ops,%s",
				key,
				base,
			)
		}
		entries, err := search(ctx, q)
		switch {
		case err != nil && !Absent(err) && !errors.Is(err, ErrSizeLimit):
			return out // what may not be read, or not now, is not known
		case len(entries) == 0:
			out = append(out, "groupRolesMap: "+what+": this key gives no user a role")
			continue
		}
		values := []string{entries[0].DN}
		if attribute != "" {
			values = entries[0].GetEqualFoldAttributeValues(attribute)
		}
		if !slices.ContainsFunc(values, func(v string) bool {
			return foldValue(v) == foldValue(key)
		}) {
			out = append(
				out,
				fmt.Sprintf(
					"groupRolesMap: the directory writes %q in another way, such as %q: write it so",
					key,
					values[:min(len(values), 3)],
				),
			)
		}
	}
	return out
}
