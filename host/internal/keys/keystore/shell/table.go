// Package shell is the table of the aaa: commands for certificates and keystores.
// Those for identities are in aaa/shell; programs use the RPCs of package rpc.
package shell

import (
	"context"
	"strings"

	"ctl.internal/host/internal/keys/keystore"
	"ctl.internal/sdk/commands"
)

const askPassword = "Enter Keystore Password: "

// Service returns the keystores of now, or why there are none.
type Service func() (*keystore.Service, error)

// withKeystores makes the Run of a command of what it does with the keystores.
func (get Service) withKeystores(f func(context.Context, *commands.Invocation, *keystore.Service) error) func(context.Context, *commands.Invocation) error {
	return func(ctx context.Context, in *commands.Invocation) error {
		s, err := get()
		if err != nil {
			return err
		}
		return f(ctx, in, s)
	}
}

// Commands returns the seven commands of certificates.
func Commands(get Service) []commands.Command {
	aliases := func(context.Context, string) []string {
		s, err := get()
		if err != nil {
			return nil
		}
		return s.Aliases()
	}
	return []commands.Command{
		{
			Name:    "aaa:gen-cert-req",
			Summary: "print a certificate request for the controller's key",
			Safe:    true,
			Run:     get.withKeystores(genCertReq),
			Help:    "Asks for the password of the controller keystore. Have a CA sign what is printed and send the answer with the RPC setCtlCertificate.",
		},
		{
			Name:    "aaa:get-ctl-cert",
			Summary: "print the controller's certificate",
			Safe:    true,
			Run:     get.withKeystores(getCtlCert),
			Help:    "The password is asked for when -storepass is left out; what is typed as an option stays in the history until history -c.",
			Options: []commands.Option{{
				Name: "storepass",
				Help: "password of the controller keystore",
			}},
		},
		{
			Name:    "aaa:get-node-cert",
			Summary: "print the certificate trusted under an alias",
			Safe:    true,
			Run:     get.withKeystores(getNodeCert),
			Help:    "aaa:get-node-cert -alias node-1",
			Options: []commands.Option{{
				Name:     "alias",
				Required: true,
				Help:     "name of the node in the trust keystore",
				Complete: aliases,
			}},
		},
		{
			Name:    "aaa:get-cipher-suites",
			Summary: "list the TLS cipher suites of the runtime",
			Safe:    true,
			Run:     cipherSuites,
			Help:    "These names may stand in <cipher-suites>. Of those of TLS 1.3, list all or none.",
		},
		{
			Name:    "aaa:get-tls-protocols",
			Summary: "list the TLS protocols of the runtime",
			Safe:    true,
			Run:     tlsProtocols,
			Help:    "These names may stand in <tls-protocols>, separated by commas.",
		},
		{
			Name:    "aaa:export-keystores",
			Summary: "write the keystores to .jks files under configuration/ssl",
			Run:     get.withKeystores(exportKeystores),
			Help:    "The files are named after the bundle, replaced if they are there, and have the passwords that the keystores have.",
		},
		{
			Name:    "aaa:import-keystores",
			Summary: "put keystores from configuration/ssl into the datastore",
			Run:     get.withKeystores(importKeystores),
			Help: "Both keystores, JKS or PKCS #12, replace those of the datastore, and count for new connections at once. " +
				"Passwords that are left out are asked for.\naaa:import-keystores --trustKeystoreName t.jks --ctlKeystoreName c.jks --ctlKeystoreAlias controller",
			Options: []commands.Option{
				{
					Name:     "trustKeystoreName",
					Required: true,
					Help:     "file of the trust keystore",
				},
				{
					Name: "trustKeystorePwd",
					Help: "its password",
				},
				{
					Name:     "ctlKeystoreName",
					Aliases:  []string{"odlKeystoreName"},
					Required: true,
					Help:     "file of the controller keystore",
				},
				{
					Name:    "ctlKeystorePwd",
					Aliases: []string{"odlKeystorePwd"},
					Help:    "its password",
				},
				{
					Name:    "ctlKeystoreAlias",
					Aliases: []string{"odlKeystoreAlias"},
					Help:    "alias of the controller's key; that of the settings when left out",
				},
				{
					Name: "tlsProtocols",
					Help: "comma-separated; none: no restriction",
				},
				{
					Name: "cipherSuites",
					Help: "comma-separated; none: no restriction",
				},
			},
		},
	}
}

