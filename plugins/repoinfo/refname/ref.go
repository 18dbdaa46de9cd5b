package refname

import (
	"strings"
	"unicode"

	"ctl.internal/sdk/fault"
)

// Ref checks the name of a branch, tag or full reference, or a commit hash, by
// the rules of git-check-ref-format(1), so that no option, range or revision
// expression gets through. parameter is named in the error.
func Ref(parameter, name string) error {
	bad := func(why string) error {
		return fault.At(fault.Invalid, parameter, "the reference %s: give a branch, a tag or a commit hash", why)
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
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || r == unicode.ReplacementChar }):
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

// Hash reports whether name can be a full or shortened object name.
func Hash(name string) bool {
	if len(name) < 7 || len(name) > 64 {
		return false
	}
	for _, c := range []byte(name) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}
