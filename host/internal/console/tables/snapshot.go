package tables

import (
	"context"
	"io"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// SnapshotCommands are snapshot:*, for ctl at the machine. save writes a snapshot.
func SnapshotCommands(save func(ctx context.Context, w io.Writer, progress func(done, total int64)) error) []commands.Command {
	return []commands.Command{{
		Name: "snapshot:save", Summary: "write a snapshot of all data to the output, for `ctl snapshot save FILE`",
		Help: "ctl snapshot save FILE calls this; the output is an archive, not text. It opens all secrets, so it goes to\nthe local console only.",
		Safe: true,
		Run: func(ctx context.Context, in *commands.Invocation) error {
			if in.Caller.Address != "" || in.Caller.User != "local" {
				return fault.New(fault.Denied, "a snapshot holds all secrets: take it on the machine of the controller, with ctl snapshot save FILE")
			}
			if in.Width > 0 {
				return fault.New(fault.Invalid, "the output is an archive: use ctl snapshot save FILE")
			}
			return save(ctx, in.Stdout, func(done, total int64) {
				in.Progress(commands.Progress{Text: "snapshot, KiB", Done: done >> 10, Total: total >> 10})
			})
		},
	}}
}
