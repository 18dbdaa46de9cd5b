package switchcli

import (
	"bytes"
	"regexp"
	"strings"
)

// depth is how much of what was said last is looked at for a prompt, in octets.
const depth = 1000

// compileEnding matches when text is the last that was said.
func compileEnding(text string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + regexp.QuoteMeta(strings.TrimSpace(text)) + `\s*\z`)
}

// anyPrompt is what most switches show when they wait for a command. It ends in # or >, after a word also in $.
func anyPrompt() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:[^\s#>][^\n#>]{0,80}[#>]+|[*!]?[\w.@:~/()\[\]-]{1,80} ?\$)[ \t]*\z`)
}

// marks are what some switches put before a prompt while there are changes that are not saved.
const marks = `(?m)^[ \t]*[*!]?[ \t]*`

// longName is how many characters of its name IOS shows in the prompts of configuration modes.
const longName = 20

// The prompts that change otherwise than by a mode at their end.
var (
	counted = regexp.MustCompile(`^(.*)\.\d+ [#>]$`)                     // EXOS: "* X440.7 #", each command has a number
	carded  = regexp.MustCompile(`^[A-Z]:([^\s#>$]+)(?:>[^#$]*)?[#>$]$`) // SR OS: "*A:sr1>config>router#"
	homed   = regexp.MustCompile(`^([\w.-]+@[\w.-]+):[^\s#$]*[#$]$`)     // a shell: "admin@sonic:~$"
)

// compilePrompts matches the prompt line that was seen after login, and those of other modes
// of the same switch: "sw1#" also "sw1(config)#", "<sw1>" also "[sw1-acl-1]" (Huawei, H3C).
// Blanks before it are what is left of a page prompt that the switch has wiped out.
func compilePrompts(seen string) *regexp.Regexp {
	seen = strings.TrimSpace(seen)
	if name := strings.Trim(seen, "<>[]*~"); name != "" && strings.ContainsAny(seen[:1], "<[") {
		return regexp.MustCompile(`(?m)^[ \t]*[<\[][*~]?` + regexp.QuoteMeta(name) + `[^\n<>\[\]]{0,60}[>\]]\s*\z`)
	}
	seen = strings.TrimLeft(seen, "*! ")
	if m := counted.FindStringSubmatch(seen); m != nil {
		return regexp.MustCompile(marks + regexp.QuoteMeta(m[1]) + `\.\d+ [#>]\s*\z`)
	}
	if m := carded.FindStringSubmatch(seen); m != nil {
		return regexp.MustCompile(marks + `[A-Z]:` + regexp.QuoteMeta(m[1]) + `(?:>[^\n#$]{0,200})?[#>$]\s*\z`)
	}
	if m := homed.FindStringSubmatch(seen); m != nil {
		return regexp.MustCompile(marks + regexp.QuoteMeta(m[1]) + `:[^\n#$]{0,200}[#$]\s*\z`)
	}
	stem := strings.TrimRight(seen, "#>$%")
	if stem == "" {
		return anyPrompt()
	}
	name := regexp.QuoteMeta(stem)
	if len(stem) > longName && !strings.ContainsAny(stem, " \t") {
		name = `(?:` + name + `|` + regexp.QuoteMeta(stem[:longName]) + `[^\n#>(]{0,60}\()`
	}
	return regexp.MustCompile(marks + name + `[^\n#>]{0,60}[#>$%]+\s*\z`)
}

// escapes are the sequences that draw on a terminal (ECMA-48), and titles of windows.
var escapes = regexp.MustCompile(`\x1b(?:\][^\x07\x1b]*\x07|[\[()#;?]*[0-9;?]*[0-9A-Za-z=><~])`)

// stripEscapes is what was said without what only draws.
func stripEscapes(said []byte) []byte {
	return escapes.ReplaceAllLiteral(bytes.ReplaceAll(said, []byte("\r"), nil), nil)
}

// lastLines is the end of what was said, from a line's beginning if there is one.
func lastLines(said []byte) []byte {
	if len(said) <= depth {
		return said
	}
	t := said[len(said)-depth:]
	if i := bytes.IndexByte(t, '\n'); i > 0 {
		t = t[i:]
	}
	return t
}

// lastLine is the last line that has anything on it.
func lastLine(said []byte) string {
	s := strings.TrimSpace(string(said))
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}
