package restconf

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	lab  = "/rests/data/lab:inventory"
	old  = "/restconf/config/lab:inventory"
	gone = `"error-tag":"invalid-value"`
)

func TestLifeOfAnEntry(t *testing.T) { engines(t, lifeOfAnEntry) }

func lifeOfAnEntry(t *testing.T, f *fixture) {
	f.want(404, "", "GET", lab+"/device=sw1", "")
	a := f.want(201, "", "PUT", lab+"/device=sw1", `{"lab:device":[{"name":"sw1","address":"10.0.0.1"}]}`)
	if l := a.header.Get("Location"); l != lab+"/device=sw1" {
		t.Errorf("Location %q", l)
	}
	f.want(200, `{"lab:device":[{"name":"sw1","address":"10.0.0.1"}]}`, "GET", lab+"/device=sw1", "")
	f.want(200, `{"device":[{"name":"sw1","address":"10.0.0.1"}]}`, "GET", old+"/device/sw1", "")
	f.want(200, `{"device":[{"name":"sw1","address":"10.0.0.1"}]}`, "GET", old+"/device=sw1/", "")
	f.want(204, "", "PUT", lab+"/device=sw1", `{"device":[{"name":"sw1","port":162}]}`)
	f.want(200, `{"lab:device":[{"name":"sw1","port":162}]}`, "GET", lab+"/device=sw1", "")
	f.want(204, "", "PATCH", lab+"/device=sw1", `{"device":[{"name":"sw1","address":"a"}]}`)
	f.want(200, "", "PATCH", old+"/device/sw1", `{device:[{name:sw1,slot:[{shelf:1,number:'2',card:x}]}]}`)
	f.want(200, `{"lab:device":[{"name":"sw1","port":162,"address":"a","slot":[{"shelf":1,"number":2,"card":"x"}]}]}`, "GET", lab+"/device=sw1", "")
	f.want(200, `{"lab:slot":[{"shelf":1,"number":2,"card":"x"}]}`, "GET", lab+"/device=sw1/slot=1,2", "")
	f.want(200, `{"slot":[{"shelf":1,"number":2,"card":"x"}]}`, "GET", old+"/device/sw1/slot/1/2", "")
	f.want(200, `{"lab:card":"x"}`, "GET", lab+"/device=sw1/slot=1,2/card", "")
	f.want(204, "", "PUT", lab+"/device=sw1/slot=1,2/card", `{"lab:card":"y"}`)
	f.want(200, `{"lab:card":"y"}`, "GET", lab+"/device=sw1/slot=1,2/card", "")
	f.want(204, "", "DELETE", lab+"/device=sw1/slot=1,2/card", "")
	f.want(409, "", "DELETE", lab+"/device=sw1/slot=1,2/card", "")
	f.want(200, `{"lab:inventory":{"device":[{"name":"sw1","port":162,"address":"a","slot":[{"shelf":1,"number":2}]}]}}`, "GET", lab, "")
	f.want(200, "", "DELETE", old+"/device/sw1", "")
	a = f.want(404, "", "GET", lab+"/device=sw1/slot=1,2", "")
	if !strings.Contains(a.body, gone) {
		t.Error(a.body)
	}
	f.want(409, "", "DELETE", lab+"/device=sw1", "")
}

func TestPostCreates(t *testing.T) {
	f := newFixture(t)
	a := f.want(201, "", "POST", "/rests/data", `{"lab:inventory":{"note":"n"}}`)
	if l := a.header.Get("Location"); l != lab {
		t.Errorf("Location %q", l)
	}
	f.want(409, "", "POST", "/rests/data", `{"lab:inventory":{}}`)
	a = f.want(201, "", "POST", lab, `{"lab:device":[{"name":"a/b,c=d"}]}`)
	if l := a.header.Get("Location"); l != lab+"/device=a%2Fb%2Cc%3Dd" {
		t.Errorf("Location %q", l)
	}
	f.want(200, `{"lab:device":[{"name":"a/b,c=d"}]}`, "GET", lab+"/device=a%2Fb%2Cc%3Dd", "")
	f.want(200, "", "GET", old+"/device/a%2Fb%2Cc%3Dd", "")
	f.want(409, "", "POST", lab, `{"lab:device":[{"name":"a/b,c=d"}]}`)
	f.want(201, "", "POST", lab, `{"lab:owner":"me"}`)
	f.want(409, "", "POST", lab, `{"lab:owner":"me"}`)
	f.want(400, "", "POST", lab, `{"lab:owner":"me","note":"x"}`)
	f.want(400, "", "POST", lab, `{"lab:nothing":"me"}`)
	f.want(405, "", "POST", lab+"/owner", `{"x":1}`)
	f.want(201, "", "POST", old+"/device/new", `{"device":[{"name":"new"}]}`)
	f.want(200, `{"lab:inventory":{"note":"n","owner":"me","device":[{"name":"a/b,c=d"},{"name":"new"}]}}`, "GET", lab, "")
}

func TestOneEntryIsOneDocument(t *testing.T) { engines(t, oneEntryIsOneDocument) }

