package hostsvc_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"ctl.internal/host/internal/plugin/hostsvc"
	"ctl.internal/internal/wire"
	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/host"
)

// What a plugin finds wrong is taken whole, in bounds, and is known to be over when its process is.
func TestTroublesOfAPlugin(t *testing.T) {
	var got []*pluginv1.Trouble
	srv := listen(t, hostsvc.Services{
		Troubles: func(_ context.Context, plugin string, all []*pluginv1.Trouble) error {
			if plugin != "p" {
				t.Errorf("the plugin is %q", plugin)
			}
			got = all
			return nil
		},
	})
	c, err := host.NewClient(t.Context(), dial(t, srv))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if srv.Reports() {
		t.Error("it reports before it has reported")
	}
	long := strings.Repeat("r", 2000)
	since := time.Unix(1700000000, 0)
	good := host.Trouble{
		Kind:     "vlan-mismatch",
		Resource: "/a:b",
		Since:    since,
		Ends:     []host.TroubleEnd{{Node: "n", Port: "1"}},
	}
	if err := c.Troubles.Replace(t.Context(), []host.Trouble{good}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Kind != good.Kind || got[0].Since != since.UnixNano() || len(got[0].Ends) != 1 {
		t.Errorf("taken: %v", got)
	}
	for name, bad := range map[string]struct {
		all  []host.Trouble
		kind fault.Kind
	}{
		"a kind with a blank": {[]host.Trouble{{Kind: "a b", Resource: "r"}}, fault.Invalid},
		"no resource":         {[]host.Trouble{{Kind: "a"}}, fault.Invalid},
		"a long resource":     {[]host.Trouble{{Kind: "a", Resource: long}}, fault.Invalid},
		"many ends":           {[]host.Trouble{{Kind: "a", Resource: "r", Ends: make([]host.TroubleEnd, 3)}}, fault.TooBig},
		"a long further path": {[]host.Trouble{{Kind: "a", Resource: "r", Concerns: []string{long}}}, fault.TooBig},
		"a long topology":     {[]host.Trouble{{Kind: "a", Resource: "r", Topology: long}}, fault.TooBig},
		"a long port":         {[]host.Trouble{{Kind: "a", Resource: "r", Ends: []host.TroubleEnd{{Port: long}}}}, fault.TooBig},
		"many":                {make([]host.Trouble, 501), fault.TooBig},
	} {
		if err := c.Troubles.Replace(t.Context(), bad.all); fault.KindOf(err) != bad.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(got) != 1 {
		t.Errorf("what was refused was taken: %v", got)
	}
	if !srv.Reports() {
		t.Error("its process runs, and it does not report")
	}
	srv.RemoveToken("t1")
	if srv.Reports() {
		t.Error("its process has ended, and it reports")
	}
}

// The list of a process that ends is not taken any more when the one that replaces it has reported.
func TestTroublesOfAnOlderProcess(t *testing.T) {
	var got []string
	srv := listen(t, hostsvc.Services{
		Troubles: func(_ context.Context, _ string, all []*pluginv1.Trouble) error {
			got = append(got, all[0].Resource)
			return nil
		},
	})
	report := func(process, what string) {
		t.Helper()
		ctx := metadata.AppendToOutgoingContext(t.Context(), wire.MetaToken, process)
		conn, err := grpc.NewClient("unix://"+srv.Socket(),
			wire.DialOptions(grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, err = pluginv1.NewHostTroublesClient(conn).Replace(ctx, &pluginv1.ReplaceTroublesRequest{
			Troubles: []*pluginv1.Trouble{{Kind: "k", Resource: what}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if srv.HasReported() {
		t.Error("it has reported before it reports")
	}
	report("t1", "first")
	srv.AddToken("t2", 0)
	report("t1", "second")
	report("t2", "third")
	report("t1", "dropped")
	report("t2", "fourth")
	if want := []string{"first", "second", "third", "fourth"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if srv.RemoveToken("t1"); !srv.Reports() || !srv.HasReported() {
		t.Error("the new process does not report")
	}
}

// A controller without a list says so.
func TestNoListOfTroubles(t *testing.T) {
	c := serve(t, hostsvc.Services{})
	if err := c.Troubles.Replace(t.Context(), nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
}
