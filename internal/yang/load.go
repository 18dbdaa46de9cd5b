package yang

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

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
func Load(sources ...Source) (*Set, error) {
	lib := newLibrary()
	var l fault.List
	for _, src := range sources {
		for _, p := range slices.Sorted(maps.Keys(src.Files)) {
			f, err := scanFile(src.Name, p, src.Files[p])
			if err == nil {
				err = lib.addFile(f)
			}
			l = append(l, fault.All(err)...)
		}
	}
	l = append(l, lib.resolveImports()...)
	if len(l) > 0 {
		return nil, l.Err()
	}
	return compileLibrary(lib)
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
	f, err := scanFile("internal/yang", path, text)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the carried module %s is broken: %v", name, err)
	}
	return lib.addFile(f)
}

// Modules are the modules this package carries, as modules/NAME.yang: for a plugin
// that implements one of them.
func Modules() fs.FS { return embedded }

// RPCNames lists the rpcs of the text of a module without compiling it: what a plugin serves is asked before the modules
// that it imports are at hand.
func RPCNames(module, path string, text []byte) ([]string, error) {
	f, err := scanFile("", path, text)
	if err != nil {
		return nil, err
	}
	if f.name != module {
		return nil, fault.At(
			fault.Invalid,
			path,
			"the file holds %q, not the module %q",
			f.name,
			module,
		)
	}
	var names []string
	for _, s := range f.stmt.subsWithKeyword("rpc") {
		names = append(names, s.arg)
	}
	return names, nil
}
