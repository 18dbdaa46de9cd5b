package idm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"ctl.internal/sdk/fault"
)

const maxBody = 64 << 10

// object is the body of a request, its members not yet read.
type object struct {
	members map[string]json.RawMessage
	faults  fault.List
}

// readJSONObject reads a JSON object whose members are among those known; members that
// are unknown or stand twice are all named in the error.
func readJSONObject(r *http.Request, known ...string) (*object, error) {
	if err := wantType(r, "application/json"); err != nil {
		return nil, err
	}
	data, err := readAll(r)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fault.New(
			fault.Malformed,
			`the body must be a JSON object, such as {"%s": …}`,
			known[0],
		)
	}
	o := &object{members: map[string]json.RawMessage{}}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, malformedJSONError(data, d.InputOffset(), err)
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, malformedJSONError(data, d.InputOffset(), err)
		}
		n, _ := name.(string)
		switch _, twice := o.members[n]; {
		case twice:
			o.faults = append(o.faults, fault.At(fault.Malformed, n, "this member occurs twice"))
		case !slices.Contains(known, n):
			o.faults = append(
				o.faults,
				fault.At(
					fault.Unknown,
					n,
					"there is no such member; known are: %s",
					strings.Join(known, ", "),
				),
			)
		}
		o.members[n] = raw
	}
	if _, err := d.Token(); err != nil {
		return nil, malformedJSONError(data, d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.New(fault.Malformed, "there is text after the JSON object")
	}
	return o, nil
}

// malformedJSONError says where the text stops being JSON, and what to look for there.
func malformedJSONError(data []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	said, remedy := err.Error(), "correct it there"
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		offset, said, remedy = int64(len(data)), "it ends in the middle", "is a quote or a closing brace missing, or was it cut short?"
	case errors.As(err, &syntax):
		offset = max(offset, min(syntax.Offset, int64(len(data))))
	}
	before := data[:offset]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fault.New(
		fault.Malformed,
		"the body is not JSON at line %d, column %d (byte %d of %d): %s; %s",
		line,
		column,
		offset,
		len(data),
		said,
		remedy,
	)
}

func wantType(r *http.Request, want string) error {
	got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil ||
		got != want && !(want == "application/json" && strings.HasSuffix(got, "+json")) {
		return fault.New(fault.Unsupported, "the body must be sent as %s", want)
	}
	return nil
}

func readAll(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	var tooBig *http.MaxBytesError
	if len(data) > maxBody || errors.As(err, &tooBig) {
		return nil, fault.New(fault.TooBig, "the body is longer than %d bytes", maxBody)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "the body could not be read")
	}
	return data, nil
}

// textMember returns a member that is a string; nil when it is absent or null.
func (o *object) textMember(name string) *string {
	raw, ok := o.members[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		o.faults = append(o.faults, fault.At(fault.Invalid, name, "must be a string"))
		return nil
	}
	return &s
}

// textMembers are the members of these names that are there.
func (o *object) textMembers(names []string) map[string]string {
	out := map[string]string{}
	for _, name := range names {
		if s := o.textMember(name); s != nil {
			out[name] = *s
		}
	}
	return out
}

// booleanMember returns a member that is true or false, also written as a number or text.
func (o *object) booleanMember(name string) *bool {
	raw, ok := o.members[name]
	if !ok || string(raw) == "null" {
		return nil
	}
	b := false
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true", "1":
		b = true
	case "false", "0":
	default:
		o.faults = append(o.faults, fault.At(fault.Invalid, name, "must be true or false"))
		return nil
	}
	return &b
}

// requiredText is text for a member that must be there.
func (o *object) requiredText(name string) string {
	s := o.textMember(name)
	if s == nil {
		if !slices.ContainsFunc(o.faults, func(f *fault.Error) bool {
			return f.Path == name
		}) {
			o.faults = append(o.faults, fault.At(fault.Missing, name, "this member is required"))
		}
		return ""
	}
	return *s
}

// checkComputed reports a member that was sent and is not what the controller computes.
func (o *object) checkComputed(name, computed string) {
	if s := o.textMember(name); s != nil && *s != computed {
		o.faults = append(
			o.faults,
			fault.At(
				fault.Invalid,
				name,
				"the controller sets this: leave it out or send %q",
				computed,
			),
		)
	}
}

// valueOr is what a member holds; otherwise, where it was not sent.
func valueOr[T any](member *T, otherwise T) T {
	if member == nil {
		return otherwise
	}
	return *member
}
