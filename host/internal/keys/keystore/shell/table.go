// Package shell is the table of the aaa: commands for certificates and keystores.
// Those for identities are in aaa/shell; programs use the RPCs of package rpc.
package shell

import (
	"context"
	"strings"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/commands"
)

// Service returns the keystores of now, or why there are none.
type Service func() (*keystore.Service, error)

// Commands returns the seven commands of certificates.
func Commands(get Service) []commands.Command {
	return []commands.Command{genCertReq(get), getCtlCert(get), getNodeCert(get), cipherSuites(), tlsProtocols(), exportKeystores(get), importKeystores(get)}
}

// password takes an option, or asks without echo.
func password(ctx context.Context, in *commands.Invocation, option, prompt string) (string, error) {
	if p, ok := in.Options[option]; ok {
		return p, nil
	}
	return in.Prompt(ctx, prompt, false)
}

// printPEM prints a block, or a member for programs.
func printPEM(in *commands.Invocation, member, kind string, der []byte) error {
	text := string(keystore.PEM(kind, der))
	return in.Emit(map[string]string{member: text}, func() string { return text })
}

func exportKeystores(get Service) commands.Command {
	return commands.Command{
		Name: "aaa:export-keystores", Summary: "write the keystores to .jks files under configuration/ssl",
		Help: "The files are named after the bundle, replaced if they are there, and have the passwords that the keystores have.",
		Run: func(_ context.Context, in *commands.Invocation) error {
			s, err := get()
			if err != nil {
				return err
			}
			files, err := s.Export()
			if err != nil {
				return err
			}
			return in.Emit(map[string][]string{"files": files}, func() string {
				return "Default directory for keystores is configuration/ssl/\n" + strings.Join(files, "\n") + "\n"
			})
		},
	}
}

func importKeystores(get Service) commands.Command {
	return commands.Command{
		Name: "aaa:import-keystores", Summary: "put keystores from configuration/ssl into the datastore",
		Help: "Both keystores, JKS or PKCS #12, replace those of the datastore, and count for new connections at once. " +
			"Passwords that are left out are asked for.\naaa:import-keystores --trustKeystoreName t.jks --ctlKeystoreName c.jks --ctlKeystoreAlias controller",
		Options: []commands.Option{
			{Name: "trustKeystoreName", Required: true, Help: "file of the trust keystore"},
			{Name: "trustKeystorePwd", Help: "its password"},
			{Name: "ctlKeystoreName", Aliases: []string{"odlKeystoreName"}, Required: true, Help: "file of the controller keystore"},
			{Name: "ctlKeystorePwd", Aliases: []string{"odlKeystorePwd"}, Help: "its password"},
			{Name: "ctlKeystoreAlias", Aliases: []string{"odlKeystoreAlias"}, Help: "alias of the controller's key; that of the settings when left out"},
			{Name: "tlsProtocols", Help: "comma-separated; none: no restriction"},
			{Name: "cipherSuites", Help: "comma-separated; none: no restriction"},
		},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			s, err := get()
			if err != nil {
				return err
			}
			i := keystore.Import{Ctl: in.Option("ctlKeystoreName"), Alias: in.Option("ctlKeystoreAlias"), Trust: in.Option("trustKeystoreName"),
				Protocols: in.Option("tlsProtocols"), Suites: in.Option("cipherSuites")}
			if i.CtlPassword, err = password(ctx, in, "ctlKeystorePwd", "Enter controller keystore password: "); err != nil {
				return err
			}
			if i.TrustPassword, err = password(ctx, in, "trustKeystorePwd", "Enter trust keystore password: "); err != nil {
				return err
			}
			if err := s.Import(ctx, i); err != nil {
				return err
			}
			return in.Emit(map[string]bool{"imported": true}, func() string { return "Default keystores successfully imported\n" })
		},
	}
}

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
