package simrouter

import "time"

// Faults is what is wrong with a router's NETCONF; the zero value is a healthy one.
// Operations are named as in RFC 6241 ("edit-config", "commit"); "*" is any.
type Faults struct {
	// Logging in and hello.
	RefuseLogin bool   // no password and no key is right
	NoHello     bool   // connected, and then nothing
	Hello       string // this instead of the hello
	ChunksInOld bool   // chunks although the hello only offers base:1.0

	// Replies.
	Silent    string        // this operation is done but not answered
	LoseFirst int           // so many first operations of a session are done and not answered
	Half      string        // half of the reply to this, then the connection ends
	Stall     string        // half of the reply to this, then nothing
	Hangup    string        // the connection ends before this is done
	HangupOK  string        // the connection ends when this is done, before the answer
	Empty     string        // a reply without content, nothing is done
	Twice     string        // ok, rpc-error, ok in one reply, nothing is done
	Refuse    string        // two rpc-errors and a warning, nothing is done
	RefuseTag string        // error-tag of Refuse; empty: operation-failed
	Ignore    string        // ok, and nothing is done
	Garbage   bool          // replies are not XML
	WrongID   bool          // replies carry a message-id that nobody sent
	NoID      bool          // replies carry none
	Swap      bool          // a reply is overtaken by the next
	Events    bool          // a notification before each reply, without subscription
	Delay     time.Duration // before each reply

	// Bytes.
	Pieces    int // so many bytes a write, marks and headers are cut; 0: whole
	ChunkSize int // the most bytes of a chunk; 0: whole
	Pad       int // bytes of comment in each reply
}

func hits(fault, operation string) bool { return fault == operation || fault == "*" }
