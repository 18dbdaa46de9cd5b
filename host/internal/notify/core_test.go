package notify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ctl.internal/host/internal/troubles"
)

var began = time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)

// world is a core with what it reported, and a clock.
type world struct {
	core *core
	now  time.Time
	k    known
	list map[string]troubles.Entry
	ids  map[string]bool
}

func newWorld(rules []Rule, targets map[string]group) *world {
	return &world{
		core: newCore(rules, targets),
		now:  began,
		k:    known{reported: map[place]reported{}, room: map[string]int{}},
		list: map[string]troubles.Entry{},
		ids:  map[string]bool{},
	}
}

// trouble is an error since now, unless its kind begins with "w-".
func (w *world) trouble(id, kind string, change ...func(*troubles.Entry)) {
	e := troubles.Entry{ID: id, Node: troubles.AllNodes, Reporter: "controller"}
	e.Kind, e.Resource, e.Since, e.Cause = kind, "/x="+id, w.now, "it broke"
	e.Warning = strings.HasPrefix(kind, "w-")
	for _, c := range change {
		c(&e)
	}
	w.list[id] = e
}

// step lets time go by and returns what is reported then.
func (w *world) step(t *testing.T, d time.Duration) string {
	t.Helper()
	w.now = w.now.Add(d)
	var list []troubles.Entry
	for _, id := range slices.Sorted(maps.Keys(w.list)) {
		list = append(list, w.list[id])
	}
	for target := range w.core.targets {
		if _, set := w.k.room[target]; !set {
			w.k.room[target] = maxQueued
		}
	}
	due, _ := w.core.decide(w.now, list, w.k)
	var out []string
	for _, target := range slices.Sorted(maps.Keys(due)) {
		for _, c := range due[target] {
			if c.reported == nil {
				delete(w.k.reported, c.place)
			} else {
				w.k.reported[c.place] = *c.reported
			}
			if c.event == nil {
				continue
			}
			if w.ids[c.event.ID] {
				t.Errorf("the id of %+v was used before", c.event)
			}
			w.ids[c.event.ID] = true
			out = append(out, fmt.Sprintf("%s %s %s %s", target, c.event.Event, c.trouble, c.event.Severity))
		}
	}
	return strings.Join(out, ", ")
}

func (w *world) wants(t *testing.T, d time.Duration, want string) {
	t.Helper()
	if got := w.step(t, d); got != want {
		t.Errorf("at %s: %q, want %q", w.now.Format("15:04:05"), got, want)
	}
}

var everything = Rule{Targets: []string{"a"}, After: time.Minute, Repeat: time.Hour}

func with(change func(*Rule)) []Rule {
	r := everything
	change(&r)
	return []Rule{r}
}

// A trouble is reported when it has lasted, again when it lasts, and once that it is over.
func TestRaisedRepeatedCleared(t *testing.T) {
	w := newWorld([]Rule{everything}, map[string]group{"a": {}})
	w.trouble("1", "link-lost")
	w.wants(t, 59*time.Second, "")
	w.wants(t, time.Second, "a raised 1 error")
	w.wants(t, 59*time.Minute, "")
	w.wants(t, time.Minute, "a raised 1 error")
	w.wants(t, time.Hour, "a raised 1 error")
	if e := w.k.reported[place{"a", "1"}].Last; e.Repeat != 2 || !e.Since.Equal(began) {
		t.Errorf("%+v", e)
	}
	delete(w.list, "1")
	w.wants(t, time.Second, "")
	w.wants(t, time.Minute, "a cleared 1 error")
	w.wants(t, 10*time.Hour, "")
	w.trouble("1", "link-lost")
	w.wants(t, time.Minute, "a raised 1 error")
}

// What comes and goes, or goes and comes, within the time of the rule is not reported.
func TestShortTroublesAreNotTold(t *testing.T) {
	w := newWorld([]Rule{everything}, map[string]group{"a": {}})
	w.trouble("1", "link-lost")
	w.wants(t, 30*time.Second, "")
	delete(w.list, "1")
	w.wants(t, time.Hour, "")
	w.trouble("1", "link-lost")
	w.wants(t, time.Minute, "a raised 1 error")
	delete(w.list, "1")
	w.wants(t, 30*time.Second, "")
	w.trouble("1", "link-lost")
	w.wants(t, time.Minute, "")
	delete(w.list, "1")
	w.wants(t, 30*time.Second, "")
	w.wants(t, 30*time.Second, "")
	w.wants(t, 30*time.Second, "a cleared 1 error")
}

// A trouble whose source gives a time in the future is reported all the same.
func TestTimeInTheFuture(t *testing.T) {
	w := newWorld([]Rule{everything}, map[string]group{"a": {}})
	w.trouble("1", "link-lost", func(e *troubles.Entry) { e.Since = began.Add(1000 * time.Hour) })
	w.wants(t, 0, "")
	w.wants(t, time.Minute, "a raised 1 error")
}

