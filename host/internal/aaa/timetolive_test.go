package aaa

import (
	"strings"
	"testing"
	"time"
)

func TestTimeToLive(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"":            6 * time.Minute,
		"<snapshot/>": 6 * time.Minute,
		"<a><b:timeToLive xmlns:b='x'> 5000 </b:timeToLive></a>": 5 * time.Second,
	} {
		if got, err := timeToLive("f.xml", []byte(text)); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"<a>\n<timeToLive>x</timeToLive></a>":                             "f.xml:2: timeToLive takes milliseconds",
		"<a><timeToLive>0</timeToLive></a>":                               "f.xml:1: timeToLive takes milliseconds",
		"<a>\n<timeToLive>1</timeToLive>\n<timeToLive>1</timeToLive></a>": "f.xml:3: timeToLive is already set at line 2",
		"<a>":             "f.xml:1: this is not XML",
		"<a><timeToLive>": "f.xml:1: timeToLive",
	} {
		if _, err := timeToLive("f.xml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzTimeToLive(f *testing.F) {
	f.Add([]byte("<a><timeToLive>1</timeToLive></a>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := timeToLive("f", data); err == nil && d <= 0 {
			t.Fatalf("a life of %v", d)
		}
	})
}