func oneEntryIsOneDocument(t *testing.T, f *fixture) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `{"name":"sw%03d"},`, i)
	}
	f.want(201, "", "PUT", lab, `{"lab:inventory":{"device":[`+strings.TrimSuffix(b.String(), ",")+`]}}`)
	before := f.config.Revision()
	f.want(204, "", "PATCH", lab+"/device=sw150", `{"device":[{"name":"sw150","port":7}]}`)
	if got := f.config.Revision(); got != before+1 {
		t.Errorf("the write took %d transactions", got-before)
	}
	if n := f.written(before); n != 2 { // the entry and the time of the last change
		t.Errorf("%d keys were written for a change of one entry", n)
	}
	// A replacement of the whole writes only what differs.
	before = f.config.Revision()
	all := strings.Replace(b.String(), `{"name":"sw007"}`, `{"name":"sw007","port":9}`, 1)
	all = strings.Replace(all, `{"name":"sw150"}`, `{"name":"sw150","port":7}`, 1)
	f.want(204, "", "PUT", lab, `{"lab:inventory":{"device":[`+strings.TrimSuffix(all, ",")+`]}}`)
	if n := f.written(before); n != 2 {
		t.Errorf("%d keys were written for a change of one entry", n)
	}
}

func TestValidityOfTheWhole(t *testing.T) {
	f := newFixture(t)
	f.want(201, "", "PUT", lab, `{"inventory":{"device":[{"name":"a","address":"1"},{"name":"b","address":"2"}]}}`)
	for _, c := range []struct {
		code                       int
		method, target, body, want string
	}{
		{412, "PUT", lab + "/device=c", `{"device":[{"name":"c","address":"1"}]}`, "earlier entry has the same address"},
		{412, "PATCH", lab + "/device=b", `{"device":[{"name":"b","address":"1"}]}`, "earlier entry has the same address"},
		{400, "PUT", lab + "/device=c", `{"device":[{"name":"d"}]}`, "differ from those of the path"},
		{400, "PUT", lab + "/device=c", `{"device":[]}`, "only the entry"},
		{400, "PUT", lab + "/device=c", `{"device":[{"name":"c","uptime":1}]}`, "this is state"},
		{400, "PUT", lab + "/device=a/name", `{"name":"z"}`, "a key cannot be changed"},
		{400, "DELETE", lab + "/device=a/name", ``, "a key cannot be deleted"},
		{400, "PUT", lab + "/limits", `{"limits":{}}`, `"error-path":"/lab:inventory/limits/most"`},
		{409, "PUT", lab + "/device=c", `{"device":[{"name":"c","peer":"nobody"}]}`, "refers to nothing"},
		{400, "PUT", lab + "/device=c", `{"device":[{"name":"c","port":70000}]}`, "/lab:inventory/device[name='c']/port"},
		{400, "PUT", lab + "/device=c", `{"note":"c"}`, "malformed-message"},
		{400, "GET", lab + "/device=a,b", "", "1 keys, the path names 2"},
		{400, "GET", lab + "/device=a/slot=1", "", "2 keys"},
		{400, "GET", lab + "/device=a/slot=x,1", "", "is not a whole number"},
		{400, "GET", "/rests/data/nowhere:x", "", "unknown-element"},
		{400, "GET", lab + "/bogus", "", "unknown-element"},
		{404, "PATCH", lab + "/device=zz", `{"device":[{"name":"zz"}]}`, "invalid-value"},
		{405, "DELETE", "/restconf/operational/lab:inventory", "", "operation-not-supported"},
		{405, "PUT", "/rests/data/lab:state", `{}`, "operation-not-supported"},
		{405, "DELETE", "/rests/data", "", "operation-not-supported"},
	} {
		a := f.do(c.method, c.target, c.body)
		if a.code != c.code || !strings.Contains(a.body, c.want) {
			t.Errorf("%s %s %s: got %d %s", c.method, c.target, c.body, a.code, a.body)
		}
	}
	f.want(200, `{"lab:inventory":{"device":[{"name":"a","address":"1"},{"name":"b","address":"2"}]}}`, "GET", lab, "")
	f.want(201, "", "PUT", lab+"/device=b/peer", `{"peer":"a"}`)
	a := f.want(409, "", "DELETE", lab+"/device=a", "")
	if !strings.Contains(a.body, "device[name='b']/peer") {
		t.Errorf("deleting what is referred to: %s", a.body)
	}
	f.want(204, "", "DELETE", lab+"/device=b", "")
	f.want(204, "", "DELETE", lab+"/device=a", "")
}

func TestConditions(t *testing.T) {
	f := newFixture(t)
	const target = lab + "/device=a"
	body := `{"device":[{"name":"a"}]}`
	f.want(412, "", "PUT", target, body, "If-Match: *")
	f.want(201, "", "PUT", target, body, "If-None-Match: *")
	f.want(412, "", "PUT", target, body, "If-None-Match: *")
	tag := f.do("GET", target+"?content=config", "").header.Get("ETag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	f.want(304, "", "GET", target+"?content=config", "", "If-None-Match: "+tag)
	f.want(201, "", "PUT", target+"/port", `{"port":1}`, "If-None-Match: \"x\"")
	f.want(412, "", "DELETE", target, "", "If-Match: "+tag)
	tag = f.do("GET", old+"/device/a", "").header.Get("ETag")
	f.want(412, "", "PUT", target, body, "If-Unmodified-Since: "+f.clock.Add(-10e9).Format(http.TimeFormat))
	f.want(304, "", "GET", old, "", "If-Modified-Since: "+f.clock.Format(http.TimeFormat))
	f.want(204, "", "DELETE", target, "", "If-Match: "+tag, "If-Unmodified-Since: "+f.clock.Format(http.TimeFormat))
}

// written counts the keys that transactions after a revision wrote.
func (f *fixture) written(after datastoreRevision) int { return countWrites(f.t, f.config, after) }
