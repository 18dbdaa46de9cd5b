package host

import (
	"context"
	"log/slog"
	"time"
)

// Publisher sends events to one stream, one after the other, without holding up
// who makes them. Run must run for anything to be sent.
type Publisher struct {
	client               *Client
	stream, notification string
	log                  *slog.Logger
	queue                chan any
}

// publishTimeout bounds how long the host may take for one event.
const publishTimeout = 5 * time.Second

// NewPublisher returns a publisher for a stream of the manifest and the notification
// "module:name". Up to size events wait; further ones are lost, and the log says so.
// A nil client sends nothing.
func NewPublisher(c *Client, stream, notification string, size int, log *slog.Logger) *Publisher {
	return &Publisher{
		client:       c,
		stream:       stream,
		notification: notification,
		log:          log,
		queue:        make(chan any, size),
	}
}

// Publish queues an event; data is encoded as the notification's members. It never
// waits.
func (p *Publisher) Publish(data any) {
	if p.client == nil {
		return
	}
	select {
	case p.queue <- data:
	default:
		p.log.Warn("an event is lost: the host does not take them", "stream", p.stream)
	}
}

// Run sends what is queued until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case data := <-p.queue:
			p.sendEvent(ctx, data)
		}
	}
}

func (p *Publisher) sendEvent(ctx context.Context, data any) {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	err := p.client.Events.Publish(ctx, p.stream, p.notification, data)
	if err != nil && ctx.Err() == nil {
		p.log.Warn("an event is lost", "stream", p.stream, "err", err)
	}
}
