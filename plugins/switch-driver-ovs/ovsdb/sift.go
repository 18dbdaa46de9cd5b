package ovsdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ovn-kubernetes/libovsdb/model"
	"github.com/ovn-kubernetes/libovsdb/ovsdb"
)

// maxDepth is how deep a message may nest: a schema has eleven levels. libovsdb reads
// each level of a value anew.
const maxDepth = 32

// sift passes on the messages of a host that libovsdb can read, and fails at the first
// that it cannot: its goroutines take the whole process along when a value is not of
// RFC 7047's notation (an empty array for a set, an object for a key of a map) or an
// answer has no id. Of what a host says unasked only "echo" is passed.
func sift(to io.Writer, from *io.LimitedReader) error {
	for d := json.NewDecoder(from); ; {
		var m json.RawMessage
		err := d.Decode(&m)
		switch {
		case from.N <= 0:
			return errTooMuch
		case errors.As(err, new(*json.SyntaxError)):
			return fmt.Errorf("the host says what is no OVSDB: %w", err)
		case errors.Is(err, io.ErrUnexpectedEOF):
			return io.EOF
		case err != nil:
			return err
		}
		pass, err := readable(m)
		if err != nil {
			return fmt.Errorf("the host says what is no OVSDB: %w", err)
		}
		if !pass {
			continue
		}
		if _, err := to.Write(m); err != nil {
			return err
		}
	}
}

// readable tells whether a message is to be passed.
func readable(m json.RawMessage) (pass bool, err error) {
	if depth(m) > maxDepth {
		return false, fmt.Errorf("a message of more than %d levels", maxDepth)
	}
	var f struct {
		Method string           `json:"method"`
		Params *json.RawMessage `json:"params"`
		ID     *json.RawMessage `json:"id"`
		Result *json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(m, &f); err != nil {
		return false, err
	}
	if f.Method != "" {
		return f.Method == "echo" && f.Params != nil && f.ID != nil, nil
	}
	var id uint64
	if f.ID == nil || json.Unmarshal(*f.ID, &id) != nil {
		return false, errors.New("an answer to nothing")
	}
	if f.Result == nil {
		return true, nil
	}
	return true, digestible(*f.Result)
}

// digestible reads a result as libovsdb will. That it is another kind of result than is
// looked for here is not its concern.
func digestible(result json.RawMessage) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("values that are none (%v)", v)
		}
	}()
	switch {
	case bytes.HasPrefix(result, []byte("[")):
		var results []ovsdb.OperationResult
		_ = json.Unmarshal(result, &results)
	case bytes.HasPrefix(result, []byte("{")):
		var schema ovsdb.DatabaseSchema
		if json.Unmarshal(result, &schema) != nil {
			return nil
		}
		m, err := clientModel()
		if err != nil {
			return err
		}
		_, _ = model.NewDatabaseModel(schema, m)
	}
	return nil
}

// depth is how many arrays and objects are open at most.
func depth(m json.RawMessage) (most int) {
	open, quoted := 0, false
	for i := 0; i < len(m); i++ {
		switch c := m[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			open++
			most = max(most, open)
		case c == ']' || c == '}':
			open--
		}
	}
	return most
}
