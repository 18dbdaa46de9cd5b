package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// user is whom the controller runs as in the image.
const user = 10001

// writeImage writes an OCI image layout with one layer: the tree of the packages, git with what it links, and CA
// certificates, both taken from this machine. No daemon and no registry is asked.
func writeImage(root, layout string, when time.Time) error {
	entries, err := layerEntries(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(layout); err != nil {
		return err
	}
	l := layoutDir{layout}
	if err := os.MkdirAll(filepath.Join(layout, "blobs/sha256"), 0o755); err != nil {
		return err
	}
	layer, plainSum, err := l.writeLayer(entries, when)
	if err != nil {
		return err
	}
	config, err := l.writeDocument("application/vnd.oci.image.config.v1+json", map[string]any{
		"created":      when.Format(time.RFC3339),
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config": map[string]any{
			"User":       fmt.Sprintf("%d:%d", user, user),
			"Env":        []string{"PATH=/usr/bin", "HOME=/var/lib/ctl", "CTL_HOME=/var/lib/ctl", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
			"Entrypoint": []string{"/usr/lib/ctl/ctld"},
			"Cmd":        []string{"--http", "0.0.0.0:8181", "--ssh", "0.0.0.0:8101", "--restconf", "0.0.0.0:8182", "--admin", "0.0.0.0:8183"},
			"WorkingDir": "/var/lib/ctl",
			"Volumes":    map[string]any{"/var/lib/ctl": map[string]any{}},
			"ExposedPorts": map[string]any{
				"8181/tcp": map[string]any{},
				"8101/tcp": map[string]any{},
				"8182/tcp": map[string]any{},
				"8183/tcp": map[string]any{},
			},
			"StopSignal": "SIGTERM",
		},
		"rootfs": map[string]any{
			"type":     "layers",
			"diff_ids": []string{plainSum},
		},
		"history": []any{map[string]any{
			"created":    when.Format(time.RFC3339),
			"created_by": "make packages",
		}},
	})
	if err != nil {
		return err
	}
	manifest, err := l.writeDocument("application/vnd.oci.image.manifest.v1+json", map[string]any{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.manifest.v1+json",
		"config":        config,
		"layers":        []descriptor{layer},
	})
	if err != nil {
		return err
	}
	manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": "latest"}
	index, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     "application/vnd.oci.image.index.v1+json",
		"manifests":     []descriptor{manifest},
	})
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(layout, "index.json"), index, 0o644),
		os.WriteFile(
			filepath.Join(layout, "oci-layout"),
			[]byte(`{"imageLayoutVersion":"1.0.0"}`),
			0o644,
		))
}

// entry is a file of the layer: content from a file here, or given.
type entry struct {
	header tar.Header
	from   string
	data   []byte
}

func layerEntries(root string) ([]entry, error) {
	all := map[string]entry{}
	add := func(e entry) { all[e.header.Name] = e }
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		return addFile(add, path, strings.TrimPrefix(path, root+"/"))
	})
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(root, "usr/lib/ctl/plugins/SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(sums)) {
		if f := strings.Fields(line); len(f) == 2 {
			add(entry{header: tar.Header{
				Typeflag: tar.TypeLink,
				Name:     "usr/lib/ctl/plugins/" + f[1],
				Linkname: "usr/lib/ctl/ctl-plugins",
				Mode:     0o755,
			}})
		}
	}
	if err := addGit(add); err != nil {
		return nil, err
	}
	if err := addFile(
		add,
		"/etc/ssl/certs/ca-certificates.crt",
		"etc/ssl/certs/ca-certificates.crt",
	); err != nil {
		return nil, err
	}
	add(entry{
		header: tar.Header{
			Typeflag: tar.TypeReg,
			Name:     "etc/passwd",
			Mode:     0o644,
		},
		data: fmt.Appendf(
			nil,
			"root:x:0:0:root:/:/usr/sbin/nologin\nctl:x:%d:%d:ctl:/var/lib/ctl:/usr/sbin/nologin\n",
			user,
			user,
		),
	})
	add(entry{
		header: tar.Header{
			Typeflag: tar.TypeReg,
			Name:     "etc/group",
			Mode:     0o644,
		},
		data: fmt.Appendf(nil, "root:x:0:\nctl:x:%d:\n", user),
	})
	add(entry{header: tar.Header{
		Typeflag: tar.TypeDir,
		Name:     "tmp/",
		Mode:     0o1777,
	}})
	add(entry{header: tar.Header{
		Typeflag: tar.TypeDir,
		Name:     "var/lib/ctl/",
		Mode:     0o700,
		Uid:      user,
		Gid:      user,
	}})
	var out []entry
	for _, name := range slices.Sorted(maps.Keys(all)) { // links come after what they name: ctl-plugins sorts before plugins/
		out = append(out, all[name])
	}
	return out, nil
}

