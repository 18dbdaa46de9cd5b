package logs

import (
	"encoding/json"
	"strconv"
	"time"
)

// appendLine appends a record as JSON, as encoding/json has it, without its reflection: each request that writes waits for it.
func (r *AuditRecord) appendLine(line []byte) []byte {
	line = append(line, `{"seq":`...)
	line = strconv.AppendUint(line, r.Seq, 10)
	line = append(line, `,"time":"`...)
	line = r.Time.AppendFormat(line, time.RFC3339Nano)
	line = append(line, '"')
	line = appendText(line, "who", r.Who)
	line = appendText(line, "what", r.What)
	line = appendGiven(line, "object", r.Object)
	line = appendText(line, "outcome", r.Outcome)
	line = appendGiven(line, "class", r.Class)
	line = appendGiven(line, "address", r.Address)
	line = appendGiven(line, "request", r.Request)
	line = appendGiven(line, "realm", r.Realm)
	line = appendGiven(line, "session", r.Credential)
	line = appendGiven(line, "method", r.Method)
	line = appendGiven(line, "resource", r.Resource)
	line = appendNumber(line, "status", r.Status)
	line = appendNumber(line, "count", r.Count)
	line = appendText(line, "prev", r.Prev)
	return append(line, '}')
}

// appendGiven appends a member if it has a value.
func appendGiven(line []byte, name, value string) []byte {
	if value == "" {
		return line
	}
	return appendText(line, name, value)
}

func appendNumber(line []byte, name string, value int) []byte {
	if value == 0 {
		return line
	}
	return strconv.AppendInt(appendName(line, name), int64(value), 10)
}

func appendText(line []byte, name, value string) []byte {
	line = appendName(line, name)
	if !isPlain(value) {
		text, _ := json.Marshal(value) // a string has no error
		return append(line, text...)
	}
	line = append(line, '"')
	line = append(line, value...)
	return append(line, '"')
}

func appendName(line []byte, name string) []byte {
	line = append(line, ',', '"')
	line = append(line, name...)
	return append(line, '"', ':')
}

// isPlain reports whether a text is the same in JSON.
func isPlain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c > '~', c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}