// Who has acknowledged or silenced a trouble hears no more of it but its end.
func TestAcknowledgedAndSilenced(t *testing.T) {
	w := newWorld([]Rule{everything}, map[string]group{"a": {}})
	known := func(e *troubles.Entry) { e.Acknowledged = &troubles.Mark{By: "kim@sdn"} }
	silent := func(e *troubles.Entry) { e.Silenced = &troubles.Mark{By: "kim@sdn"} }
	since := func(e *troubles.Entry) { e.Since = began }
	w.trouble("1", "link-lost")
	w.trouble("2", "link-lost", known)
	w.trouble("3", "link-lost", silent)
	w.trouble("4", "link-lost")
	w.wants(t, time.Minute, "a raised 1 error, a raised 4 error")
	w.trouble("1", "link-lost", known, since)
	w.trouble("4", "link-lost", silent, since)
	w.wants(t, time.Minute, "a acknowledged 1 error")
	if e := w.k.reported[place{"a", "1"}].Last; e.By != "kim@sdn" {
		t.Errorf("%+v", e)
	}
	w.wants(t, 24*time.Hour, "")
	w.trouble("1", "link-lost", since) // it is taken back: reminders go on
	w.trouble("3", "link-lost", since) // the silence has ended
	w.wants(t, time.Minute, "a raised 3 error")
	w.wants(t, time.Hour, "a raised 1 error, a raised 3 error")
	clear(w.list)
	w.wants(t, time.Second, "")
	w.wants(t, time.Minute, "a cleared 1 error, a cleared 3 error, a cleared 4 error")
}

// A rule chooses by kind, severity and topology; the first that fits holds.
func TestRules(t *testing.T) {
	restricted := func(e *troubles.Entry) { e.Restricted = true }
	inLab := func(e *troubles.Entry) { e.Topology = "lab" }
	for name, c := range map[string]struct {
		rules []Rule
		want  string
	}{
		"all":        {with(func(*Rule) {}), "1 2 4"},
		"named all":  {with(func(r *Rule) { r.Kinds = []string{"all"} }), "1 2 4"},
		"kind":       {with(func(r *Rule) { r.Kinds = []string{"link-lost"} }), "1"},
		"restricted": {with(func(r *Rule) { r.Kinds = []string{"lockout"} }), "3"},
		"errors":     {with(func(r *Rule) { r.ErrorsOnly = true }), "1 4"},
		"topology":   {with(func(r *Rule) { r.Topology = "lab" }), "4"},
		"no target":  {with(func(r *Rule) { r.Targets = nil }), ""},
		"none":       {nil, ""},
		"first": {append(
			with(func(r *Rule) { r.Kinds, r.After = []string{"link-lost"}, 24*time.Hour }),
			everything,
		), "2 4"},
	} {
		w := newWorld(c.rules, map[string]group{"a": {}})
		w.trouble("1", "link-lost")
		w.trouble("2", "w-plugin")
		w.trouble("3", "lockout", restricted)
		w.trouble("4", "node-lost", inLab)
		var got []string
		for _, line := range strings.Split(w.step(t, time.Minute), ", ") {
			if f := strings.Fields(line); len(f) == 4 {
				got = append(got, f[2])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// A warning that becomes an error is reported at once, with what it was.
func TestWorse(t *testing.T) {
	w := newWorld(with(func(r *Rule) { r.Repeat = 0 }), map[string]group{"a": {}})
	w.trouble("1", "w-plugin")
	w.wants(t, time.Minute, "a raised 1 warning")
	w.trouble("1", "w-plugin", func(e *troubles.Entry) { e.Warning, e.Since = false, began })
	w.wants(t, time.Second, "a raised 1 error")
	if e := w.k.reported[place{"a", "1"}].Last; e.Before != "warning" {
		t.Errorf("%+v", e)
	}
	w.wants(t, 100*time.Hour, "")
}

// A target that takes many at once waits for more, from the first on.
func TestGrouped(t *testing.T) {
	rules := with(func(r *Rule) { r.Targets = []string{"a", "mail"} })
	w := newWorld(rules, map[string]group{"a": {}, "mail": {wait: 10 * time.Second, most: 50}})
	w.trouble("1", "link-lost")
	w.wants(t, 5*time.Second, "")
	w.trouble("2", "link-lost")
	w.wants(t, 55*time.Second, "a raised 1 error")
	w.wants(t, 5*time.Second, "a raised 2 error")
	w.wants(t, 5*time.Second, "mail raised 1 error, mail raised 2 error")
	w.wants(t, time.Minute, "")
}

// What a full queue does not take is due when it has room; what is over by then is not reported at all.
func TestFullQueue(t *testing.T) {
	w := newWorld([]Rule{everything}, map[string]group{"a": {}})
	for _, id := range []string{"1", "2", "3"} {
		w.trouble(id, "link-lost")
	}
	w.k.room["a"] = 1
	w.wants(t, time.Minute, "a raised 1 error")
	w.k.room["a"] = 0
	w.wants(t, time.Minute, "")
	delete(w.list, "2")
	w.k.room["a"] = 5
	w.wants(t, time.Minute, "a raised 3 error")
}

// A core of a new process goes on with what is stored, and says nothing twice.
func TestNewProcess(t *testing.T) {
	w := newWorld([]Rule{everything}, map[string]group{"a": {}})
	w.trouble("1", "link-lost")
	w.trouble("2", "link-lost")
	w.wants(t, time.Minute, "a raised 1 error, a raised 2 error")
	delete(w.list, "2")
	w.core = newCore([]Rule{everything}, map[string]group{"a": {}})
	w.wants(t, time.Minute, "")
	w.wants(t, time.Minute, "a cleared 2 error")
}

// The core says when to look again.
func TestWhenToLookAgain(t *testing.T) {
	w := newWorld([]Rule{everything}, map[string]group{"a": {}})
	w.trouble("1", "link-lost")
	w.k.room["a"] = 9
	list := []troubles.Entry{w.list["1"]}
	if _, next := w.core.decide(began, list, w.k); !next.Equal(began.Add(time.Minute)) {
		t.Errorf("it is due at %s", next)
	}
	w.wants(t, time.Minute, "a raised 1 error")
	if _, next := w.core.decide(w.now, list, w.k); !next.Equal(w.now.Add(time.Hour)) {
		t.Errorf("it is repeated at %s", next)
	}
}
