package commit

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var messages = map[string]string{
	"plain":                  "Subject\n\nBody\n\nCo-authored-by: A <a@x>\nSigned-off-by: B <b@x>\n",
	"blank before the colon": "Subject\n\nBody\n\nCo-authored-by : A <a@x>\n",
	"running text":           "Subject\n\nCo-authored-by: A <a@x> wrote most of it,\nand I the rest.\n\nBody\n",
	"not last":               "Subject\n\nCo-authored-by: A <a@x>\n\nBody\n",
	"only a subject":         "Co-authored-by: A <a@x>\n",
	"second paragraph":       "Subject\n\nCo-authored-by: A <a@x>\n",
	"text among them":        "Subject\n\nCo-authored-by: A <a@x>\nsome text\n",
	"text with a sign-off":   "Subject\n\nsome text\nmore text\nCo-authored-by: A <a@x>\nSigned-off-by: B <b@x>\n",
	"much text, a sign-off":  "Subject\n\none\ntwo\nthree\nfour\nfive\nsix\nseven\nSigned-off-by: B <b@x>\nCo-authored-by: A <a@x>\n",
	"cherry":                 "Subject\n\nBody\n\nChange-Id: I1\n(cherry picked from commit 0123)\nCo-authored-by: A <a@x>\n",
	"continuation":           "Subject\n\nFixes: a long\n  line\nCo-authored-by: A\n <a@x>\n",
	"leading continuation":   "Subject\n\n indented\nCo-authored-by: A <a@x>\n",
	"blank lines after":      "Subject\n\nCo-authored-by: A <a@x>\n\n\n",
	"case":                   "Subject\n\nCO-AUTHORED-BY: A <a@x>\nalso-by: b@x\n",
	"a link":                 "Subject\n\nhttps://example.org/x\n",
	"odd key":                "Subject\n\nSee_also: x\nCo-authored-by: A <a@x>\n",
	"empty":                  "",
	"blank subject":          "\n\nCo-authored-by: A <a@x>\n",
}

// git itself reads the same trailers.
func TestTrailersAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: the peer git is not installed (test/peers/install.sh installs it as root)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, message := range messages {
		cmd := exec.CommandContext(ctx, git, "interpret-trailers", "--parse", "--no-divider")
		cmd.Stdin = strings.NewReader(message)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got strings.Builder
		for _, trailer := range Trailers([]byte(message)) {
			if strings.HasPrefix(string(trailer.Key), "(") {
				continue
			}
			got.WriteString(string(trailer.Key) + ": " + string(trailer.Value) + "\n")
		}
		want := strings.ReplaceAll(string(out), "(cherry picked from commit 0123)\n", "")
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCoAuthors(t *testing.T) {
	for message, want := range map[string]string{
		"Subject\n\nco-authored-by: A B <A@x.org>\nAlso-By: b@y.org\nAlso-By: nobody\n": "A B|A@x.org,|b@y.org",
		"Subject\n\nCo-authored-by : C <c@x.org>\n":                                     "C|c@x.org",
		"Subject\n\nAlso-By: c@z.org was there\n\nBody\n":                               "",
		"Subject\n\n text Also-By: c@z.org\n":                                           "",
	} {
		var got []string
		c := Commit{Message: []byte(message)}
		for _, co := range c.CoAuthors() {
			got = append(got, string(co.Name)+"|"+string(co.Email))
		}
		if s := strings.Join(got, ","); s != want {
			t.Errorf("%q: %s, want %s", message, s, want)
		}
	}
}

func FuzzTrailers(f *testing.F) {
	for _, m := range messages {
		f.Add([]byte(m))
	}
	f.Fuzz(func(_ *testing.T, message []byte) {
		c := Commit{Message: message}
		c.CoAuthors()
	})
}
