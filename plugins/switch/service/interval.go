package service

import (
	"context"
	"encoding/json"
	"time"

	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/state"
)

const intervalPrefix = "setting/discovery-interval"

// keptInterval is the time between discoveries that set-discovery-interval set. It holds
// as long as the settings file says what it said then.
type keptInterval struct {
	Set    time.Duration `json:"set"`
	Config time.Duration `json:"config"`
}

func (s *Service) interval() time.Duration {
	config := s.set.Discovery.Interval.Std()
	if k, ok := s.kept.Get(s.store.Now(), ""); ok && k.Config == config && k.Set >= 0 {
		return k.Set
	}
	return config
}

func (s *Service) saveInterval(ctx context.Context, d time.Duration) error {
	_, err := s.store.Update(ctx, func(tx *state.Tx) error {
		return s.kept.Put(tx, "", keptInterval{d, s.set.Discovery.Interval.Std()})
	})
	return err
}

// encode and decode are the result of an operation as lines.
func encode(v any) ([]string, error) {
	b, err := json.Marshal(v)
	return []string{string(b)}, err
}

func decode(lines []string, v any) error {
	if len(lines) != 1 {
		return fault.New(fault.Internal, "the result of the operation has %d lines, not 1", len(lines))
	}
	return json.Unmarshal([]byte(lines[0]), v)
}
