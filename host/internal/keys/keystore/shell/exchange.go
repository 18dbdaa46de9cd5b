package shell

import (
	"context"
	"strings"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/commands"
)

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
