// Package commands is the capability of serving shell commands, and the form in
// which the controller's own commands are written: a table of Command values with
// compulsory help. The console parses the line, checks it against the table,
// completes values and renders results as text or JSON.
package commands

import (
	"context"
	"io"
	"slices"

	"ctl.internal/sdk/caller"
)

// Command is one shell command.
type Command struct {
	Name      string // "scope:name", "switch:PrintDB"
	Summary   string // one line for lists
	Help      string // the long text: what it does, an example, what it needs
	Arguments []Argument
	Options   []Option
	Safe      bool // changes nothing; may be repeated after a crash
	// Run executes the command. Whatever it returns is shown as an error and makes
	// the exit code non-zero.
	Run func(ctx context.Context, in *Invocation) error
}

// Argument is a positional argument, in order.
type Argument struct {
	Name     string
	Help     string
	Required bool
	Repeated bool     // takes all that is left; only the last argument
	Type     Type     // String when empty, File or NewFile
	Secret   bool     // kept out of history and audit whatever its name is; the controller's own commands only
	Values   []string // the fixed values, when there are such
	// of a File: endings of files beside it that come with it if they are there; the controller's own commands only
	Beside []string
	// Complete lists values that begin with prefix; nil = none.
	Complete func(ctx context.Context, prefix string) []string
}

// Type is the type of an option's value.
type Type string

// The types of options; arguments have the last two or none. A Bool option takes no value. Of a File, which
// the command reads, and a NewFile, which it makes, the command gets the absolute path: the console
// has looked whether the user may reach it, and for the operator at the machine it sends the content
// to and fro. "-" is passed on as it is.
const (
	String  Type = "string"
	Bool    Type = "bool"
	Int     Type = "int"
	File    Type = "file"
	NewFile Type = "newfile"
)

// Option is a named option. The console accepts --name value, --name=value,
// -name value (as Karaf does) and -s value for Short.
type Option struct {
	Name     string   // without dashes
	Short    string   // one letter or Karaf's short word, without the dash; may be empty
	Aliases  []string // further names accepted
	Help     string
	Type     Type // String when empty
	Default  string
	Required bool
	Secret   bool // kept out of history and audit whatever its name is; the controller's own commands only
	Values   []string
	Complete func(ctx context.Context, prefix string) []string
}

// Progress is the state of long work, shown as one status line.
type Progress struct {
	Text  string
	Done  int64
	Total int64 // 0 = unknown
}

// Terminal is what a running command can ask of the console it was typed at.
type Terminal interface {
	// Prompt asks the user and returns the line typed, without echo when echo is
	// false. It fails with fault.Unavailable if there is no user to ask.
	Prompt(ctx context.Context, text string, echo bool) (string, error)
	// Progress shows the state of long work; the zero Progress clears it.
	Progress(p Progress)
}

// Invocation is one run of a command.
type Invocation struct {
	Name    string
	Options map[string]string   // by Option.Name; absent when neither given nor defaulted
	Args    map[string][]string // by Argument.Name; absent when not given
	// Positional is the values of Args in the order they were typed; the console sets it.
	Positional []string
	Format     string // "text" or "json"
	Described  bool   // with "json": a Table is written with its columns; the console sets it
	Width      int    // columns of the terminal, 0 without a terminal
	Caller     caller.Caller
	Stdin      io.Reader // what a pipe or file feeds; io.EOF at once otherwise
	Stdout     io.Writer
	Stderr     io.Writer
	Terminal
}

// Arg returns the first value of an argument, empty when it was not given.
func (in *Invocation) Arg(name string) string {
	if v := in.Args[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// Option returns the value of an option, empty when it has none.
func (in *Invocation) Option(name string) string {
	return in.Options[name]
}

// Flag reports whether a Bool option was given.
func (in *Invocation) Flag(name string) bool {
	return in.Options[name] == "true"
}

// Find returns the command of a name.
func Find(table []Command, name string) (Command, bool) {
	i := slices.IndexFunc(table, func(c Command) bool { return c.Name == name })
	if i < 0 {
		return Command{}, false
	}
	return table[i], true
}
