package service

import (
	"context"
	"strings"
	"testing"

	"ctl.internal/sdk/fault"
)

// Why a table could not be read decides whether the computed next hop counts; of what is not known the result says so.
func TestATableThatIsNotShown(t *testing.T) {
	for name, x := range map[string]struct {
		err              error
		ended            bool
		computed, result string
	}{
		"the model has none": {
			fault.New(fault.Unsupported, "no table"), false,
			"no table", "success",
		},
		"the session is down": {
			fault.New(fault.Unavailable, "down"), false,
			"", "unknown: down",
		},
		"the time is over": {
			context.DeadlineExceeded, true,
			"", "unknown: the time of the trace was over",
		},
	} {
		got := notShown(x.err, x.ended)
		way := traced{Unknown: got.unknown}
		if got.computed != x.computed || !strings.HasPrefix(way.result(), x.result) {
			t.Errorf("%s: %+v, %s", name, got, way.result())
		}
	}
}

// What is not known is neither a success nor a failure in the summary.
func TestSummaryOfATrace(t *testing.T) {
	reply := func(results ...string) string {
		x := &echoReply{Trace: &hopResults{}}
		for _, r := range results {
			x.Trace.Targets = append(x.Trace.Targets, hopResult{Node: "r", Result: r})
		}
		return x.summary()
	}
	for want, results := range map[string][]string{
		"success":                            {"success", "success; the next hop of router r1 is computed: it shows none"},
		"1 of 2 failed: r: failed! no":       {"success", "failed! no"},
		"1 of 1 not known: r: unknown: down": {"unknown: down"},
		"1 of 2 failed: r: failed! no; 1 of 2 not known: r: unknown: down": {"failed! no", "unknown: down"},
	} {
		if got := reply(results...); got != want {
			t.Errorf("%v: %s, want %s", results, got, want)
		}
	}
}
