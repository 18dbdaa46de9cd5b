package server

import (
	"encoding/json"
	"time"

	"ctl.internal/host/internal/aaa/accounting"
)

// accountingStream is where plugins that listen to logins and changes subscribe. It
// is no RESTCONF stream: what it says is for those the operator installed.
const accountingStream = "accounting"

// publishAccounting hands logins and changes of access control to the event bus.
func (s *Server) publishAccounting(e accounting.Event) {
	data, err := json.Marshal(map[string]any{"accounting:" + e.Kind: map[string]any{
		"time": e.Time.UTC().Format(time.RFC3339Nano), "action": e.Action, "object": e.Object, "user": e.User, "realm": e.Realm,
		"address": e.Address, "request-id": e.RequestID, "ok": e.OK, "reason": e.Reason,
	}})
	if err == nil {
		s.bus.Publish(accountingStream, "host", data)
	}
}
