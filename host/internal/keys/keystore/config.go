package keystore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ctl.internal/host/internal/home"
	"ctl.internal/host/internal/home/xmlfile"
)

// Config is aaa-cert-config.xml; as JSON it is what RESTCONF shows of it, module aaa-cert.
type Config struct {
	UseConfig       bool   `json:"use-config"` // the service is on
	UseMDSAL        bool   `json:"use-mdsal"`  // keystores are sealed in the datastore
	Bundle          string `json:"bundle-name,omitempty"`
	ControllerStore `json:"ctlKeystore"`
	TrustStore      `json:"trustKeystore"`
}

// ControllerStore are the settings of the controller keystore.
type ControllerStore struct {
	Name      string  `json:"name,omitempty"`  // of the file
	Alias     string  `json:"alias,omitempty"` // of the controller's key in it
	Password  string  `json:"store-password,omitempty"`
	DName     string  `json:"dname,omitempty"`
	Validity  int     `json:"validity,omitempty"` // days
	KeyAlg    string  `json:"key-alg,omitempty"`
	SignAlg   string  `json:"sign-alg,omitempty"`
	KeySize   int     `json:"keysize,omitempty"`
	Protocols string  `json:"tls-protocols,omitempty"` // separated by commas; empty = those of etc/ctl.yaml
	Suites    []suite `json:"cipher-suites,omitempty"` // empty = no restriction
}

type suite struct {
	Name string `json:"suite-name"`
}

func (c *ControllerStore) suiteNames() (names []string) {
	for _, s := range c.Suites {
		names = append(names, s.Name)
	}
	return names
}

// TrustStore are the settings of the trust keystore.
type TrustStore struct {
	TrustName     string `json:"name,omitempty"`
	TrustPassword string `json:"store-password,omitempty"`
}

const (
	ctlPasswordPath   = "ctlKeystore/store-password"
	trustPasswordPath = "trustKeystore/store-password"
	suitePath         = "ctlKeystore/cipher-suites/suite-name"
	rootName          = "aaa-cert-service-config"
)

// defaultConfig are those of the documentation, for elements that are left out. The
// file that a new home gets asks for more.
func defaultConfig() Config {
	return Config{
		Bundle:     "ctl",
		TrustStore: TrustStore{TrustName: "truststore.jks"},
		ControllerStore: ControllerStore{
			Name:     "ctl.jks",
			Alias:    "controller",
			DName:    "CN=ctl, OU=Lab, O=Controller, C=XX",
			Validity: 365,
			KeyAlg:   "RSA",
		},
	}
}

// ConfigFile is the path of the settings in a home.
func ConfigFile(dir home.Dir) string {
	return dir.Etc("ctl", "datastore", "initial", "config", "aaa-cert-config.xml")
}

func readConfig(path string) (Config, *xmlfile.File, error) {
	text, err := home.ReadBounded(path, xmlfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return defaultConfig(), nil, nil
	}
	if err != nil {
		return Config{}, nil, err
	}
	return parseConfig(path, text)
}

func parseConfig(path string, text []byte) (Config, *xmlfile.File, error) {
	f, err := xmlfile.Parse(path, text, rootName)
	if err != nil {
		return Config{}, nil, err
	}
	c := defaultConfig()
	file := func(to *string) func(string) error {
		return func(s string) error {
			*to = s
			return checkFileName(s)
		}
	}
	err = f.Fields(map[string]func(string) error{
		"use-config":           boolSetter(&c.UseConfig),
		"use-mdsal":            boolSetter(&c.UseMDSAL),
		"bundle-name":          xmlfile.Text(&c.Bundle, 1024),
		"ctlKeystore/name":     file(&c.Name),
		"ctlKeystore/alias":    xmlfile.Text(&c.Alias, 1024),
		ctlPasswordPath:        xmlfile.Text(&c.Password, 1024),
		"ctlKeystore/dname":    xmlfile.Text(&c.DName, 1024),
		"ctlKeystore/validity": xmlfile.Number(&c.Validity, 1, 36500),
		"ctlKeystore/key-alg":  xmlfile.Text(&c.KeyAlg, 1024),
		"ctlKeystore/sign-alg": xmlfile.Text(&c.SignAlg, 1024),
		"ctlKeystore/keysize":  xmlfile.Number(&c.KeySize, 256, 16384),
		"ctlKeystore/tls-protocols": func(s string) error {
			c.Protocols = strings.Join(splitList(s), ",")
			return nil
		},
		"trustKeystore/name": file(&c.TrustName),
		trustPasswordPath:    xmlfile.Text(&c.TrustPassword, 1024),
	}, func(l xmlfile.Leaf) bool {
		if l.Path == suitePath {
			for _, name := range splitList(l.Text) {
				c.Suites = append(c.Suites, suite{name})
			}
			return true
		}
		return l.Text == "" &&
			slices.Contains(
				[]string{"ctlKeystore", "trustKeystore", "ctlKeystore/cipher-suites"},
				l.Path,
			)
	})
	if err != nil {
		return c, nil, err
	}
	if err := c.checkSettings(); err != nil {
		return c, nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, f, nil
}

// checkSettings finds what would fail only when a keystore is made, or TLS is used.
func (c *Config) checkSettings() error {
	if c.UseMDSAL && !c.UseConfig {
		return errors.New("<use-mdsal> is true but <use-config> is not; also set <use-config> to true")
	}
	if strings.EqualFold(c.Name, c.TrustName) {
		return fmt.Errorf(
			"<ctlKeystore/name> and <trustKeystore/name> are both %q; choose two names",
			c.Name,
		)
	}
	for _, p := range []string{c.Password, c.TrustPassword} {
		if err := checkPassword(p); p != "" && err != nil {
			return fmt.Errorf("<store-password>: %w", err)
		}
	}
	if len(c.Bundle) > 100 || strings.ContainsAny(c.Bundle, "/\x00") {
		return fmt.Errorf("<bundle-name> %q: up to 100 characters without a slash", c.Bundle)
	}
	if _, _, err := parseDName(c.DName); err != nil {
		return err
	}
	if _, err := c.keySpec(); err != nil {
		return err
	}
	_, err := newPolicy(splitList(c.Protocols), c.suiteNames())
	return err
}

func checkFileName(s string) error {
	if s != filepath.Base(s) || strings.HasPrefix(s, ".") || strings.ContainsAny(s, "/\\\x00") {
		return fmt.Errorf("%q is not a plain file name; keystores are in configuration/ssl", s)
	}
	return nil
}

// checkPassword asks for what Java and this controller encode alike.
func checkPassword(p string) error {
	if len(p) < 6 || len(p) > 256 {
		return errors.New("a keystore password has 6 to 256 characters")
	}
	if strings.ContainsFunc(p, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		return errors.New("a keystore password has printable ASCII characters only")
	}
	return nil
}

func boolSetter(to *bool) func(string) error {
	return func(s string) error {
		switch s {
		case "true", "1":
			*to = true
		case "false", "0":
			*to = false
		default:
			return fmt.Errorf("%q is neither true nor false", s)
		}
		return nil
	}
}

// splitList splits at commas; blanks count for nothing.
func splitList(s string) []string {
	var out []string
	for _, p := range strings.Split(s, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}
