package openflow

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ctl.internal/plugins/openflow/ofp13"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/plugintest"
)

func TestMain(m *testing.M) {
	plugintest.ServeAsProgram("openflow", Options)
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	plugintest.Run(t, plugintest.Program(t, "openflow"), plugintest.WithConfig(map[string]any{"listen": "127.0.0.1:0"}))
}

// Whatever comes instead of OpenFlow ends its own connection, and harms no other.
func TestHostileBytes(t *testing.T) {
	p, listen := start(t, nil)
	good := join(t, dial(t, listen), 7)
	until(t, p, nodes("openflow:7"))
	hello := ofp13.Append(nil, 0, ofp13.Hello{Versions: 1 << 4})
	for name, raw := range map[string][]byte{
		"HTTP":                       []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n" + strings.Repeat("x", 70000)),
		"TLS":                        append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc}, make([]byte, 66000)...),
		"length below a header":      {4, 0, 0, 3, 0, 0, 0, 0},
		"HELLO of 1.0":               {1, 0, 0, 8, 0, 0, 0, 0},
		"no HELLO":                   ofp13.Append(nil, 0, ofp13.FeaturesReply{DatapathID: 7}),
		"features cut short":         append(bytes.Clone(hello), 4, 6, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0),
		"an auxiliary connection":    append(bytes.Clone(hello), ofp13.Append(nil, 1, ofp13.FeaturesReply{DatapathID: 8, Auxiliary: 1})...),
		"packet-in with a bad match": append(bytes.Clone(hello), 4, 10, 0, 32, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 0, 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, listen)
			_, _ = c.Write(raw) // may be cut off in the middle
			ended(t, c)
		})
	}
	half := dial(t, listen)
	if _, err := half.Write(hello[:5]); err != nil { // and no more ever
		t.Fatal(err)
	}
	good.send(0, ofp13.PortStatus{Reason: ofp13.PortAdded, Port: ofp13.Port{Number: 2, Name: "two"}})
	out := ""
	for !strings.Contains(out, "openflow:7:2") {
		var err error
		if out, err = p.Shell(t.Context(), "openflow:ports", []string{"openflow:7"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	until(t, p, nodes("openflow:7"))
}

func TestConnectionsAreLimited(t *testing.T) {
	p, listen := start(t, map[string]any{"limits": map[string]any{"connections": 2}})
	join(t, dial(t, listen), 1)
	join(t, dial(t, listen), 2)
	until(t, p, nodes("openflow:1", "openflow:2"))
	ended(t, dial(t, listen))
	until(t, p, nodes("openflow:1", "openflow:2"))
}

func TestEvents(t *testing.T) {
	h := plugintest.NewHost(t)
	_, listen := start(t, nil, plugintest.WithHost(h))
	c := dial(t, listen)
	join(t, c, 5)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	next := func(n int, want string) {
		t.Helper()
		e, err := h.Events(ctx, n)
		if err != nil || e[0].Stream != "openflow-topology" || string(e[0].Data) != want {
			t.Errorf("event %d: %v %+v, want %s", n, err, e, want)
		}
	}
	next(0, `{"openflow-topology:topology-changed":{"topology-id":"flow:1","added-node":["openflow:5"]}}`)
	c.Close()
	next(1, `{"openflow-topology:topology-changed":{"topology-id":"flow:1","removed-node":["openflow:5"]}}`)
}

func TestCommands(t *testing.T) {
	p, listen := start(t, nil)
	for name, want := range map[string]string{"openflow:nodes": "No switch is connected.", "openflow:links": "No link is known.", "openflow:counters": "links-found"} {
		if out, err := p.Shell(t.Context(), name, nil, nil); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	w := join(t, dial(t, listen), 0xabc)
	until(t, p, nodes("openflow:2748"))
	var group sync.WaitGroup
	defer group.Wait()
	defer w.net.Close()
	group.Go(func() { // the role may be asked for after the handshake, when the plugin begins to act
		for {
			if _, err := w.answer(); err != nil {
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for { // the switch may be there before the answer to the request for its role
		out, err := p.Shell(ctx, "openflow:nodes", nil, nil)
		if err != nil || !strings.Contains(out, "0000000000000abc") {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(out, "equal") {
			break
		}
	}
	if out, err := p.Shell(t.Context(), "openflow:ports", []string{"openflow:9"}, nil); !errors.Is(err, &fault.Error{Kind: fault.NotFound}) {
		t.Errorf("a switch that is not there: %v\n%s", err, out)
	}
}

// plugin:reload: the next process begins while the one before still listens.
func TestReload(t *testing.T) {
	before, listen := start(t, nil)
	next := plugintest.Start(t, Options(), plugintest.WithConfig(map[string]any{"listen": listen}))
	before.Stop()
	join(t, dial(t, listen), 4)
	until(t, next, nodes("openflow:4"))
}

func TestBadSettings(t *testing.T) {
	taken := freePort(t)
	other, err := net.Listen("tcp", taken) // another program
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, k := range []struct {
		settings map[string]any
		want     string
	}{
		{map[string]any{"listen": "6653"}, "/listen"},
		{map[string]any{"listen": taken}, "change `listen` in etc/openflow.yaml"},
		{map[string]any{"role": "slave"}, "role"},
		{map[string]any{"discovery": map[string]any{"interval": "10s"}}, "/discovery/expiry"},
		{map[string]any{"liveness": map[string]any{"echo": "soon"}}, "soon"},
		{map[string]any{"lisen": "x"}, "lisen"},
		{map[string]any{"listen": "127.0.0.1:0", "tls": map[string]any{"enabled": true}}, "tls.enabled in etc/openflow.yaml needs the controller's keystore"},
	} {
		if _, err := plugintest.StartError(t, Options(), plugintest.WithConfig(k.settings)); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("%v: %v, want %q", k.settings, err, k.want)
		}
	}
}

func TestTheShippedSettingsAreTheDefaults(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "etc", "openflow.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p, _ := start(t, nil)
	var check func(indent string, schema map[string]any)
	check = func(indent string, schema map[string]any) {
		for name, v := range schema["properties"].(map[string]any) {
			s := v.(map[string]any)
			line := "\n#" + indent + name + ":"
			i := strings.Index(string(data), line)
			if i < 0 {
				t.Errorf("etc/openflow.yaml does not show %s%s", indent, name)
				continue
			}
			if _, nested := s["properties"]; nested {
				check(indent+"  ", s)
				continue
			}
			want := strings.Trim(strings.TrimSpace(jsonText(t, s["default"])), `"`)
			value, _, _ := strings.Cut(string(data)[i+len(line):], "#")
			if got := strings.Trim(strings.TrimSpace(value), `"`); got != want {
				t.Errorf("%s is shown as %s, the default is %s", name, got, want)
			}
		}
	}
	var schema map[string]any
	if err := json.Unmarshal(p.Manifest.ConfigSchema, &schema); err != nil {
		t.Fatal(err)
	}
	check("", schema)
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// With TLS, only switches with a certificate that the controller trusts are served.
func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	h := plugintest.NewHost(t)
	h.Identity(cert, key)
	h.Trust(cert)
	p, listen := start(t, map[string]any{"tls": map[string]any{"enabled": true}}, plugintest.WithHost(h))
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	plain := dial(t, listen)
	if _, err := plain.Write(ofp13.Append(nil, 0, ofp13.Hello{Versions: 1 << 4})); err != nil {
		t.Fatal(err)
	}
	ended(t, plain)
	nameless := tls.Client(dial(t, listen), &tls.Config{RootCAs: pool, ServerName: "ctl"})
	if _, err := nameless.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("without a certificate: %v", err)
	}
	join(t, tls.Client(dial(t, listen), &tls.Config{RootCAs: pool, ServerName: "ctl", Certificates: []tls.Certificate{pair}}), 3)
	until(t, p, nodes("openflow:3"))
}

func certificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"ctl"}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, form, form, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}
