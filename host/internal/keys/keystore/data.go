package keystore

import (
	"encoding/json"
	"slices"
	"strconv"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/home/xmlfile"
	"ctl.internal/sdk/fault"
)

// Masked is shown for a password in answers.
const Masked = "**********"

// elementChanges are the values by their place in the file, without passwords.
func (c Config) elementChanges() []xmlfile.Change {
	return []xmlfile.Change{
		{
			Path:  "use-config",
			Value: strconv.FormatBool(c.UseConfig),
		}, {
			Path:  "use-mdsal",
			Value: strconv.FormatBool(c.UseMDSAL),
		}, {Path: "bundle-name", Value: c.Bundle},
		{
			Path:  "ctlKeystore/name",
			Value: c.Name,
		}, {
			Path:  "ctlKeystore/alias",
			Value: c.Alias,
		}, {Path: "ctlKeystore/dname", Value: c.DName},
		{
			Path:  "ctlKeystore/validity",
			Value: xmlfile.Decimal(c.Validity),
		}, {
			Path:  "ctlKeystore/key-alg",
			Value: c.KeyAlg,
		}, {Path: "ctlKeystore/sign-alg", Value: c.SignAlg},
		{
			Path:  "ctlKeystore/keysize",
			Value: xmlfile.Decimal(c.KeySize),
		}, {
			Path:  "ctlKeystore/tls-protocols",
			Value: c.Protocols,
		}, {Path: "trustKeystore/name", Value: c.TrustName},
	}
}

// ConfigData is the settings of the file of a home, without the passwords.
func ConfigData(dir home.Dir) (json.RawMessage, error) {
	c, _, err := readConfig(ConfigFile(dir))
	if err != nil {
		return nil, err
	}
	for _, p := range []*string{&c.Password, &c.TrustPassword} {
		if *p != "" {
			*p = Masked
		}
	}
	return json.Marshal(c)
}

// SetConfigData writes changed settings into the file, for the next start. The fault is
// Invalid, and nothing has changed, when one of them cannot be.
func SetConfigData(dir home.Dir, after json.RawMessage) error {
	if after == nil {
		return fault.New(
			fault.Unsupported,
			"the settings of the certificate service can be changed, but not deleted; use-config false disables the service",
		)
	}
	var d Config
	if err := json.Unmarshal(after, &d); err != nil {
		return fault.Wrap(fault.Invalid, err, "the settings cannot be read: %v", err)
	}
	for _, p := range []string{d.Password, d.TrustPassword} {
		if p != "" && p != Masked {
			return fault.New(
				fault.Invalid,
				"store-password must be absent or %s: change the password of a keystore with keytool, and then in %s",
				Masked,
				ConfigFile(dir),
			)
		}
	}
	path := ConfigFile(dir)
	c, f, err := readConfig(path)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "%v", err)
	}
	if f == nil {
		return fault.New(fault.Unavailable, "the file %s does not exist; restore it", path)
	}
	changes, old := d.elementChanges(), c.elementChanges()
	for i := range changes {
		changes[i].Old = old[i].Value
	}
	changed, err := f.Apply(changes)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	text := f.Bytes()
	if !slices.Equal(d.Suites, c.Suites) {
		if text, err = f.Replace(suitePath, d.suiteNames()); err != nil {
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
