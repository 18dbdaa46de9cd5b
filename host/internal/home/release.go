package home

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// format is what this release makes of data/; raise it when an earlier release would
// misread what this one writes there. Releases up to f16bcc54 wrote format 1, some of them
// with a store that this one cannot read, which only the store itself can tell.
const format = 2

// checkFormat refuses a home that a newer release has used, before anything in it is
// changed, and returns the format of the home, 0 for one in which no controller ran yet.
func (h *Home) checkFormat() (int, error) {
	path := h.Data("format")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("home: %w", err)
	}
	have, err := strconv.Atoi(strings.TrimSpace(string(b)))
	switch {
	case err != nil || have < 1:
		return 0, fmt.Errorf(
			"home: %s contains %.40q instead of a format number: restore it from a backup",
			path,
			b,
		)
	case have > format:
		return 0, fmt.Errorf("home: %s was used by a newer release (format %d in %s, this one knows %d): nothing was changed; "+
			"install that release again, or restore the backup from before the upgrade", string(h.Dir), have, path, format)
	}
	return have, nil
}

// Upgrade makes a home of an earlier release one of this, which no earlier one opens any
// more. readable looks whether this release reads what is there; if not, nothing is changed.
func (h *Home) Upgrade(templates fs.FS, readable func() error) error {
	if h.format > 0 && h.format < format {
		if err := readable(); err != nil {
			return err
		}
	}
	err := h.renewCatalogue(templates)
	if err != nil || h.format == format {
		return err
	}
	h.format = format
	return h.markFormat()
}

// markFormat marks a home that is complete as one of this release.
func (h *Home) markFormat() error {
	return WriteFile(h.Data("format"), []byte(strconv.Itoa(format)+"\n"), 0o600)
}

// shippedBefore are digests of the features.yaml that earlier releases shipped: their snapshots do not say that it is
// unchanged, as data/features.shipped does.
var shippedBefore = []string{
	"aae43dfe7abf8b83515a949c8ae8c60b3aa7d33cdca084e1ad6f1d22a0f76b38", // f16bcc54
}

// renewCatalogue brings the features.yaml of a newer release into a home, as long
// as the one there is as it was shipped: data/features.shipped remembers that.
func (h *Home) renewCatalogue(templates fs.FS) error {
	shipped, err := fs.ReadFile(templates, "features.yaml")
	if err != nil {
		return fmt.Errorf("home: templates: %w", err)
	}
	path, mark := h.Path("features.yaml"), h.Data("features.shipped")
	have, err := ReadRegular(path)
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
		now := hexDigest(have)
		if strings.TrimSpace(string(before)) != now && !slices.Contains(shippedBefore, now) {
			return nil // edited in the home
		}
		if err := WriteFile(path, shipped, 0o644); err != nil {
			return err
		}
	}
	return WriteFile(mark, []byte(hexDigest(shipped)+"\n"), 0o600)
}

func hexDigest(b []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(b))
}
