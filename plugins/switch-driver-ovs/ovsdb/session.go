// Package ovsdb speaks to the database of one Open vSwitch host (RFC 7047, schema Open_vSwitch), and reads
// its rows into the types of package bridge. A session is short: it serves one operation.
package ovsdb

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
)

// database is the one that is read and changed.
const database = "Open_vSwitch"

// maxSession is how much a host may send in one session, in bytes.
const maxSession = 16 << 20

// Session is a connection to the database of one host, for one goroutine.
type Session struct {
	ctx   context.Context
	conn  net.Conn
	left  *io.LimitedReader // of what the host may send
	in    *json.Decoder
	calls uint64
	stop  func() bool
}

// ErrTrust is a host whose certificate is not trusted, or that does not trust ours.
var ErrTrust = errors.New("TLS is refused")

// Open connects; the session ends with ctx. conf is for ssl: endpoints.
func Open(ctx context.Context, endpoint string, conf *tls.Config) (*Session, error) {
	conn, err := dialEndpoint(ctx, endpoint, conf)
	if err != nil {
		return nil, err
	}
	left := &io.LimitedReader{R: conn, N: maxSession + 1}
	s := &Session{
		ctx:  ctx,
		conn: conn,
		left: left,
		in:   json.NewDecoder(left),
		stop: context.AfterFunc(ctx, func() { conn.Close() }),
	}
	var databases []string
	err = s.callMethod("list_dbs", []any{}, &databases)
	if err == nil && !slices.Contains(databases, database) {
		err = fmt.Errorf("the host has the databases %.200q, not %s", databases, database)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// dialEndpoint reaches tcp:ADDRESS:PORT, ssl:ADDRESS:PORT or unix:PATH.
func dialEndpoint(ctx context.Context, endpoint string, conf *tls.Config) (net.Conn, error) {
	scheme, rest, _ := strings.Cut(endpoint, ":")
	switch scheme {
	case "tcp", "unix":
		return (&net.Dialer{}).DialContext(ctx, scheme, rest)
	case "ssl":
		c, err := (&tls.Dialer{Config: conf}).DialContext(ctx, "tcp", rest)
		return c, refusedCertificate(err)
	}
	return nil, fmt.Errorf(
		"%q is not an OVSDB address; write tcp:ADDRESS:PORT, ssl:ADDRESS:PORT or unix:PATH",
		endpoint,
	)
}

// refusedCertificate is the error of a host that does not take our certificate (RFC 8446, 6.2): it sends an alert, in
// version 1.3 only after the handshake.
func refusedCertificate(err error) error {
	e := (*net.OpError)(nil)
	if errors.As(err, &e) && e.Op == "remote error" {
		return fmt.Errorf(
			"%w: the host does not accept the controller's certificate (%w); its `ovs-vsctl set-ssl` must name the authority that signed it",
			ErrTrust,
			e.Err,
		)
	}
	return err
}

// Close ends the session. It may be called again.
func (s *Session) Close() {
	s.stop()
	s.conn.Close()
}

// message is a request or an answer (RFC 7047, 4).
type message struct {
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  any             `json:"error,omitempty"`
}

// callMethod asks the host something and reads up to its answer.
func (s *Session) callMethod(method string, params, result any) error {
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	s.calls++
	id := fmt.Sprint(s.calls)
	out := json.NewEncoder(s.conn)
	_ = out.Encode(message{
		Method: method,
		Params: text,
		ID:     json.RawMessage(id),
	}) // why that fails is known when reading
	for {
		var m message
		if err := s.in.Decode(&m); err != nil {
			return s.failureReason(err)
		}
		switch {
		case m.Method == "echo": // the host looks whether we are there
			_ = out.Encode(message{ID: m.ID, Result: m.Params})
		case m.Method != "": // a notification without a subscription
		case string(m.ID) != id:
			return errors.New("the host does not use OVSDB: it answered a request that was not sent")
		case m.Error != nil:
			return fmt.Errorf("the host refuses: %.200v", m.Error)
		default:
			if err := json.Unmarshal(m.Result, result); err != nil {
				return fmt.Errorf("the host does not use OVSDB: %w", err)
			}
			return nil
		}
	}
}

// failureReason is why there is no answer.
func (s *Session) failureReason(err error) error {
	switch {
	case s.ctx.Err() != nil:
		return fmt.Errorf("no answer in time: %w", s.ctx.Err())
	case s.left.N <= 0:
		return fmt.Errorf("the host sent more than %d bytes", maxSession)
	case errors.As(err, new(*json.SyntaxError)), errors.As(err, new(*json.UnmarshalTypeError)):
		return fmt.Errorf("the host does not use OVSDB: %w", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return errors.New("the host closed the connection")
	}
	return refusedCertificate(err)
}

// ErrConflict is a transaction whose wait did not hold: somebody else changed a row.
var ErrConflict = errors.New("somebody else changed the bridge at the same time")

// op is an operation of a transaction (RFC 7047, 5.2), row the columns of one row.
type (
	op  = map[string]any
	row = map[string]any
)

// result is what an operation answers.
type result struct {
	Error, Details string
	Rows           []row
}

// runTransaction makes all operations or none.
func (s *Session) runTransaction(ops ...op) ([]result, error) {
	params := []any{database}
	for _, o := range ops {
		params = append(params, o)
	}
	var results []result
	if err := s.callMethod("transact", params, &results); err != nil {
		return nil, err
	}
	for _, r := range results {
		switch r.Error {
		case "":
		case "timed out":
			return nil, ErrConflict
		default:
			return nil, fmt.Errorf("the host refuses: %s (%.200s)", r.Error, r.Details)
		}
	}
	if len(results) < len(ops) {
		return nil, errors.New("the host answered only a part")
	}
	return results, nil
}

// selectOp is the operation that reads columns of all rows of a table.
func selectOp(table string, columns ...string) op {
	return op{
		"op":      "select",
		"table":   table,
		"where":   []any{},
		"columns": columns,
	}
}