// readPassword takes an option, or asks without echo.
func readPassword(
	ctx context.Context,
	in *commands.Invocation,
	option, prompt string,
) (string, error) {
	if p, ok := in.Options[option]; ok {
		return p, nil
	}
	return in.Prompt(ctx, prompt, false)
}

// checkStorePassword asks for the password of the controller keystore.
func checkStorePassword(ctx context.Context, in *commands.Invocation, s *keystore.Service) error {
	p, err := readPassword(ctx, in, "storepass", askPassword)
	if err != nil {
		return err
	}
	return s.CheckPassword(p)
}

// printPEM prints a block, or a member for programs.
func printPEM(in *commands.Invocation, member, kind string, der []byte) error {
	text := string(keystore.PEM(kind, der))
	return in.Emit(map[string]string{member: text}, func() string { return text })
}

func genCertReq(ctx context.Context, in *commands.Invocation, s *keystore.Service) error {
	if err := checkStorePassword(ctx, in, s); err != nil {
		return err
	}
	der, err := s.Request()
	if err != nil {
		return err
	}
	return printPEM(in, "ctl-cert-req", "CERTIFICATE REQUEST", der)
}

func getCtlCert(ctx context.Context, in *commands.Invocation, s *keystore.Service) error {
	if err := checkStorePassword(ctx, in, s); err != nil {
		return err
	}
	return printPEM(in, "ctl-cert", "CERTIFICATE", s.Certificate())
}

func getNodeCert(_ context.Context, in *commands.Invocation, s *keystore.Service) error {
	der, err := s.Node(in.Option("alias"))
	if err != nil {
		return err
	}
	return printPEM(in, "node-cert", "CERTIFICATE", der)
}

func exportKeystores(_ context.Context, in *commands.Invocation, s *keystore.Service) error {
	files, err := s.Export()
	if err != nil {
		return err
	}
	return in.Emit(map[string][]string{"files": files}, func() string {
		return "Default directory for keystores is configuration/ssl/\n" + strings.Join(files, "\n") + "\n"
	})
}

func importKeystores(
	ctx context.Context,
	in *commands.Invocation,
	s *keystore.Service,
) (err error) {
	i := keystore.Import{
		Ctl:       in.Option("ctlKeystoreName"),
		Alias:     in.Option("ctlKeystoreAlias"),
		Trust:     in.Option("trustKeystoreName"),
		Protocols: in.Option("tlsProtocols"),
		Suites:    in.Option("cipherSuites"),
	}
	if i.CtlPassword, err = readPassword(
		ctx,
		in,
		"ctlKeystorePwd",
		"Enter controller keystore password: ",
	); err != nil {
		return err
	}
	if i.TrustPassword, err = readPassword(
		ctx,
		in,
		"trustKeystorePwd",
		"Enter trust keystore password: ",
	); err != nil {
		return err
	}
	if err := s.Import(ctx, i); err != nil {
		return err
	}
	return in.Emit(map[string]bool{"imported": true}, func() string {
		return "Default keystores successfully imported\n"
	})
}

func cipherSuites(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{Columns: []commands.Column{{
		Title: "Cipher suite",
		Key:   "name",
	}, {Title: "Note", Key: "note"}}}
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
}

func tlsProtocols(_ context.Context, in *commands.Invocation) error {
	out := &commands.Table{Columns: []commands.Column{{
		Title: "Protocol",
		Key:   "name",
	}}}
	for _, p := range keystore.Protocols() {
		out.Add(p)
	}
	return in.Emit(out, nil)
}
