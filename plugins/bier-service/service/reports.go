package service

import (
	"context"
	"log/slog"
	"time"
)

// stream is the event stream of routers.
const stream = "bier-service"

// waiting is how many reports may wait to be told.
const waiting = 1024

type report struct {
	Reason string `json:"failure-reason"`
	Node   string `json:"node-id"`
}

// report tells an operator, in the log and on the event stream, without waiting.
func (s *Service) report(node, text string) {
	slog.Warn("BIER router", "node", node, "report", text)
	select {
	case s.reports <- report{text, node}:
	default:
		slog.Warn("reports on BIER routers are lost: the host does not take them")
	}
}

func (s *Service) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-s.reports:
			c, cancel := context.WithTimeout(ctx, 5*time.Second)
			if err := s.host.Events.Publish(c, stream, "bier-service-api:report-message", r); err != nil && ctx.Err() == nil {
				slog.Warn("a report on a BIER router is lost", "node", r.Node, "err", err)
			}
			cancel()
		}
	}
}
