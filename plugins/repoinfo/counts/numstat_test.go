package counts

import (
	"bytes"
	"testing"

	"ctl.internal/plugins/repoinfo/commit"
)

func read(text []byte, hashes [][]byte) (map[int]commit.Lines, error) {
	got := map[int]commit.Lines{}
	p := numstat{hashes: hashes, open: []int{0, 1, 2}[:len(hashes)], result: func(i int, l commit.Lines, _ []commit.File) { got[i] = l }}
	for line := range bytes.Lines(text) {
		if err := p.parseLine(bytes.TrimSuffix(line, []byte{'\n'})); err != nil {
			return got, err
		}
	}
	p.flushCommit()
	return got, nil
}

func TestNumstat(t *testing.T) {
	h := [][]byte{[]byte("aaaa"), []byte("bbbb"), []byte("cccc")}
	got, err := read([]byte("aaaa\n1\t2\tx\n-\t-\tbin\n3\t0\t\"t\\ta\\tb\"\ncccc\n"), h)
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != (commit.Lines{Insertions: 4, Deletions: 2, Files: 3}) {
		t.Errorf("first: %+v", got[0])
	}
	if _, known := got[1]; known || got[2] != (commit.Lines{}) {
		t.Errorf("omitted and empty commits: %+v", got)
	}
	for _, bad := range []string{"dddd\n", "1\t2\tx\n", "aaaa\nx\ty\tz\n", "aaaa\n1\t2\n", "aaaa\n-\t2\tz\n", "bbbb\naaaa\n", "aaaa\n99999999999999999999\t1\tz\n"} {
		if _, err := read([]byte(bad), h); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzNumstat(f *testing.F) {
	f.Add([]byte("aaaa\n1\t2\tx\n-\t-\tbin\nbbbb\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := read(text, [][]byte{[]byte("aaaa"), []byte("bbbb")})
		if err == nil && len(got) > 2 {
			t.Errorf("%d counts of two commits", len(got))
		}
	})
}
