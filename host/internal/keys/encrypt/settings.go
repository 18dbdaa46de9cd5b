package encrypt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ctl.internal/host/internal/home"
	"ctl.internal/sdk/host"
)

// mark precedes a sealed secret in a settings file: in sec.ini as a value of
// a realm, in etc/PLUGIN.yaml as any text, in a list of a plugin's (etc/*.csv) as a cell.
const mark = host.SealedMark

var settingsPurpose = []byte("settings")

// SealText returns a secret as it may be written in a settings file.
func (s *Service) SealText(plain string) (string, error) {
	b, err := s.Seal([]byte(plain), settingsPurpose)
	return mark + base64.StdEncoding.EncodeToString(b), err
}

// OpenText returns what SealText was given; a text without the mark stays as it is.
// The text after the mark may be one of the old system, too.
func (s *Service) OpenText(text string) (string, error) {
	return openText(s.Open, text)
}

// OpenBefore opens a setting that is needed before there is a datastore, so with
// the key in the file of the home alone.
func OpenBefore(dir home.Dir, text string) (string, error) {
	if !strings.HasPrefix(text, mark) {
		return text, nil
	}
	c, err := ReadConfig(dir)
	if err != nil {
		return "", err
	}
	if c.Key == "" || c.Salt == "" {
		return "", fmt.Errorf(
			"it is sealed, but %s has no key and salt to open it",
			ConfigFile(dir),
		)
	}
	own, err := c.deriveKey()
	if err != nil {
		return "", fmt.Errorf("%s: %w", ConfigFile(dir), err)
	}
	return openText(own.key.Open, text)
}

func openText(open func(sealed, purpose []byte) ([]byte, error), text string) (string, error) {
	rest, ok := strings.CutPrefix(text, mark)
	if !ok {
		return text, nil
	}
	b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(rest))
	if err != nil {
		return "", errors.New("no base64 after " + mark + "; create the text with aaa:seal-secret")
	}
	plain, err := open(b, settingsPurpose)
	if err != nil {
		return "", fmt.Errorf("%w; create the text again with aaa:seal-secret", err)
	}
	return string(plain), nil
}

// OpenJSON opens every marked text of a JSON document.
func (s *Service) OpenJSON(doc []byte) ([]byte, error) {
	if !bytes.Contains(doc, []byte(mark)) {
		return doc, nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	v, err := s.openAll(v, "")
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func (s *Service) openAll(v any, at string) (any, error) {
	var err error
	switch x := v.(type) {
	case string:
		plain, err := s.OpenText(x)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimPrefix(at, "."), err)
		}
		return plain, nil
	case []any:
		for i := range x {
			if x[i], err = s.openAll(x[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for name := range x {
			if x[name], err = s.openAll(x[name], at+"."+name); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// renewFiles seals the marked texts in the settings files again.
func (s *Service) renewFiles(found *Found) error {
	s.files.Lock()
	defer s.files.Unlock()
	if len(s.now.Load().all) == 1 {
		return nil
	}
	files := []string{s.o.Dir.Etc("sec.ini")}
	for _, kind := range []string{"*.yaml", "*.csv"} {
		found, err := filepath.Glob(s.o.Dir.Etc(kind))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	for _, path := range files {
		text, err := home.ReadRegular(path)
		if os.IsNotExist(err) || err == nil && !bytes.Contains(text, []byte(mark)) {
			continue
		}
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		before := found.Renewed
		next := s.Renew(text, found)
		if found.Renewed == before {
			continue
		}
		if err := home.WriteFile(path, next, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
