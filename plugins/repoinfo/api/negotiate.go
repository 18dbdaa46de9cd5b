package api

import (
	"mime"
	"strconv"
	"strings"
)

const (
	typeJSON  = "application/json"
	typeLines = "application/x-ndjson"
)

// wantsLines says whether the answer goes out as one JSON object a line: by the
// parameter format, else when the caller prefers that to JSON.
func wantsLines(p params, accept string) (bool, error) {
	v, err := p.choice("format", "", "json", "ndjson")
	if err != nil || v != "" {
		return v == "ndjson", err
	}
	lines := quality(accept, typeLines)
	return lines > 0 && lines >= quality(accept, typeJSON), nil
}

// quality is the weight that a header of the Accept family gives to exactly one
// value; 0 when it does not name it.
func quality(header, value string) float64 {
	for part := range strings.SplitSeq(header, ",") {
		name, attrs, err := mime.ParseMediaType(part)
		if err != nil || name != value {
			continue
		}
		q, err := strconv.ParseFloat(attrs["q"], 64)
		if err != nil {
			q = 1
		}
		return q
	}
	return 0
}
