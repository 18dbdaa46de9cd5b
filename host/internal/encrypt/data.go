package encrypt

import (
	_ "embed"
	"encoding/json"
	"strconv"

	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/fault"
)

// Module is the YANG module of the settings, Node its top-level node, Text its text.
const (
	Module = "aaa-encrypt-service-config"
	Node   = Module + ":aaa-encrypt-service-config"
)

//go:embed aaa-encrypt-service-config.yang
var Text string

// Masked stands for a secret in answers.
const Masked = "**********"

// data is the settings as RESTCONF shows them.
type data struct {
	Key        string `json:"encrypt-key,omitempty"`
	Salt       string `json:"encrypt-salt,omitempty"`
	Method     string `json:"encrypt-method,omitempty"`
	Type       string `json:"encrypt-type,omitempty"`
	Iterations int    `json:"encrypt-iteration-count,omitempty"`
	Length     int    `json:"encrypt-key-length,omitempty"`
	Transform  string `json:"cipher-transforms,omitempty"`
}

// Data is the settings of the file, without the secrets.
func (s *Service) Data() (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, err := read(ConfigFile(s.o.Dir))
	if err != nil {
		return nil, err
	}
	return json.Marshal(data{Masked, Masked, c.Method, c.Type, c.Iterations, c.Length, c.Transform})
}

// SetData writes changed parameters into the file, for the next start. The fault is
// Invalid, and nothing has changed, when key or salt are others or something is wrong.
func (s *Service) SetData(after json.RawMessage) error {
	if after == nil {
		return fault.New(fault.Unsupported, "the settings of the encryption service are changed, not deleted")
	}
	var d data
	if err := json.Unmarshal(after, &d); err != nil {
		return fault.Wrap(fault.Invalid, err, "the settings cannot be read: %v", err)
	}
	for _, secret := range []string{d.Key, d.Salt} {
		if secret != "" && secret != Masked {
			return fault.New(fault.Invalid, "key and salt are replaced by the command aaa:rotate-key only; leave them out")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := ConfigFile(s.o.Dir)
	old, f, err := read(path)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "%v", err)
	}
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	changed := false
	for _, e := range []struct{ path, old, value string }{
		{"encrypt-method", old.Method, d.Method}, {"encrypt-type", old.Type, d.Type}, {"cipher-transforms", old.Transform, d.Transform},
		{"encrypt-iteration-count", number(old.Iterations), number(d.Iterations)}, {"encrypt-key-length", number(old.Length), number(d.Length)},
	} {
		if e.old == e.value {
			continue
		}
		text, err := f.Set(e.path, e.value)
		if err == nil {
			_, f, err = parse(path, text)
		}
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "%v", err)
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return home.WriteFile(path, f.Bytes(), 0o600)
}
