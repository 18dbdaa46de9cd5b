package yang

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	gy "github.com/openconfig/goyang/pkg/yang"

	"ctl.internal/sdk/fault"
)

// Source is the module files of one owner, usually one plugin.
type Source struct {
	Name  string            // of the owner, for messages
	Files map[string][]byte // file name → YANG text (RFC 7950); at most 1 MiB each
}

// FromFS makes a Source of the *.yang files in one directory of fsys. A
// directory that is not there gives a Source without files.
func FromFS(name string, fsys fs.FS, dir string) (Source, error) {
	s := Source{Name: name, Files: map[string][]byte{}}
	files, err := fs.Glob(fsys, path.Join(dir, "*.yang"))
	for _, f := range files {
		if err == nil {
			s.Files[path.Base(f)], err = fs.ReadFile(fsys, f)
		}
	}
	if err != nil {
		return s, fmt.Errorf("reading the modules of %s: %w", name, err)
	}
	return s, nil
}

// Load compiles the modules of all sources into one Set. Imports that no source
// ships are taken from the modules this package carries (ietf-inet-types,
// ietf-yang-types, network-topology and others).
//
// The error is a fault.List of Kind Invalid; each fault's Path is file:line.
// Statements whose meaning would be lost are refused (see doc.go).
func Load(sources ...Source) (*Set, error) {
	lib := newLibrary()
	var l fault.List
	for _, src := range sources {
		for _, p := range slices.Sorted(maps.Keys(src.Files)) {
			f, err := scan(src.Name, p, src.Files[p])
			if err == nil {
				err = lib.add(f)
			}
			l = append(l, fault.All(err)...)
		}
	}
	l = append(l, lib.resolve()...)
	if len(l) > 0 {
		return nil, l.Err()
	}
	for _, f := range lib.order {
		l = append(l, unsupported(f)...)
	}
	l = append(l, cycles(lib.order)...)
	if len(l) > 0 {
		return nil, l.Err()
	}
	ms, l := process(lib)
	if len(l) > 0 {
		return nil, l.Err()
	}
	return compile(lib, ms)
}

// process runs goyang over files that are known to be complete, so that it never
// looks for a missing module in the file system.
func process(lib *library) (ms *gy.Modules, l fault.List) {
	defer func() {
		if r := recover(); r != nil {
			l = fault.List{fault.New(fault.Invalid, "the YANG compiler cannot read these modules: %v", r)}
		}
	}()
	ms = gy.NewModules()
	ms.ParseOptions.StoreUses = true
	slices.SortFunc(lib.order, func(a, b *file) int { return strings.Compare(a.full(), b.full()) })
	for _, f := range lib.order {
		if err := ms.Parse(f.text, f.path); err != nil {
			l = append(l, faults(err)...)
			continue
		}
		m := ms.Modules[f.full()]
		for i, imp := range m.Import {
			if rev := f.imports[i].revision; rev != "" {
				imp.RevisionDate = &gy.Value{Name: rev, Source: imp.Source, Parent: imp}
			}
		}
	}
	if len(l) > 0 {
		return nil, l
	}
	return ms, faults(ms.Process()...)
}

//go:embed modules/*.yang
var embedded embed.FS

// addEmbedded takes the carried module of a name in, if there is one.
func (lib *library) addEmbedded(name string) error {
	path := "modules/" + name + ".yang"
	text, err := embedded.ReadFile(path)
	if err != nil {
		return nil //nolint:nilerr // not carried: resolve reports the import
	}
	f, err := scan("internal/yang", path, text)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the carried module %s is broken: %v", name, err)
	}
	return lib.add(f)
}

// Modules are the modules this package carries, as modules/NAME.yang: for a plugin
// that implements one of them.
func Modules() fs.FS { return embedded }
