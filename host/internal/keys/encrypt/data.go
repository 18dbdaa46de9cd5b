package encrypt

import (
	_ "embed"
	"encoding/json"

	"ctl.internal/sdk/fault"
)

// Module is the YANG module of the settings, Node its top-level node, Text its text.
const (
	Module = "aaa-encrypt-service-config"
	Node   = Module + ":aaa-encrypt-service-config"
)

//go:embed aaa-encrypt-service-config.yang
var Text string

// Masked is shown for a secret in answers.
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
func (s *Service) SetData(doc json.RawMessage) error {
	if doc == nil {
		return fault.New(fault.Unsupported, "the settings of the encryption service are changed, not deleted")
	}
	var d data
	if err := json.Unmarshal(doc, &d); err != nil {
		return fault.Wrap(fault.Invalid, err, "the settings cannot be read: %v", err)
	}
	for _, secret := range []string{d.Key, d.Salt} {
		if secret != "" && secret != Masked {
			return fault.New(fault.Invalid, "key and salt are replaced by the command aaa:rotate-key only; leave them out")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	after := Config{Params: Params{d.Method, d.Type, d.Iterations, d.Length, d.Transform}}
	return change(s.o.Dir, after.params)
}
