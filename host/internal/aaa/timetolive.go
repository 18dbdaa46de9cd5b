package aaa

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// defaultTimeToLive is how long a token stays in the cache when the file does
// not say.
const defaultTimeToLive = 360_000 * time.Millisecond

const maxTimeToLive = 24 * time.Hour

// timeToLive reads the element timeToLive of etc/ctl/karaf/08-authn-config.xml, in
// milliseconds, wherever in the file it is: the one value of the old system's file that still
// counts. An empty file means the default; name is used in messages.
func timeToLive(name string, data []byte) (time.Duration, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return defaultTimeToLive, nil
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	ttl, found := defaultTimeToLive, 0
	for {
		tok, err := d.Token()
		line, _ := d.InputPos()
		if errors.Is(err, io.EOF) {
			return ttl, nil
		}
		if err != nil {
			return 0, fmt.Errorf("%s:%d: this is not XML: %w", name, line, err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok || start.Name.Local != "timeToLive" {
			continue
		}
		var text string
		if err := d.DecodeElement(&text, &start); err != nil {
			return 0, fmt.Errorf("%s:%d: timeToLive: %w", name, line, err)
		}
		if found != 0 {
			return 0, fmt.Errorf(
				"%s:%d: timeToLive is already set at line %d; remove one of them",
				name,
				line,
				found,
			)
		}
		found = line
		ms, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil || ms < 1 || ms > maxTimeToLive.Milliseconds() {
			return 0, fmt.Errorf(
				"%s:%d: timeToLive takes milliseconds, 1 to %d",
				name,
				line,
				maxTimeToLive.Milliseconds(),
			)
		}
		ttl = time.Duration(ms) * time.Millisecond
	}
}
