package yang

import (
	"embed"
	"io/fs"

	"ctl.internal/sdk/fault"
)

//go:embed modules/*.yang
var embedded embed.FS

// embeddedSource is the name of the modules that this package carries.
const embeddedSource = "internal/yang"

// Carried returns the text of a module that this package carries, for an owner that
// implements it rather than imports it; fault.NotFound for any other name.
func Carried(name string) ([]byte, error) {
	if isIdentifier(name) {
		if text, err := embedded.ReadFile("modules/" + name + ".yang"); err == nil {
			return text, nil
		}
	}
	return nil, fault.New(fault.NotFound, "no module %q is carried", name)
}

// addEmbedded takes the carried module of a name in, if there is one.
func (lib *library) addEmbedded(name string) error {
	if !isIdentifier(name) {
		return nil
	}
	path := "modules/" + name + ".yang"
	text, err := embedded.ReadFile(path)
	if err != nil {
		return nil // not carried: resolve reports the import
	}
	f, err := scan(embeddedSource, path, text)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "the carried module %s is broken: %v", name, err)
	}
	return lib.add(f)
}

// Modules are the modules this package carries, as modules/NAME.yang: for a plugin
// that implements one of them.
func Modules() fs.FS { return embedded }
