package state

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The bounds of a packed record, in bytes: in the datastore, and unpacked.
const (
	maxPacked   = 64 << 10
	maxUnpacked = 16 << 20
)

// Packed is the Codec of large records: JSON packed by gzip. Of a record that takes more than 64 KiB, shorten leaves
// something out, as often as needed; when it returns false, the record cannot be written.
func Packed[T any](shorten func(*T) bool) Codec[T] {
	return Codec[T]{
		Encode: func(key string, v T) ([]byte, error) {
			for {
				text, err := json.Marshal(v)
				if err != nil {
					return nil, err
				}
				var b bytes.Buffer
				z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is one there is
				_, err = z.Write(text)
				if err = errors.Join(err, z.Close()); err != nil || b.Len() <= maxPacked {
					return b.Bytes(), err
				}
				if !shorten(&v) {
					return nil, fmt.Errorf(
						"the data of %s is larger than %d KiB",
						key,
						maxPacked>>10,
					)
				}
			}
		},
		Decode: func(_ string, b []byte) (v T, err error) {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return v, err
			}
			text, err := io.ReadAll(io.LimitReader(z, maxUnpacked))
			if err != nil {
				return v, err
			}
			return v, json.Unmarshal(text, &v)
		}}
}
