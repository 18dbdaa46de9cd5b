package home

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// renewCatalogue brings the features.yaml of a newer release into a home, as long
// as the one there is as it was shipped: data/features.shipped remembers that.
func (h *Home) renewCatalogue(templates fs.FS) error {
	shipped, err := fs.ReadFile(templates, "features.yaml")
	if err != nil {
		return fmt.Errorf("home: templates: %w", err)
	}
	path, mark := h.Path("features.yaml"), h.Data("features.shipped")
	have, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !h.Created:
		return nil // removed by the operator, who keeps features.d
	case err != nil:
		return fmt.Errorf("home: %w", err)
	}
	if !bytes.Equal(have, shipped) {
		before, err := os.ReadFile(mark)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("home: %w", err)
		}
		if strings.TrimSpace(string(before)) != digest(have) {
			return nil // edited in the home
		}
		if err := WriteFile(path, shipped, 0o644); err != nil {
			return err
		}
	}
	return WriteFile(mark, []byte(digest(shipped)+"\n"), 0o600)
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
