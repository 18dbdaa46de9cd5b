package sshserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"ctl.internal/host/internal/console/files"
	"ctl.internal/host/internal/home"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/fault"
)

// remoteFiles are those of a user who came over SSH.
type remoteFiles struct{ files.Area }

func (r remoteFiles) Open(
	_ context.Context,
	path string,
	create bool,
) (string, func(context.Context, error) error, error) {
	at, err := r.Reach(path, create)
	return at, nil, err
}

func (r remoteFiles) Complete(prefix string) ([]string, bool) {
	return r.Area.Complete(prefix), true
}

// localFiles are those of the operator at the machine: the home's own as they are, all others through
// the client, with the rights of the user who runs it. What it sends is kept in import/sent.
type localFiles struct {
	files.Area
	conn *conn
}

func (localFiles) Complete(string) ([]string, bool) {
	return nil, false
}

func (l localFiles) Open(
	ctx context.Context,
	path string,
	create bool,
) (string, func(context.Context, error) error, error) {
	p := l.Clean(path)
	if l.Own(p) {
		return p, nil, nil
	}
	if !create {
		at, err := l.receiveFile(ctx, p)
		return at, nil, err
	}
	dir, err := os.MkdirTemp(filepath.Join(l.Home, "export"), ".sent-")
	if err != nil {
		return "", nil, fault.Wrap(
			fault.Unavailable,
			err,
			"cannot create a file for %s: %v",
			p,
			err,
		)
	}
	at := filepath.Join(dir, filepath.Base(p))
	return at, func(ctx context.Context, failed error) error {
		defer os.RemoveAll(dir)
		if failed != nil {
			return nil
		}
		return l.sendFile(ctx, at, p)
	}, nil
}

// maxSent bounds a file that the client sends.
const maxSent = 64 << 20

func (l localFiles) receiveFile(ctx context.Context, path string) (string, error) {
	dir := filepath.Join(l.Home, "import", "sent")
	at := filepath.Join(dir, filepath.Base(path))
	_ = os.Remove(at) // one of that name that was sent before is not this one
	var content []byte
	for {
		var part console.FileContent
		err := l.requestClient(
			ctx,
			console.ReadFileRequest,
			console.ReadFile{
				Path:   path,
				Offset: uint64(len(content)),
			},
			&part,
		)
		if err != nil {
			return "", err
		}
		if part.Fault != "" {
			return "", fault.New(fault.Invalid, "ctl cannot read the file: %s", part.Fault)
		}
		if part.Data == "" {
			break
		}
		if content = append(content, part.Data...); len(content) > maxSent {
			return "", fault.New(fault.TooBig, "%s has more than %d bytes", path, maxSent)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	if err := home.WriteFile(at, content, 0o600); err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	return at, nil
}

func (l localFiles) sendFile(ctx context.Context, from, path string) error {
	f, err := os.Open(from)
	if err != nil {
		return fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	defer f.Close()
	buf := make([]byte, console.MaxFilePart)
	for at := uint64(0); ; {
		n, err := io.ReadFull(f, buf)
		if n > 0 || at == 0 {
			var answer console.FileWritten
			err := l.requestClient(
				ctx,
				console.WriteFileRequest,
				console.WriteFile{
					Path:   path,
					Offset: at,
					Data:   string(buf[:n]),
				},
				&answer,
			)
			if err != nil {
				return err
			}
			if answer.Fault != "" {
				return fault.New(fault.Invalid, "ctl cannot write the file: %s", answer.Fault)
			}
		}
		at += uint64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fault.Wrap(fault.Unavailable, err, "%v", err)
		}
	}
}

// requestClient asks the client; its end is that of the connection or of ctx.
func (l localFiles) requestClient(ctx context.Context, name string, payload, answer any) error {
	_, err := waitFor(ctx, func() (struct{}, error) {
		ok, reply, err := l.conn.ssh.SendRequest(name, true, ssh.Marshal(payload))
		if err == nil && !ok {
			err = errors.New("this client cannot receive files: use the ctl of this release, or put the file below import/ of the home")
		}
		if err == nil {
			err = ssh.Unmarshal(reply, answer)
		}
		return struct{}{}, err
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("waiting for the client: %w", ctx.Err())
	case err != nil:
		return fault.Wrap(fault.Unavailable, err, "%v", err)
	}
	return nil
}

// waitFor returns what f returns, or the error of ctx when that ends before: f then ends by itself, with the
// connection at the latest.
func waitFor[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
