package spool

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"time"
)

// flushPause is how long packed bytes may be held back: each flush makes the
// answer longer and costs as much as packing does.
const flushPause = 200 * time.Millisecond

// Gzip is the producer of the compressed form of another answer.
func (c *Cache) Gzip(key string, share any, p Producer) Producer {
	return func(ctx context.Context, w io.Writer) (any, bool, error) {
		plain := c.Get(key, share, p)
		defer plain.Close()
		buf := bufio.NewWriterSize(w, blockSize) // gzip writes a few bytes at a time, and each write would wake every reader
		z, err := gzip.NewWriterLevel(buf, gzip.BestSpeed)
		if err != nil {
			return nil, false, err
		}
		var flushErr error
		var flushed time.Time
		err = plain.Copy(ctx, z, 0, func() {
			if time.Since(flushed) < flushPause {
				return
			}
			flushed = time.Now()
			if err := errors.Join(z.Flush(), buf.Flush()); err != nil {
				flushErr = err
			}
		})
		if err = errors.Join(err, flushErr); err != nil {
			return nil, false, err
		}
		if err := errors.Join(z.Close(), buf.Flush()); err != nil {
			return nil, false, err
		}
		result, err := plain.Ready(ctx, true)
		return result, plain.Kept(), err
	}
}
