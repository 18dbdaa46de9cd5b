package restconf

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkLongList reads a list of 10,000 entries.
func BenchmarkLongList(b *testing.B) {
	f := newFixture(b)
	var t strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&t, `{"name":"sw%05d","port":%d},`, i, i%1000)
	}
	f.want(201, "", "PUT", lab, `{"inventory":{"device":[`+strings.TrimSuffix(t.String(), ",")+`]}}`)
	for _, accept := range []string{"application/yang-data+json", "application/yang-data+xml"} {
		b.Run(accept[len("application/yang-data+"):], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.want(200, "", "GET", lab+"?content=config", "", "Accept: "+accept)
			}
		})
	}
}
