package keystore

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/home/xmlfile"
	"ctl.internal/sdk/fault"
)

// Masked is shown for a password in answers.
const Masked = "**********"

// data is the settings as RESTCONF shows them, module aaa-cert.
type data struct {
	UseConfig bool      `json:"use-config"`
	UseMDSAL  bool      `json:"use-mdsal"`
	Bundle    string    `json:"bundle-name,omitempty"`
	Ctl       ctlData   `json:"ctlKeystore"`
	Trust     trustData `json:"trustKeystore"`
}

type ctlData struct {
	Name      string      `json:"name,omitempty"`
	Alias     string      `json:"alias,omitempty"`
	Password  string      `json:"store-password,omitempty"`
	DName     string      `json:"dname,omitempty"`
	Validity  int         `json:"validity,omitempty"`
	KeyAlg    string      `json:"key-alg,omitempty"`
	SignAlg   string      `json:"sign-alg,omitempty"`
	KeySize   int         `json:"keysize,omitempty"`
	Protocols string      `json:"tls-protocols,omitempty"`
	Suites    []suiteData `json:"cipher-suites,omitempty"`
}

type suiteData struct {
	Name string `json:"suite-name"`
}

type trustData struct {
	Name     string `json:"name,omitempty"`
	Password string `json:"store-password,omitempty"`
}

func (c Config) data() data {
	mask := func(p string) string {
		if p == "" {
			return ""
		}
		return Masked
	}
	d := data{c.UseConfig, c.UseMDSAL, c.Bundle,
		ctlData{c.Name, c.Alias, mask(c.Password), c.DName, c.Validity, c.KeyAlg, c.SignAlg, c.KeySize, strings.Join(c.Protocols, ","), nil},
		trustData{c.TrustName, mask(c.TrustPassword)}}
	for _, s := range c.Suites {
		d.Ctl.Suites = append(d.Ctl.Suites, suiteData{s})
	}
	return d
}

// elements are the values by their place in the file, without passwords.
func (d data) elements() []xmlfile.Change {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	return []xmlfile.Change{
		{Path: "use-config", Value: strconv.FormatBool(d.UseConfig)}, {Path: "use-mdsal", Value: strconv.FormatBool(d.UseMDSAL)}, {Path: "bundle-name", Value: d.Bundle},
		{Path: "ctlKeystore/name", Value: d.Ctl.Name}, {Path: "ctlKeystore/alias", Value: d.Ctl.Alias}, {Path: "ctlKeystore/dname", Value: d.Ctl.DName},
		{Path: "ctlKeystore/validity", Value: number(d.Ctl.Validity)}, {Path: "ctlKeystore/key-alg", Value: d.Ctl.KeyAlg}, {Path: "ctlKeystore/sign-alg", Value: d.Ctl.SignAlg},
		{Path: "ctlKeystore/keysize", Value: number(d.Ctl.KeySize)}, {Path: "ctlKeystore/tls-protocols", Value: d.Ctl.Protocols}, {Path: "trustKeystore/name", Value: d.Trust.Name},
	}
}

// ConfigData is the settings of the file of a home, without the passwords.
func ConfigData(dir home.Dir) (json.RawMessage, error) {
	c, _, err := readConfig(ConfigFile(dir))
	if err != nil {
		return nil, err
	}
	return json.Marshal(c.data())
}

// SetConfigData writes changed settings into the file, for the next start. The fault is
// Invalid, and nothing has changed, when one of them cannot be.
func SetConfigData(dir home.Dir, after json.RawMessage) error {
	if after == nil {
		return fault.New(fault.Unsupported, "the settings of the certificate service are changed, not deleted; use-config false switches it off")
	}
	d := data{}
	if err := json.Unmarshal(after, &d); err != nil {
		return fault.Wrap(fault.Invalid, err, "the settings cannot be read: %v", err)
	}
	for _, p := range []string{d.Ctl.Password, d.Trust.Password} {
		if p != "" && p != Masked {
			return fault.New(fault.Invalid, "store-password is left out, or %s: change the password of a keystore with keytool, and then in %s", Masked, ConfigFile(dir))
		}
	}
	path := ConfigFile(dir)
	c, f, err := readConfig(path)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "%v", err)
	}
	if f == nil {
		return fault.New(fault.Unavailable, "there is no %s to write to; restore it", path)
	}
	changes, old := d.elements(), c.data().elements()
	for i := range changes {
		changes[i].Old = old[i].Value
	}
	changed, err := f.Apply(changes)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	text := f.Bytes()
	var suites []string
	for _, s := range d.Ctl.Suites {
		suites = append(suites, s.Name)
	}
	if !slices.Equal(suites, c.Suites) {
		if text, err = f.Replace(suitePath, suites); err != nil {
			return fault.Wrap(fault.Invalid, err, "%v", err)
		}
		changed = true
	}
	if !changed {
		return nil
	}
	if _, _, err := parseConfig(path, text); err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	return home.WriteFile(path, text, 0o600)
}