// addFile adds a file of this machine; of a link what it leads to.
func addFile(add func(entry), from, name string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(to) && !strings.HasPrefix(from, "/") { // of our own tree
			add(entry{header: tar.Header{
				Typeflag: tar.TypeSymlink,
				Name:     name,
				Linkname: to,
				Mode:     0o777,
			}})
			return nil
		}
		if info, err = os.Stat(from); err != nil {
			return err
		}
	}
	mode := int64(0o644)
	if info.IsDir() || info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	if info.IsDir() {
		add(entry{header: tar.Header{
			Typeflag: tar.TypeDir,
			Name:     name + "/",
			Mode:     mode,
		}})
		return nil
	}
	add(entry{
		header: tar.Header{
			Typeflag: tar.TypeReg,
			Name:     name,
			Mode:     mode,
			Size:     info.Size(),
		},
		from: from,
	})
	return nil
}

// addGit adds git, the parts of it that fetch, and the libraries they load.
func addGit(add func(entry)) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return fmt.Errorf("git, which the image contains: %w", err)
	}
	out, err := exec.Command(git, "--exec-path").Output()
	if err != nil {
		return err
	}
	core := strings.TrimSpace(string(out))
	files := map[string]bool{git: true}
	for _, name := range []string{"git-remote-http", "git-remote-https", "git-http-fetch"} {
		if _, err := os.Stat(filepath.Join(core, name)); err == nil {
			files[filepath.Join(core, name)] = true
		}
	}
	for f := range files {
		if err := addFile(add, f, strings.TrimPrefix(f, "/")); err != nil {
			return err
		}
		libs, err := exec.Command("ldd", f).Output()
		if err != nil {
			return fmt.Errorf("ldd %s: %w", f, err)
		}
		for word := range strings.FieldsSeq(string(libs)) {
			if strings.HasPrefix(word, "/") {
				if err := addFile(add, word, strings.TrimPrefix(word, "/")); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type layoutDir struct{ path string }

func (l layoutDir) blobPath(sum string) string {
	return filepath.Join(l.path, "blobs/sha256", sum)
}

func (l layoutDir) writeDocument(media string, v any) (descriptor, error) {
	b, err := json.Marshal(v)
	sum := sha256.Sum256(b)
	d := descriptor{
		MediaType: media,
		Digest:    "sha256:" + hex.EncodeToString(sum[:]),
		Size:      int64(len(b)),
	}
	return d, errors.Join(err, os.WriteFile(l.blobPath(hex.EncodeToString(sum[:])), b, 0o644))
}

// writeLayer writes the entries as a compressed archive; plain is the digest of it uncompressed.
func (l layoutDir) writeLayer(
	entries []entry,
	when time.Time,
) (d descriptor, plain string, err error) {
	f, err := os.CreateTemp(l.path, "layer-*")
	if err != nil {
		return d, "", err
	}
	defer os.Remove(f.Name())
	packed, unpacked := sha256.New(), sha256.New()
	zip := gzip.NewWriter(io.MultiWriter(f, packed))
	archive := tar.NewWriter(io.MultiWriter(zip, unpacked))
	for _, e := range entries {
		if err := e.writeTar(archive, when); err != nil {
			return d, "", errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(archive.Close(), zip.Close(), f.Chmod(0o644)); err != nil {
		return d, "", errors.Join(err, f.Close())
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return d, "", err
	}
	sum := hex.EncodeToString(packed.Sum(nil))
	d = descriptor{
		MediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
		Digest:    "sha256:" + sum,
		Size:      info.Size(),
	}
	return d, "sha256:" + hex.EncodeToString(unpacked.Sum(nil)), os.Rename(f.Name(), l.blobPath(sum))
}

func (e entry) writeTar(w *tar.Writer, when time.Time) error {
	h := e.header
	h.ModTime = when
	var content io.Reader = bytes.NewReader(e.data)
	if e.from != "" {
		f, err := os.Open(e.from)
		if err != nil {
			return err
		}
		defer f.Close()
		content = f
	} else {
		h.Size = int64(len(e.data))
	}
	if err := w.WriteHeader(&h); err != nil {
		return err
	}
	if h.Typeflag != tar.TypeReg {
		return nil
	}
	_, err := io.Copy(w, content)
	return err
}
