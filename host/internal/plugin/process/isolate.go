package process

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
	// Required makes it an error when a part that the machine has cannot be set.
	Required bool
}
