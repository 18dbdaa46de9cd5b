package encrypt

import (
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/home/xmlfile"
	"ctl.internal/sdk/fault"
)

// Config is aaa-encrypt-service-config.xml.
type Config struct {
	Params
	Key  string `json:"key"`
	Salt string `json:"salt"` // base64
	// KeyCharacters is how many a key made at random has.
	KeyCharacters int `json:"-"`
}

const (
	keyPath  = "encrypt-key"
	saltPath = "encrypt-salt"
	rootName = "aaa-encrypt-service-config"

	saltSize = 16
	// 64 letters and digits are more than 256 bits.
	keyCharacters = 64
)

// ConfigFile is the path of the settings in a home.
func ConfigFile(dir home.Dir) string {
	return dir.Etc("ctl", "datastore", "initial", "config", "aaa-encrypt-service-config.xml")
}

// absent is what a missing file says: the documented defaults.
const absent = `<?xml version="1.0" encoding="UTF-8"?>
<aaa-encrypt-service-config xmlns="urn:ctl:yang:aaa:encrypt">
  <encrypt-key></encrypt-key>
  <encrypt-salt></encrypt-salt>
  <encrypt-method>PBKDF2WithHmacSHA1</encrypt-method>
  <encrypt-type>AES</encrypt-type>
  <encrypt-iteration-count>32768</encrypt-iteration-count>
  <encrypt-key-length>128</encrypt-key-length>
  <cipher-transforms>AES/CBC/PKCS5Padding</cipher-transforms>
</aaa-encrypt-service-config>
`

// ReadConfig reads the settings of a home; what is wrong names file, line and element.
func ReadConfig(dir home.Dir) (Config, error) {
	c, _, err := readConfigFile(ConfigFile(dir))
	return c, err
}

func readConfigFile(path string) (Config, *xmlfile.File, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return parseConfig(path, []byte(absent))
	}
	if err != nil {
		return Config{}, nil, err
	}
	text, err := home.ReadBounded(path, xmlfile.MaxSize)
	if err != nil {
		return Config{}, nil, err
	}
	c, f, err := parseConfig(path, text)
	if err == nil && c.Key != "" && info.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf(
			"%s has mode %04o, others may have read the key in it; set it to 0600 if you trust them",
			path,
			info.Mode().Perm(),
		)
	}
	return c, f, err
}

func parseConfig(path string, text []byte) (Config, *xmlfile.File, error) {
	f, err := xmlfile.Parse(path, text, rootName)
	if err != nil {
		return Config{}, nil, err
	}
	c := Config{
		Params:        Documented(),
		KeyCharacters: keyCharacters,
	}
	err = f.Fields(map[string]func(string) error{
		keyPath:                   xmlfile.Text(&c.Key, 256),
		saltPath:                  saltSetter(&c.Salt),
		"encrypt-method":          xmlfile.Text(&c.Method, 256),
		"encrypt-type":            xmlfile.Text(&c.Type, 256),
		"encrypt-iteration-count": xmlfile.Number(&c.Iterations, MinIterations, MaxIterations),
		"encrypt-key-length":      xmlfile.Number(&c.Length, 128, 256),
		"cipher-transforms":       xmlfile.Text(&c.Transform, 256),
		"password-length":         xmlfile.Number(&c.KeyCharacters, 12, 256),
		"auth-tag-length":         xmlfile.Number(new(int), 128, 128),
	}, nil)
	if err != nil {
		return c, nil, err
	}
	if err := c.Check(); err != nil {
		return c, nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, f, nil
}

func saltSetter(to *string) func(string) error {
	return func(s string) error {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(b) < 8 || len(b) > 256 {
			return errors.New("the salt is not base64 of 8 to 256 bytes; leave it empty to generate one")
		}
		*to = s
		return nil
	}
}

// generateMissing makes what is empty at random, and reports whether anything was.
func (c *Config) generateMissing() bool {
	made := c.Key == "" || c.Salt == ""
	if c.Key == "" {
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		for range c.KeyCharacters {
			i, _ := rand.Int(rand.Reader, big.NewInt(int64(len(letters)))) // never fails since Go 1.24
			c.Key += string(letters[i.Int64()])
		}
	}
	if c.Salt == "" {
		b := make([]byte, saltSize)
		_, _ = rand.Read(b)
		c.Salt = base64.StdEncoding.EncodeToString(b)
	}
	return made
}

// writeFile puts key, salt and parameters into the file; comments and all else stay.
func (c Config) writeFile(dir home.Dir) error {
	return changeElements(dir, func(old Config) []xmlfile.Change {
		return append(
			c.paramChanges(old),
			xmlfile.Change{Path: keyPath, Value: c.Key},
			xmlfile.Change{Path: saltPath, Value: c.Salt},
		)
	})
}

// paramChanges are the elements of the parameters, with what they were.
func (c Config) paramChanges(old Config) []xmlfile.Change {
	return []xmlfile.Change{
		{
			Path:  "encrypt-method",
			Old:   old.Method,
			Value: c.Method,
		}, {
			Path:  "encrypt-type",
			Old:   old.Type,
			Value: c.Type,
		}, {
			Path:  "cipher-transforms",
			Old:   old.Transform,
			Value: c.Transform,
		},
		{
			Path:  "encrypt-iteration-count",
			Old:   xmlfile.Decimal(old.Iterations),
			Value: xmlfile.Decimal(c.Iterations),
		}, {
			Path:  "encrypt-key-length",
			Old:   xmlfile.Decimal(old.Length),
			Value: xmlfile.Decimal(c.Length),
		},
	}
}

// changeElements replaces the elements of the file that differ.
func changeElements(dir home.Dir, elements func(old Config) []xmlfile.Change) error {
	path := ConfigFile(dir)
	old, f, err := readConfigFile(path)
	if err != nil {
		return err
	}
	changed, err := f.Apply(elements(old))
	if err == nil {
		_, _, err = parseConfig(path, f.Bytes())
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	if !changed {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return home.WriteFile(path, f.Bytes(), 0o600)
}

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
	c, _, err := readConfigFile(ConfigFile(s.o.Dir))
	if err != nil {
		return nil, err
	}
	return json.Marshal(data{Masked, Masked, c.Method, c.Type, c.Iterations, c.Length, c.Transform})
}

// SetData writes changed parameters into the file, for the next start. The fault is
// Invalid, and nothing has changed, when key or salt are others or something is wrong.
func (s *Service) SetData(doc json.RawMessage) error {
	if doc == nil {
		return fault.New(
			fault.Unsupported,
			"the settings of the encryption service can be changed, but not deleted",
		)
	}
	var d data
	if err := json.Unmarshal(doc, &d); err != nil {
		return fault.Wrap(fault.Invalid, err, "the settings cannot be read: %v", err)
	}
	for _, secret := range []string{d.Key, d.Salt} {
		if secret != "" && secret != Masked {
			return fault.New(
				fault.Invalid,
				"only the command aaa:rotate-key replaces key and salt; leave them out",
			)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	after := Config{Params: Params{d.Method, d.Type, d.Iterations, d.Length, d.Transform}}
	return changeElements(s.o.Dir, after.paramChanges)
}
