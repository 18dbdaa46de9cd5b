package main

import (
	"strings"
	"testing"
)

func TestAHelpBecomesAManualPage(t *testing.T) {
	p := parseHelp("Serves tea. And\n.coffee.\n\nUsage:\n  tea serve [flags]\n\nAvailable Commands:\n  cup   one of it\n\nFlags:\n      --hot     not cold\n  -h, --help    this\n")
	page := string(p.formatRoff("tea-serve", []string{"tea (1)"}))
	want := `.TH "TEA-SERVE" "1" "" "ctl" "ctl"
.SH NAME
tea\-serve \- Serves tea
.SH SYNOPSIS
.B tea serve [flags]
.br
.SH DESCRIPTION
Serves tea. And
\&.coffee.
.PP
.SH COMMANDS
.TP
.B cup
one of it
.SH OPTIONS
.TP
.B \-\-hot
not cold
.TP
.B \-h, \-\-help
this
.SH SEE ALSO
.BR tea (1)
`
	if page != want || len(p.commands) != 1 || p.commands[0] != "cup" {
		t.Errorf("commands %q, page\n%s", p.commands, page)
	}
	if p := parseHelp("usage: x [-v] <y>\n\nDoes y.\n\n  -v, --verbose  more\n\ncommands:\n  a <b>    c\n"); !strings.Contains(string(p.formatRoff("x", nil)), ".SH OPTIONS\n.TP\n.B \\-v, \\-\\-verbose\nmore\n.SH COMMANDS\n.TP\n.B a <b>\nc\n") {
		t.Errorf("%s", p.formatRoff("x", nil))
	}
}
