package switchcli

import (
	"regexp"
	"strings"

	"ctl.internal/sdk/fault"
)

// pager is what a switch shows at the end of a page, and what turns it.
type pager struct {
	shown *regexp.Regexp
	key   string // empty: a line end
}

// listPagers are those of the switches that are known. What says "press any key" or "press Enter" may also stand before
// a login.
func listPagers() []pager {
	compile := func(text string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:` + text + `)\s*\z`)
	}
	return []pager{
		{compile(`[<\[]?-+ *[(\[]?more[^\n]{0,100}`), " "},              // most of them
		{compile(`[^\n]{0,80}next (?:page|screen)[^\n]{0,80}`), " "},    // D-Link, ProCurve, AOS
		{compile(`more: *<space>[^\n]{0,80}`), " "},                     // Dell, Cisco SG
		{compile(`-- *\[q quit[^\n]{0,60}`), " "},                       // RouterOS
		{regexp.MustCompile(`(?m)^lines \d+-\d+[^\n]{0,40}\z`), " "},    // EOS, which shows pages by less
		{regexp.MustCompile(`(?m)^\(END\)[ \t]*\z`), "q"},               // its end
		{compile(`press (?:any key|q to quit,)[^\n]{0,100}`), " "},      // TP-Link, SR OS
		{compile(`press [<'"]?space(?: ?bar)?[>'"]?[^\n]{0,100}`), " "}, // EXOS
		{compile(`press [<'"]?(?:enter|return)[>'"]?[^\n]{0,40}(?:continue|next|start)[^\n]{0,60}`), ""},
	}
}

// question is what a switch may ask before it shows its prompt, beside user and password.
type question struct {
	asked  *regexp.Regexp
	answer string // what is typed; $1 is the first group of asked
	line   bool   // with a line end
	refuse string // why it is not answered, a sentence that follows "switch NAME"
}

// loginQuestions are asked by some switches. Nothing that is typed changes a switch: a new password is never given.
func loginQuestions() []question {
	compile := func(text string) *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:` + text + `)\s*\z`)
	}
	return []question{
		{asked: compile(`(?:new|old|current|confirm|confirmed|re-?enter|re-?type|verify)\b[^\n]{0,40}password[^\n]{0,40}:`),
			refuse: "wants a new password for CLI user %q, which has expired or was never changed: log in by hand, set one, and write it into the switch list"},
		{
			asked:  compile(`chang[^\n]{0,60}\? *[\[(]y(?:es)?/n(?:o)?[\])] *:?`),
			answer: "n",
			line:   true,
		},
		{
			asked:  compile(`initial configuration dialog\? *\[yes/no\] *:?`),
			answer: "no",
			line:   true,
		},
		{
			asked:  compile(`ctrl-y to begin[^\n]{0,20}`),
			answer: "\x19",
		}, // ERS
		{
			asked:  regexp.MustCompile(`(?is)command line interface\.\.\..*use arrow keys.*\z`),
			answer: "c",
		}, // its menu
		{
			asked: compile(`enter switch number to connect to[^\n]{0,40}`),
			line:  true,
		}, // ProCurve: the commander
		{
			asked: compile(`(?:select|choose|enter)[^\n]{0,40}(?:unit|member|switch|stack)[^\n]{0,40}(?:<cr>|\[\d+\])[^\n]{0,10}`),
			line:  true,
		}, // the one that is proposed
		{
			asked:  regexp.MustCompile(`(?is)(?:^|\n)\s*[\[(]?([0-9a-z])[.):\]]+[ \t]*(?:cli\b|command[ -]line)[^\n]*\n.*(?:select|choice|option|enter)[^\n]{0,60}[:>?]\s*\z`),
			answer: "$1",
			line:   true,
		},
	}
}

// maxQuestions is how many questions and pages before the prompt are answered, in all.
const maxQuestions = 20

// reply is what is typed at a question; text is what the switch said.
func (q question) reply(text, eol string) string {
	out := q.answer
	if strings.Contains(out, "$1") {
		if m := q.asked.FindStringSubmatch(text); len(m) > 1 {
			out = m[1]
		}
	}
	if q.line {
		out += eol
	}
	return out
}

// refusedFault is the fault of a question that is not answered.
func (q question) refusedFault(t Target) error {
	return fault.Device(fault.Denied, "switch %s "+q.refuse, t, t.User)
}
