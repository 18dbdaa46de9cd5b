package ctlclient

import (
	"fmt"
	"strings"
)

// What ctl and the controller's console say to each other, as ctl knows it; a test
// holds it against the console's own words.
const (
	promptRequest   = "prompt@ctl.internal"   // the console asks the user
	progressRequest = "progress@ctl.internal" // the console shows the state of long work

	readFileRequest  = "read-file@ctl.internal"  // the console needs a file that the user named
	writeFileRequest = "write-file@ctl.internal" // the console has made one

	envFormat = "CTL_FORMAT"
	envBatch  = "CTL_BATCH"
	envKeepOn = "CTL_KEEP_GOING"
	envWidth  = "COLUMNS"
)

// The payloads of the two requests and of the answer.
type (
	promptPayload struct {
		Text string
		Echo bool
	}
	answerPayload   struct{ Line string }
	progressPayload struct {
		Text        string
		Done, Total uint64
	}
	readFilePayload struct {
		Path   string
		Offset uint64
	}
	fileContentPayload struct{ Data, Fault string }
	writeFilePayload   struct {
		Path   string
		Offset uint64
		Data   string
	}
	fileWrittenPayload struct{ Fault string }
)

// The exit codes that ctl itself ends with.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitDenied      = 4
	exitUnavailable = 5
)

// exitMeanings are all codes that a command may end with.
var exitMeanings = []struct {
	code int
	text string
}{
	{exitOK, "the command did what it was told"},
	{exitFailed, "the command ran and failed; a grep found nothing"},
	{exitUsage, "the line, an option or an argument is wrong; nothing was done"},
	{exitNotFound, "there is no such command, or the thing it names does not exist"},
	{exitDenied, "the user may not do this"},
	{exitUnavailable, "nobody answers: no controller, a plugin that is gone, a silent device"},
	{130, "Ctrl-C or a closed connection ended the command"},
}

func exitCodes() string {
	var b strings.Builder
	for _, m := range exitMeanings {
		fmt.Fprintf(&b, "  %3d  %s\n", m.code, m.text)
	}
	return b.String()
}

// joinWords writes words as a line of the shell that means exactly them.
func joinWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || w[0] == '#' || strings.ContainsAny(w, " \t\r\n|;'\"\\") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
