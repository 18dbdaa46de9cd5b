package ofp13

import "encoding/binary"

// Error types and codes (7.4.4) that discovery sends or understands.
const (
	ErrorHelloFailed       = 0
	ErrorBadRequest        = 1
	ErrorRoleRequestFailed = 11

	CodeIncompatible = 0  // of ErrorHelloFailed
	CodeIsSlave      = 10 // of ErrorBadRequest
	CodeStale        = 0  // of ErrorRoleRequestFailed
)

// Error says what was wrong with the message of the same transaction. Data is the
// beginning of that message, or text for ErrorHelloFailed.
type Error struct {
	Kind, Code uint16
	Data       []byte
}

// Type implements Message.
func (Error) Type() Type { return TypeError }

func (e Error) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, e.Kind)
	b = binary.BigEndian.AppendUint16(b, e.Code)
	return append(b, e.Data...)
}

func decodeError(r *cursor) Error { return Error{Kind: r.u16(), Code: r.u16(), Data: r.rest()} }
