// Command faulty is a plugin that misbehaves on request: by the environment
// variable FAULTY before it serves, by its settings, and by its RPCs while it
// serves. The tests of the host and of plugintest drive it. It is in no catalogue.
package main

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"ctl.internal/internal/wire"
	"ctl.internal/sdk"
)

//go:embed plugin.yaml
var manifest []byte

//go:embed yang/*.yang
var embedded embed.FS

// modules are the YANG modules that it ships.
var modules fs.FS = embedded

func main() {
	beforeServing()
	if v := os.Getenv("CONTRACT"); v != "" { // as a plugin of another release
		wire.APIVersions = strings.Fields(v)
	}
	if v := os.Getenv("READS"); v != "" { // it requests a file
		manifest = bytes.Replace(
			manifest,
			[]byte("requests:\n"),
			[]byte("requests:\n  - {read: \""+v+"\"}\n"),
			1,
		)
	}
	sdk.Serve(sdk.Options{
		Manifest: manifest,
		YANG:     modules,
		New:      newPlugin,
		Commands: listCommands(),
	})
}

// beforeServing does what the variable FAULTY says, a list of words, or the last line of the program's own file.
func beforeServing() {
	for _, word := range strings.Fields(os.Getenv("FAULTY") + " " + lastLine()) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "print":
			fmt.Println("Welcome to the faulty plugin!")
		case "bad-handshake":
			fmt.Println("9|9|unix|/nowhere|grpc|")
			select {}
		case "panic":
			panic("faulty from the start")
		case "exit":
			code, _ := strconv.Atoi(value)
			fmt.Fprintln(os.Stderr, "giving up early")
			os.Exit(code)
		case "exit-unless": // a file that must exist
			if _, err := os.Stat(value); err != nil {
				fmt.Fprintln(os.Stderr, "no file", value)
				os.Exit(4)
			}
		case "silent":
			select {}
		case "slow":
			d, _ := time.ParseDuration(value)
			time.Sleep(d)
		case "bad-log":
			fmt.Fprintln(os.Stderr, `{"@level":7,"@message":["not","text"],"@timestamp":{}}`)
			fmt.Fprintln(os.Stderr, `{"level":null,"msg":12}`)
		case "lie":
			manifest = []byte(strings.Replace(string(manifest), "name: faulty", "name: honest", 1))
		case "name":
			manifest = []byte(strings.Replace(string(manifest), "name: faulty", "name: "+value, 1))
		case "no-claims":
			manifest = []byte(strings.NewReplacer("capabilities: [operations, commands, routes, topology, switchdriver]", "capabilities: [topology, switchdriver]",
				"implements: [faulty]", "implements: []", "routes:\n  - path: /faulty\n    summary: Echoes what is sent\n", "").Replace(string(manifest)))
			claimless = true
		case "single":
			manifest = []byte(strings.Replace(
				string(manifest),
				"labels:",
				"nodes: one\nlabels:",
				1,
			))
		case "more": // requests than the release before had
			manifest = []byte(strings.Replace(
				string(manifest),
				"requests:\n",
				"requests:\n  - {certificate: trust, why: an upgrade that wants more}\n",
				1,
			))
		case "claims":
			manifest = []byte(strings.Replace(
				string(manifest),
				"path: /faulty",
				"path: /restconf/data",
				1,
			))
		case "unmarked": // a secret that its module does not mark
			modules = withUnmarkedSecret()
		case "exclusive":
			manifest = []byte(strings.Replace(
				string(manifest),
				"purpose: test",
				"reload: restart",
				1,
			))
		}
	}
}

// withUnmarkedSecret is its module with a leaf that has the name of a secret.
func withUnmarkedSecret() fs.FS {
	const path = "yang/faulty.yang"
	text, _ := embedded.ReadFile(path) // it is there
	leaf := []byte("container store { leaf console-password { type string; } }\n  grouping text {")
	return fstest.MapFS{path: {Data: bytes.Replace(text, []byte("grouping text {"), leaf, 1)}}
}

// claimless serves only what two plugins may both serve.
var claimless bool

// lastLine is what stands after the word FAULTY at the end of the program's file: so a test makes another release of
// it.
func lastLine() string {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return ""
	}
	defer f.Close()
	end := make([]byte, 64)
	if _, err := f.Seek(-int64(len(end)), io.SeekEnd); err != nil {
		return ""
	}
	if _, err := io.ReadFull(f, end); err != nil {
		return ""
	}
	_, words, _ := strings.Cut(string(end), "\nFAULTY ")
	return words
}
