package netconf

import (
	"errors"
	"time"

	"ctl.internal/internal/netconf/xmltree"
)

// maxQueued bounds the notifications that wait for a slow reader.
const maxQueued = 1024

// Notification is an event of the router (RFC 5277 section 4).
type Notification struct {
	At   time.Time     // eventTime; of arrival if the router's is not readable
	Body *xmltree.Node // the event itself
	// Lost is how many notifications were dropped before this one because nobody read.
	Lost int
}

func readNotification(root *xmltree.Node) (Notification, error) {
	n := Notification{At: time.Now()}
	if at, err := time.Parse(time.RFC3339, root.Value("eventTime")); err == nil {
		n.At = at
	}
	for _, k := range root.Kids {
		if !k.Is(NSNotification, "eventTime") {
			n.Body = k
			return n, nil
		}
	}
	return n, errors.New("a notification without content")
}
