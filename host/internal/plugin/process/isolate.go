package process

import "slices"

// Isolation says what keeps a plugin's process from the host and from other plugins.
type Isolation struct {
	By      []string
	Missing []string // with the reason
}

// Isolate says how a process is kept from others.
type Isolate struct {
	// The TCP ports that it may use; nil = any.
	Connect, Listen []uint16
	LowPorts        bool // it may listen at ports below 1024, TCP or UDP
	UDP             bool // it may use UDP, at any port
	// Files are what it may use besides its own directories and what the system provides to every program.
	Files []File
	// Home is the controller's: no rule about a directory above it reaches into it.
	Home   string
	Memory int64 // bytes that one process may write; 0 = 2 GiB
	// User is the number of the user whom the process runs as, from Keeper.User; 0 = that of the host, for the reason in
	// NoUser.
	User      int
	NoUser    string
	Processes int // and threads of that user; 0 = any number
	// Required makes it an error when a part that the machine has cannot be set.
	Required bool
}

// File is a file, or a directory with all in it.
type File struct {
	Path       string
	Write, Run bool
}

// canWriteFiles reports whether files other than its own may be written.
func (i Isolate) canWriteFiles() bool {
	return slices.ContainsFunc(i.Files, func(f File) bool { return f.Write })
}
