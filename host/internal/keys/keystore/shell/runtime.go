package shell

import (
	"context"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/commands"
)

func cipherSuites() commands.Command {
	return commands.Command{
		Name: "aaa:get-cipher-suites", Summary: "list the TLS cipher suites of the runtime", Safe: true,
		Help: "These names may stand in <cipher-suites>. Of those of TLS 1.3, list all or none.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			out := &commands.Table{Columns: []commands.Column{{Title: "Cipher suite", Key: "name"}, {Title: "Note", Key: "note"}}}
			for _, s := range keystore.CipherSuites() {
				note := ""
				if s.Insecure {
					note = "insecure: offered only when listed in <cipher-suites>"
				} else if s.TLS13 {
					note = "TLS 1.3"
				}
				out.Add(s.Name, note)
			}
			return in.Emit(out, nil)
		},
	}
}

func tlsProtocols() commands.Command {
	return commands.Command{
		Name: "aaa:get-tls-protocols", Summary: "list the TLS protocols of the runtime", Safe: true,
		Help: "These names may stand in <tls-protocols>, separated by commas.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			out := &commands.Table{Columns: []commands.Column{{Title: "Protocol", Key: "name"}}}
			for _, p := range keystore.Protocols() {
				out.Add(p)
			}
			return in.Emit(out, nil)
		},
	}
}
