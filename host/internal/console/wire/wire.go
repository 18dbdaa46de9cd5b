package wire

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

// Payloads of the session requests of RFC 4254, sections 6.2 to 6.10.
type (
	// PTY asks for a terminal.
	PTY struct {
		Term                          string
		Columns, Rows, PixelX, PixelY uint32
		Modes                         string
	}
	// Window tells its new size.
	Window struct{ Columns, Rows, PixelX, PixelY uint32 }
	// Env sets a variable.
	Env struct{ Name, Value string }
	// Exec starts a line.
	Exec struct{ Line string }
	// Signal is sent to the running command.
	Signal struct{ Name string }
	// ExitStatus ends a session.
	ExitStatus struct{ Status uint32 }
)
