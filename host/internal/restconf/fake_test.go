package restconf

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/host/internal/datastore"
	"ctl.internal/host/internal/datastore/badger"
	"ctl.internal/host/internal/datastore/storetest"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/operations"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a Handler over memory stores and a plugin that answers from a table.
type fixture struct {
	*Handler
	t       testing.TB
	config  datastore.Store
	oper    datastore.Store
	now     *Installed
	answers map[string]func(input string) (string, error)
	clock   time.Time
}

func (f *fixture) Installed() *Installed { return f.now }

func (f *fixture) Invoke(_ context.Context, module, rpc string, input []byte) ([]byte, error) {
	out, err := f.answers[module+":"+rpc](string(input))
	return []byte(out), err
}

// InvokeAction answers by the name of the action; its path is before the input.
func (f *fixture) InvokeAction(_ context.Context, r *operations.Request) ([]byte, error) {
	out, err := f.answers[r.Name()](r.Path + " " + string(r.Input))
	return []byte(out), err
}

var schema = sync.OnceValues(func() (*yang.Set, error) {
	src, err := yang.FromFS("lab", os.DirFS("."), "testdata/yang")
	if err != nil {
		return nil, err
	}
	return yang.Load(src)
})

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureOn(t, storetest.New(storetest.Options{}))
}

// onDisk makes a fixture whose configuration lies on disk.
func onDisk(t testing.TB) *fixture {
	t.Helper()
	s, err := badger.Open(badger.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return newFixtureOn(t, s)
}

// engines runs a test over every engine that may keep the configuration.
func engines(t *testing.T, test func(*testing.T, *fixture)) {
	t.Run("memory", func(t *testing.T) { test(t, newFixture(t)) })
	t.Run("badger", func(t *testing.T) { test(t, onDisk(t)) })
}

// withModules makes a fixture whose schema are modules given as text.
func withModules(t testing.TB, modules ...string) *fixture {
	t.Helper()
	src := yang.Source{Name: "test", Files: map[string][]byte{}}
	for i, m := range modules {
		src.Files[fmt.Sprintf("module%d.yang", i)] = []byte(m)
	}
	set, err := yang.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	f.now.Schema = set
	return f
}

func newFixtureOn(t testing.TB, config datastore.Store) *fixture {
	t.Helper()
	set, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		t: t, config: config, oper: config, now: &Installed{Schema: set},
		answers: map[string]func(string) (string, error){}, clock: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC),
	}
	t.Cleanup(func() {
		if err := f.config.Close(); err != nil {
			t.Error(err)
		}
	})
	f.Handler = New(Options{Catalog: f, Invoker: f, Store: f.config, Now: func() time.Time { return f.clock },
		Readable: func(context.Context) func(string) (bool, bool) { return nil },
		Still:    func(context.Context) bool { return true },
		Waiting:  func(context.Context) func() { return func() {} }})
	return f
}

// answer is what a client sees.
type answer struct {
	code   int
	header http.Header
	body   string
}

// do sends a request; headers come as "Name: value".
func (f *fixture) do(method, target, body string, headers ...string) answer {
	f.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	a := answer{w.Code, w.Header(), w.Body.String()}
	if t := a.header.Get("Content-Type"); a.body != "" && strings.Contains(t, "json") && !json.Valid([]byte(a.body)) {
		f.t.Errorf("%s %s: the body is not JSON: %s", method, target, a.body)
	}
	return a
}

// want checks the status and, unless it is empty, the body.
func (f *fixture) want(code int, body, method, target, send string, headers ...string) answer {
	f.t.Helper()
	a := f.do(method, target, send, headers...)
	if a.code != code || body != "" && a.body != body {
		f.t.Errorf("%s %s %s\n got %d %s\nwant %d %s", method, target, send, a.code, a.body, code, body)
	}
	return a
}
