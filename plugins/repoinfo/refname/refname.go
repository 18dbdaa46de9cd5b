// Package refname says which names of projects, references and paths are let
// through to the file system, to git and to the review server. It decides only;
// package clones looks projects up and package history looks references up.
package refname

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctl.internal/sdk/fault"
)

const (
	maxProject = 255
	maxRef     = 1024
	maxPath    = 4096
)

// Project checks the name of a project, which becomes a path below the folder
// of clones and a part of the review server's addresses: segments joined by
// "/", none of them hidden, an option, or a step upwards.
func Project(name string) error {
	bad := func(why string) error {
		return fault.At(fault.Invalid, "project", "the project name %s", why)
	}
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > maxProject:
		return bad("is longer than 255 bytes")
	case !utf8.ValidString(name):
		return bad("is not UTF-8")
	case strings.ContainsFunc(name, unicode.IsControl):
		return bad("holds a control character")
	case strings.ContainsAny(name, "\\:?*\"<>|%#"):
		return bad("holds one of the characters \\ : ? * \" < > | % #")
	}
	for seg := range strings.SplitSeq(name, "/") {
		switch {
		case seg == "":
			return bad("has an empty segment")
		case seg[0] == '.' || seg[0] == '-':
			return bad("has a segment that begins with \".\" or \"-\"")
		case strings.HasSuffix(seg, ".git"):
			return bad("has a segment that ends in .git: leave .git away")
		case strings.TrimSpace(seg) != seg:
			return bad("has a segment with a blank at its edge")
		}
	}
	return nil
}

// Path checks a path inside a repository, as git stores it.
func Path(path string) error {
	bad := func(why string) error {
		return fault.At(fault.Invalid, "path", "the path %s", why)
	}
	switch {
	case path == "":
		return bad("is empty")
	case len(path) > maxPath:
		return bad("is longer than 4096 bytes")
	case strings.ContainsRune(path, 0):
		return bad("holds a NUL character")
	case path[0] == '/':
		return bad("begins with \"/\": give it from the root of the repository")
	}
	for seg := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if seg == "" || seg == "." || seg == ".." {
			return bad("has an empty segment, \".\" or \"..\"")
		}
	}
	return nil
}

// Ref checks the name of a branch, tag or full reference, or a commit hash, by
// the rules of git-check-ref-format(1), so that no option, range or revision
// expression gets through. parameter is named in the error.
func Ref(parameter, name string) error {
	bad := func(why string) error {
		return fault.At(
			fault.Invalid,
			parameter,
			"the reference %s: give a branch, a tag or a commit hash",
			why,
		)
	}
	switch {
	case name == "":
		return bad("is empty")
	case len(name) > maxRef:
		return bad("is longer than 1024 bytes")
	case name[0] == '-':
		return bad("begins with \"-\"")
	case strings.Contains(name, ".."):
		return bad("holds \"..\"")
	case strings.Contains(name, "@{") || name == "@":
		return bad("holds \"@{\" or is \"@\"")
	case strings.ContainsAny(name, " ~^:?*[\\"):
		return bad("holds a blank or one of the characters ~ ^ : ? * [ \\")
	case strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == unicode.ReplacementChar
	}):
		return bad("holds a control character or is not UTF-8")
	case strings.HasSuffix(name, "."):
		return bad("ends in \".\"")
	}
	for seg := range strings.SplitSeq(name, "/") {
		if seg == "" || seg[0] == '.' || strings.HasSuffix(seg, ".lock") {
			return bad("has a segment that is empty, begins with \".\" or ends in .lock")
		}
	}
	return nil
}

var hash = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)

// Hash reports whether name can be a full or shortened object name.
func Hash(name string) bool { return hash.MatchString(name) }
