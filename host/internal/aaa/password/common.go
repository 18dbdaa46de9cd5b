package password

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
)

// commonText are 10,000 passwords that people choose most often, in lower case and by frequency: the 2,000 first of all, then
// those of 8 characters and more. They are from zxcvbn's list (data/passwords.txt of github.com/trustelem/zxcvbn v1.0.1, MIT
// licence, LICENSE.zxcvbn; the frequencies are those of published collections).
//
//go:embed common.txt.gz
var commonText []byte

// Common is the list of common passwords, in lower case.
func Common() (Blocklist, error) {
	r, err := gzip.NewReader(bytes.NewReader(commonText))
	if err != nil {
		return nil, fmt.Errorf("the list of common passwords: %w", err)
	}
	list, err := ReadBlocklist(r)
	if err != nil {
		return nil, fmt.Errorf("the list of common passwords: %w", err)
	}
	return list, nil
}
