package review

import (
	"bytes"
	"encoding/json"

	"ctl.internal/sdk/fault"
)

func notExpected(err error) error {
	return &fault.Error{Kind: fault.Downstream, Source: fault.SourceDevice, Cause: err,
		Text: "the review server's answer is JSON of another shape than its REST API has"}
}

// projectPage reads the map of projects: name → whether the server has more
// pages after it.
func projectPage(body []byte) (map[string]bool, error) {
	var page map[string]struct {
		More bool `json:"_more_projects"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, notExpected(err)
	}
	names := make(map[string]bool, len(page))
	for name, p := range page {
		names[name] = p.More
	}
	return names, nil
}

// arrayPage reads an array of objects and leaves them as they are, but for the
// mark of the paging.
func arrayPage(body []byte) ([]json.RawMessage, []member, error) {
	var page []json.RawMessage
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, nil, notExpected(err)
	}
	members := make([]member, len(page))
	for i, raw := range page {
		if len(raw) == 0 || raw[0] != '{' {
			return nil, nil, notExpected(nil)
		}
		if err := json.Unmarshal(raw, &members[i]); err != nil {
			return nil, nil, notExpected(err)
		}
		if bytes.Contains(raw, []byte("_more_changes")) {
			rest, err := without(raw, "_more_changes")
			if err != nil {
				return nil, nil, notExpected(err)
			}
			page[i] = rest
		}
	}
	return page, members, nil
}

// without copies an object and leaves one member out; all else keeps its order
// and its spelling.
func without(raw json.RawMessage, name string) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if key == name {
			continue
		}
		quoted, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted...), ':'), value...)
	}
	return append(out, '}'), nil
}
