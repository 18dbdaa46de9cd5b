package tree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/fault"
)

const rackModule = `module rack {
  yang-version 1.1; namespace "urn:rack"; prefix rack;
  revision 2026-11-22;
  container rack { list slot { key name; leaf name { type string; } leaf-list tag { type string; }
    list card { key id; leaf id { type string; } leaf kind { type string; } } } }
  list host { key id; leaf id { type string; } leaf kind { type string; } }
}`

// nodes are two trees that share a store, as those of two controllers do.
func nodes(t *testing.T, owner Owner) (a, b *Tree, set *yang.Set) {
	t.Helper()
	set, err := yang.Load(yang.Source{Name: "rack", Files: map[string][]byte{"rack.yang": []byte(rackModule)}})
	if err != nil {
		t.Fatal(err)
	}
	store := storetest.New(storetest.Options{})
	t.Cleanup(func() { store.Close() })
	of := func(qname string) []Owner {
		if qname == "rack:rack" && owner != nil {
			return []Owner{owner}
		}
		return nil
	}
	return &Tree{Store: store, NS: ConfigNamespace, Owners: of, Now: time.Now}, &Tree{Store: store, NS: ConfigNamespace, Owners: of, Now: time.Now}, set
}

func set1(t *testing.T, x *Tree, set *yang.Set, path, value string) {
	t.Helper()
	var raw json.RawMessage
	if value != "" {
		raw = json.RawMessage(value)
	}
	if err := x.Set(t.Context(), set, path, raw); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// 32 writers on two nodes add to one entry: each addition is there in the end.
func TestWritersOfTwoNodesLoseNothing(t *testing.T) {
	a, b, set := nodes(t, nil)
	set1(t, a, set, "/rack:rack/slot=s", `{"name":"s"}`)
	path, err := ParseText(set, "/rack:rack/slot=s")
	if err != nil {
		t.Fatal(err)
	}
	const writers = 32
	var wg sync.WaitGroup
	for i := range writers {
		x := []*Tree{a, b}[i%2]
		wg.Go(func() {
			for { // who is refused after many attempts repeats, as a client does
				err := x.Update(t.Context(), set, func(d *Draft) error {
					at, err := d.Load(path)
					if err != nil {
						return err
					}
					var slot struct {
						Name string   `json:"name"`
						Tag  []string `json:"tag"`
					}
					if err := json.Unmarshal(at.Append(nil, yang.Canonical), &slot); err != nil {
						return err
					}
					slot.Tag = append(slot.Tag, fmt.Sprint(i))
					text, err := json.Marshal(slot)
					if err != nil {
						return err
					}
					return d.ApplyText([]TextEdit{{Path: "/rack:rack/slot=s", Value: text}})
				})
				if err == nil {
					return
				}
				if fault.KindOf(err) != fault.InUse {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	text, err := b.Get(t.Context(), set, "/rack:rack/slot=s")
	if n := strings.Count(string(text), `"`) - 6; err != nil || n != 2*writers { // quotes: two names, one value, the tags
		t.Errorf("%d of %d tags: %s %v", n/2, writers, text, err)
	}
}

// Who decided on a whole list is asked again when somebody else removes one of its
// entries, nested or at the top of a module.
func TestRemovingAnEntryIsSeenByWhoReadTheList(t *testing.T) {
	for _, c := range []struct{ list, entry string }{
		{"/rack:rack/slot=s/card", "/rack:rack/slot=s/card=1"},
		{"/rack:rack/slot", "/rack:rack/slot=s"},
		{"/rack:host", "/rack:host=1"},
	} {
		t.Run(c.list, func(t *testing.T) {
			a, b, set := nodes(t, nil)
			set1(t, a, set, "/rack:rack/slot=s", `{"name":"s","card":[{"id":"1"},{"id":"2"}]}`)
			set1(t, a, set, "/rack:host=1", `{"id":"1"}`)
			list, err := ParseText(set, c.list)
			if err != nil {
				t.Fatal(err)
			}
			times := 0
			err = a.Update(t.Context(), set, func(d *Draft) error {
				at, err := d.Load(list)
				if err != nil {
					return err
				}
				if times++; times == 1 {
					set1(t, b, set, c.entry, "")
				} else if at != nil && strings.Contains(string(at.Append(nil, yang.Canonical)), `"`+c.entry[len(c.entry)-1:]+`"`) {
					t.Errorf("the entry is there in attempt %d", times)
				}
				return d.ApplyText([]TextEdit{{Path: "/rack:host=9", Value: []byte(`{"id":"9"}`)}})
			})
			if err != nil || times != 2 {
				t.Errorf("%d attempts, %v", times, err)
			}
		})
	}
}

// The owner's conditions and writes are part of the transaction, and a refusal of the
// owner is the answer.
func TestTheOwnersConditionsBelongToTheChange(t *testing.T) {
	var asked int
	var store datastore.Store
	owner := func(ctx context.Context, at datastore.Revision, changes []Change) (Decision, error) {
		asked++
		if len(changes) != 2 && asked == 1 { // the slot, and the container around it
			t.Errorf("%d changes: %+v", len(changes), changes)
		}
		for _, c := range changes {
			if strings.Contains(string(c.Value), "forbidden") {
				return Decision{}, fault.At(fault.Invalid, c.Key, "this kind is forbidden")
			}
		}
		e, err := datastore.Get(ctx, store, "plugin/p", "count")
		if err != nil && !errors.Is(err, datastore.ErrNotFound) {
			return Decision{}, err
		}
		if asked == 1 { // somebody else changes what the owner has read
			if _, err := store.Commit(ctx, datastore.Txn{Ops: []datastore.Op{datastore.Put("plugin/p", "count", []byte("x"))}}); err != nil {
				t.Error(err)
			}
		}
		return Decision{Txn: datastore.Txn{Compares: []datastore.Compare{{Namespace: "plugin/p", Key: "count", Revision: e.Revision}},
			Ops: []datastore.Op{datastore.Put("plugin/p", "count", append(e.Value, 'y'))}}}, nil
	}
	a, _, set := nodes(t, owner)
	store = a.Store
	set1(t, a, set, "/rack:rack/slot=s", `{"name":"s"}`)
	if e, err := datastore.Get(t.Context(), store, "plugin/p", "count"); err != nil || string(e.Value) != "xy" || asked != 2 {
		t.Errorf("asked %d times, count %q, %v", asked, e.Value, err)
	}
	err := a.Set(t.Context(), set, "/rack:rack/slot=s/card=1", json.RawMessage(`{"id":"1","kind":"forbidden"}`))
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("got %v", err)
	}
	if text, _ := a.Get(t.Context(), set, "/rack:rack/slot=s/card=1"); text != nil {
		t.Errorf("it was written: %s", text)
	}
}

// Who loses against others all the time learns who was first, and when.
func TestAConflictNamesWhoWasFirst(t *testing.T) {
	a, b, set := nodes(t, nil)
	set1(t, a, set, "/rack:rack/slot=s", `{"name":"s"}`)
	path, err := ParseText(set, "/rack:rack/slot=s")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	eve := caller.With(t.Context(), caller.Caller{User: "eve"})
	err = a.Update(t.Context(), set, func(d *Draft) error {
		if _, err := d.Load(path); err != nil {
			return err
		}
		n++
		if err := b.Set(eve, set, "/rack:rack/slot=s", json.RawMessage(fmt.Sprintf(`{"name":"s","tag":["%d"]}`, n))); err != nil {
			return err
		}
		return d.ApplyText([]TextEdit{{Path: "/rack:rack/slot=s", Value: []byte(`{"name":"s","tag":["mine"]}`)}})
	})
	if fault.KindOf(err) != fault.InUse || !strings.Contains(err.Error(), "by eve at 20") {
		t.Errorf("got %v", err)
	}
}

// A store that never answers does not keep a writer for ever.
func TestAWriteIsAnsweredWhenTheStoreIsNot(t *testing.T) {
	a, _, set := nodes(t, nil)
	answer := make(chan struct{})
	defer close(answer)
	a.Store = datastore.Bound(silent{a.Store, answer}, 10*time.Millisecond)
	err := a.Set(t.Context(), set, "/rack:rack/slot=s", json.RawMessage(`{"name":"s"}`))
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "not known whether") {
		t.Errorf("got %v", err)
	}
}

// silent is a store that takes writes and does not answer them.
type silent struct {
	datastore.Store
	answer <-chan struct{}
}

func (s silent) Commit(context.Context, datastore.Txn) (datastore.Revision, error) {
	<-s.answer
	return 0, errors.New("too late")
}

// A tree that is made of another is written with it: in one transaction, checked against its
// module, and decided again when somebody else was faster.
func TestWhatIsMadeOfATreeIsWrittenWithIt(t *testing.T) {
	var edits func(changes []Change) []TextEdit
	a, b, set := nodes(t, func(_ context.Context, _ datastore.Revision, changes []Change) (Decision, error) {
		return Decision{Edits: edits(changes)}, nil
	})
	lost := false
	edits = func(changes []Change) (out []TextEdit) {
		for _, c := range changes {
			if id, ok := strings.CutPrefix(c.Key, "/rack:rack/slot="); ok {
				out = append(out, TextEdit{Path: "/rack:host=" + id, Value: []byte(`{"id":"` + id + `","kind":"slot"}`), Delete: c.Deleted})
			}
		}
		if !lost {
			lost = true
			set1(t, b, set, "/rack:host=s", `{"id":"s","kind":"by others"}`)
		}
		return out
	}
	set1(t, a, set, "/rack:rack/slot=s", `{"name":"s"}`)
	revisions := map[datastore.Revision]bool{}
	err := a.Store.View(t.Context(), func(sn datastore.Snapshot) error {
		for _, key := range []string{"/rack:rack/slot=s", "/rack:host=s"} {
			e, err := sn.Get(ConfigNamespace, key)
			if err != nil {
				return err
			}
			revisions[e.Revision] = true
		}
		return nil
	})
	if err != nil || len(revisions) != 1 {
		t.Errorf("they are of the revisions %v, %v", revisions, err)
	}
	if text, err := a.Get(t.Context(), set, "/rack:host=s"); err != nil || !strings.Contains(string(text), `"slot"`) {
		t.Errorf("got %s, %v", text, err)
	}
	set1(t, a, set, "/rack:rack/slot=s", "")
	if text, err := a.Get(t.Context(), set, "/rack:host=s"); err != nil || text != nil {
		t.Errorf("it is still there: %s, %v", text, err)
	}
	edits = func([]Change) []TextEdit {
		return []TextEdit{{Path: "/rack:host=x", Value: []byte(`{"id":"x","what":1}`)}}
	}
	if err := a.Set(t.Context(), set, "/rack:rack/slot=s", json.RawMessage(`{"name":"s"}`)); err == nil {
		t.Error("an edit that its module forbids was written")
	}
	if text, _ := a.Get(t.Context(), set, "/rack:rack/slot=s"); text != nil {
		t.Errorf("the change was made without what belongs to it: %s", text)
	}
}
