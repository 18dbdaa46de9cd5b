package device

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// said is a router that says this much, and then nothing.
type said struct {
	ssh.Channel
	*bytes.Reader
}

func (s said) Read(p []byte) (int, error) { return s.Reader.Read(p) }

// FuzzAnswer reads the answers of routers: their lines as they are seen in the end,
// without the prompt, or an error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{"r1#", "show x\r\nline\r\nr1#", "show x\r\n\x1b[2Kline\rother\r\n\rr1# ", "\x1b]0;title\x07r1#", "%bad\r\nr1(config)#", ""} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	prompt := regexp.MustCompile(`^[A-Za-z0-9._-]+(\([A-Za-z0-9-]+\))?[#>] ?$`)
	f.Fuzz(func(t *testing.T, data []byte, echo bool) {
		x := &terminal{ch: said{Reader: bytes.NewReader(data)}, prompt: prompt}
		text, err := x.readAnswer(echo)
		if err != nil && text != "" || strings.ContainsRune(text, '\r') || len(text) > len(data) {
			t.Errorf("%q: %q, %v", data, text, err)
		}
	})
}
