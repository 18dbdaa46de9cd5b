// Command packages makes what `make packages` needs besides nfpm: the tree of an installation, the list of
// what the programs contain (SBOM) and an OCI image layout. All of it is the same, byte for byte, for the same
// programs and SOURCE_DATE_EPOCH.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const usage = "usage: packages manuals BIN DIR | packages stage BIN ROOT | packages oci ROOT LAYOUT, from the top of the tree, the latter two with SOURCE_DATE_EPOCH set"

func main() {
	if err := runCommand(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func runCommand(args []string) error {
	if len(args) == 3 && args[0] == "manuals" {
		return writeManuals(args[1], args[2])
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if len(args) != 3 || err != nil {
		return errors.New(usage)
	}
	when := time.Unix(seconds, 0).UTC()
	switch args[0] {
	case "stage":
		return stageTree(args[1], args[2], when)
	case "oci":
		return writeImage(args[1], args[2], when)
	}
	return errors.New(usage)
}

// programs are those of the packages; the links to ctl-plugins are made where they are installed.
var programs = []string{"ctld", "ctl", "idmtool", "ctl-lab", "ctl-plugins"}

// packagedHome is the home directory of the packages' service, as in ctld.service and postinst.
const packagedHome = "/var/lib/ctl"

// stageTree makes the tree that the packages install.
func stageTree(bin, root string, when time.Time) error {
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	lib := filepath.Join(root, "usr/lib/ctl")
	for _, p := range programs {
		if err := installFile(filepath.Join(bin, p), filepath.Join(lib, p), 0o755); err != nil {
			return err
		}
		if p == "ctl-plugins" {
			continue
		}
		if err := os.MkdirAll(filepath.Join(root, "usr/bin"), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("../lib/ctl/"+p, filepath.Join(root, "usr/bin", p)); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{
		filepath.Join(bin, "plugins/SHA256SUMS"): "usr/lib/ctl/plugins/SHA256SUMS",
		"internal/packages/ctld.service":         "usr/lib/systemd/system/ctld.service",
		"LICENSE":                                "usr/share/doc/ctl/copyright",
	} {
		if err := installFile(from, filepath.Join(root, to), 0o644); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{
		"sdk":  "usr/lib/ctl/sdk",
		"docs": "usr/lib/ctl/docs",
	} {
		err := os.CopyFS(filepath.Join(root, to), os.DirFS(filepath.Join(bin, from)))
		if err != nil {
			return err
		}
	}
	if err := installManuals(filepath.Join(bin, "man"), filepath.Join(root, "usr/share/man")); err != nil {
		return err
	}
	// Where the programs look for a home that nobody names.
	err := os.WriteFile(filepath.Join(lib, "home"), []byte(packagedHome+"\n"), 0o644)
	if err != nil {
		return err
	}
	if err := writeCompletions(bin, root); err != nil {
		return err
	}
	err = writeSBOM(bin, filepath.Join(root, "usr/share/doc/ctl/sbom.cdx.json"), when)
	if err != nil {
		return err
	}
	return normalizeTree(root, when)
}

// writeCompletions adds what ctl says to the completion of shells.
func writeCompletions(bin, root string) error {
	for shell, file := range map[string]string{
		"bash": "usr/share/bash-completion/completions/ctl",
		"zsh":  "usr/share/zsh/vendor-completions/_ctl",
		"fish": "usr/share/fish/vendor_completions.d/ctl.fish",
	} {
		out, err := exec.Command(filepath.Join(bin, "ctl"), "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("ctl completion %s: %w", shell, err)
		}
		path := filepath.Join(root, file)
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, out, 0o644),
		); err != nil {
			return err
		}
	}
	return nil
}

// normalizeTree gives all files the same time, and modes that do not depend on who built them.
func normalizeTree(root string, when time.Time) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink != 0 {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if e.IsDir() || info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return errors.Join(os.Chmod(path, mode), os.Chtimes(path, when, when))
	})
}

func installFile(from, to string, mode fs.FileMode) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, mode))
}

// installManuals installs the pages of a directory below man, each in the directory of its section, compressed without a
// time, so that the same page is the same file.
func installManuals(pages, man string) error {
	entries, err := os.ReadDir(pages)
	if err != nil {
		return err
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(pages, e.Name()))
		if err != nil {
			return err
		}
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		section := strings.TrimPrefix(filepath.Ext(e.Name()), ".")
		file := filepath.Join(man, "man"+section, e.Name()+".gz")
		if err := errors.Join(
			os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, packed.Bytes(), 0o644),
		); err != nil {
			return err
		}
	}
	return nil
}

// packageVersion is what the packages are called: the version of the programs without its v, or 0.0.0.
func packageVersion(v string) string {
	v = strings.TrimPrefix(v, "v")
	if v == "" || v == "(devel)" {
		return "0.0.0"
	}
	return v
}
