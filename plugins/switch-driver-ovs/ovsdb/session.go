// Package ovsdb speaks to the database of one Open vSwitch host (RFC 7047, schema
// Open_vSwitch) through libovsdb, and reads its rows into the types of package bridge.
// A session is short: it serves one operation.
package ovsdb

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/ovn-kubernetes/libovsdb/client"
	"github.com/ovn-kubernetes/libovsdb/model"
	"github.com/ovn-kubernetes/libovsdb/ovsdb"
)

// Session is a connection to the database of one host.
type Session struct {
	relay *relay
	db    client.Client
	stop  func() bool
	ctx   context.Context
}

// bridgeRow lets libovsdb check that the host serves the schema. Rows are read as
// they come: columns differ between releases.
type bridgeRow struct {
	UUID string `ovsdb:"_uuid"`
	Name string `ovsdb:"name"`
}

// Open connects; the session ends with ctx. conf is for ssl: endpoints.
func Open(ctx context.Context, endpoint string, conf *tls.Config) (*Session, error) {
	r, err := newRelay(ctx, endpoint, conf)
	if err != nil {
		return nil, err
	}
	s := &Session{relay: r, ctx: ctx, stop: context.AfterFunc(ctx, r.cut)}
	err = s.connect()
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func clientModel() (model.ClientDBModel, error) {
	return model.NewClientDBModel("Open_vSwitch", map[string]model.Model{"Bridge": &bridgeRow{}})
}

func (s *Session) connect() error {
	m, err := clientModel()
	if err != nil {
		return err
	}
	quiet := logr.Discard()
	if s.db, err = client.NewOVSDBClient(m, client.WithEndpoint("unix:"+s.relay.path()), client.WithLogger(&quiet)); err != nil {
		return err
	}
	return s.reason(s.db.Connect(s.ctx))
}

// reason prefers what ended the connection to what followed from it.
func (s *Session) reason(err error) error {
	if err == nil {
		return nil
	}
	if why := s.relay.why(); why != nil {
		err = why
	}
	if s.ctx.Err() != nil {
		err = fmt.Errorf("no answer in time: %w", s.ctx.Err())
	}
	return err
}

// Close ends the session. It may be called again.
func (s *Session) Close() {
	s.stop()
	if s.db != nil {
		s.db.Close() // its goroutines end with the connection
	}
	s.relay.close()
}

// ErrConflict is a transaction whose wait did not hold: somebody else changed a row.
var ErrConflict = errors.New("somebody else changed the bridge at the same time")

// transact makes all operations or none.
func (s *Session) transact(ops ...ovsdb.Operation) ([]ovsdb.OperationResult, error) {
	results, err := s.db.Transact(s.ctx, ops...)
	if err != nil {
		return nil, s.reason(err)
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

// rows reads columns of all rows of a table, or of those that where names.
func (s *Session) rows(table string, columns []string, where ...ovsdb.Condition) ([]ovsdb.Row, error) {
	r, err := s.transact(ovsdb.Operation{Op: ovsdb.OperationSelect, Table: table, Columns: columns, Where: where})
	if err != nil {
		return nil, err
	}
	return r[0].Rows, nil
}
