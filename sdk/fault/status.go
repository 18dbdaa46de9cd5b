package fault

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "ctl.internal/proto/ctl/plugin/v1"
)

// ToStatus turns err into a gRPC status error that carries its faults. An error
// that is a status already passes unchanged. Causes are not sent.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	all := All(err)
	if s, ok := status.FromError(err); ok && !isFault(err) {
		return s.Err()
	}
	detail := &pluginv1.Faults{}
	for _, e := range all {
		detail.Faults = append(
			detail.Faults,
			&pluginv1.Fault{
				Kind:   int32(e.Kind),
				Text:   e.Text,
				Path:   e.Path,
				Source: int32(e.Source),
				Node:   e.Node,
			},
		)
	}
	code := codes.Internal
	if all[0].Kind.Known() {
		code = kinds[all[0].Kind].code
	}
	s, derr := status.New(code, all[0].Error()).WithDetails(detail)
	if derr != nil {
		return status.Error(code, all[0].Error())
	}
	return s.Err()
}

// FromStatus is the reverse of ToStatus. A status without faults, as gRPC itself
// makes them, is mapped by its code. A kind this build does not know is Internal.
func FromStatus(err error) error {
	if err == nil || isFault(err) {
		return err
	}
	s, ok := status.FromError(err)
	if !ok {
		return All(err).Err()
	}
	for _, d := range s.Details() {
		fs, ok := d.(*pluginv1.Faults)
		if !ok {
			continue
		}
		var l List
		for _, f := range fs.Faults {
			k := Kind(f.Kind)
			if !k.Known() {
				k = Internal
			}
			l = append(
				l,
				&Error{
					Kind:   k,
					Text:   f.Text,
					Path:   f.Path,
					Source: Source(f.Source),
					Node:   f.Node,
					Cause:  err,
				},
			)
		}
		if len(l) > 0 {
			return l.Err()
		}
	}
	return Wrap(kindOfCode(s.Code()), err, "%s", s.Message())
}

// kindOfCode is the first kind that a code carries.
func kindOfCode(c codes.Code) Kind {
	switch c {
	case codes.OutOfRange:
		c = codes.InvalidArgument
	case codes.Unauthenticated:
		c = codes.PermissionDenied
	case codes.Canceled:
		c = codes.Unavailable
	}
	for k, of := range kinds {
		if of.code == c {
			return Kind(k)
		}
	}
	return Internal
}

func isFault(err error) bool {
	var e *Error
	var l List
	return errors.As(err, &e) || errors.As(err, &l)
}
