// Package console is what ctl and the controller's console have in common: the requests they make to each
// other beyond plain SSH, exit codes, how words are quoted, and the status line of long work. A client that
// knows none of it, such as OpenSSH, works all the same.
package console

// PromptRequest is a global request from server to client: ask the user, answer
// with the line typed. A client that refuses it has its standard input read.
const PromptRequest = "prompt@ctl.internal"

// Prompt is the payload of a PromptRequest.
type Prompt struct {
	Text string
	Echo bool
}

// Answer is the payload of its reply.
type Answer struct{ Line string }

// ProgressRequest is a global request without reply: show the state of long work.
const ProgressRequest = "progress@ctl.internal"

// Progress is its payload; an empty text clears it.
type Progress struct {
	Text        string
	Done, Total uint64
}

// Requests from server to client about files that the user named: the client reads and writes them
// with the rights of the user who runs it.
const (
	ReadFileRequest  = "read-file@ctl.internal"
	WriteFileRequest = "write-file@ctl.internal"
)

// MaxFilePart bounds the bytes of a file in one request or answer.
const MaxFilePart = 64 << 10

// Their payloads, and those of the answers; Fault says why not. A file that has no byte at the offset
// has ended; the first part of a file to write makes it, and it must not be there.
type (
	ReadFile struct {
		Path   string
		Offset uint64
	}
	FileContent struct{ Data, Fault string }
	WriteFile   struct {
		Path   string
		Offset uint64
		Data   string
	}
	FileWritten struct{ Fault string }
)

// Environment variables that a session accepts; all others are refused.
const (
	EnvFormat = "CTL_FORMAT" // output of every command: text or json
	EnvBatch  = "CTL_BATCH"  // name of the file that a shell without a terminal reads
	EnvKeepOn = "CTL_KEEP_GOING"
	EnvWidth  = "COLUMNS" // of the terminal that one line writes to; it has no window of its own
)

// Offline is a command on the files of a home, without a controller. ctl has it carried out by ctld, as JSON
// after the flag OfflineFlag.
type Offline struct {
	Name    string              `json:"name"`
	Format  string              `json:"format"` // text or json
	Options map[string]string   `json:"options,omitempty"`
	Args    map[string][]string `json:"args,omitempty"`
}

// OfflineFlag is the flag of ctld that is followed by an Offline.
const OfflineFlag = "offline"
