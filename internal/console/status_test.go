package console

import (
	"testing"
	"time"
)

func TestProgressHasARate(t *testing.T) {
	var r Rate
	at := time.Unix(0, 0)
	for _, c := range []struct {
		after time.Duration
		p     Progress
		want  string
	}{
		{0, Progress{"read", 10, 100}, "read 10/100 (10%)"},
		{500 * time.Millisecond, Progress{"read", 20, 100}, "read 20/100 (20%)"}, // too early to say
		{2 * time.Second, Progress{"read", 50, 100}, "read 50/100 (50%), 20/s, 3s left"},
		{3 * time.Second, Progress{"read", 70, 0}, "read 70, 20/s"},
		{4 * time.Second, Progress{"write", 1, 2}, "write 1/2 (50%)"}, // other work
		{6 * time.Second, Progress{}, ""},
		{7 * time.Second, Progress{"waiting", 0, 0}, "waiting"},
		{9 * time.Second, Progress{"waiting", 0, 0}, "waiting, 2 s"},
	} {
		if got := r.Text(c.p, at.Add(c.after)); got != c.want {
			t.Errorf("after %v: %q, want %q", c.after, got, c.want)
		}
	}
}
