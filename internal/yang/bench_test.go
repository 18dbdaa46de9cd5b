package yang

import "testing"

var benchBody = []byte(`{"input":{"node-id":158969157063648,"vlan-id":42,"vlan-name":"engineering-north"}}`)

func BenchmarkDecodeInput(b *testing.B) {
	rpc := testSet(b).RPC("every", "simple")
	b.ReportAllocs()
	b.SetBytes(int64(len(benchBody)))
	for b.Loop() {
		if _, err := rpc.DecodeInput(benchBody, Options{Lenient: true, Defaults: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeInput200(b *testing.B) {
	rpc := testSet(b).RPC("every", "all")
	body := []byte(`{"input":{"i64":158969157063648,"names":["north","south"],"left":[null],"colour":"green","kind":"near","item":[{"id":1,"kind":"a","port":5},{"id":2,"kind":"b","port":6}],"share":10,"text":"abcd","np":{}}}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := rpc.DecodeInput(body, Options{Lenient: true, Defaults: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendOutput(b *testing.B) {
	rpc := testSet(b).RPC("every", "all")
	out := []byte(`{"big":18446744073709551615,"small":3,"entry":[{"id":5,"ports":[1,2,3]},{"id":6,"ports":[4,5,6]}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rpc.AppendOutput(nil, out, Canonical); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		testSet(b)
	}
}
