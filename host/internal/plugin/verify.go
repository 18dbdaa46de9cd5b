package plugin

import (
	"context"

	"ctl.internal/host/internal/plugin/process"
	"ctl.internal/sdk/fault"
)

func (s *supervisor) verify(cur *instance) error {
	ctx, cancel := context.WithTimeout(cur.ctx, s.m.limits.PingTimeout)
	defer cancel()
	if err := cur.proc.Ping(ctx); err != nil {
		return fault.FromStatus(err)
	}
	if cur.proc.Attached() {
		return nil
	}
	sum, err := process.Hash(cur.spec.Path, cur.spec.SHA256, &s.m.sums)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	if sum != cur.proc.SHA256(true) {
		return fault.New(fault.InUse, "the file %s has changed since plugin %s was started (running %s, on disk %s): reload the plugin",
			cur.spec.Path, s.name, cur.proc.SHA256(true), sum)
	}
	return nil
}
