package shell

import (
	"context"
	"strings"

	"ctl.internal/sdk/commands"
)

const askPassword = "Enter Keystore Password: "

func genCertReq(get Service) commands.Command {
	return commands.Command{
		Name: "aaa:gen-cert-req", Summary: "print a certificate request for the controller's key", Safe: true,
		Help: "Asks for the password of the controller keystore. Have a CA sign what is printed and send the answer with the RPC setCtlCertificate.",
		Run: func(ctx context.Context, in *commands.Invocation) error {
			s, err := get()
			if err != nil {
				return err
			}
			p, err := in.Prompt(ctx, askPassword, false)
			if err != nil {
				return err
			}
			if err := s.CheckPassword(p); err != nil {
				return err
			}
			der, err := s.Request()
			if err != nil {
				return err
			}
			return printPEM(in, "ctl-cert-req", "CERTIFICATE REQUEST", der)
		},
	}
}

func getCtlCert(get Service) commands.Command {
	return commands.Command{
		Name: "aaa:get-ctl-cert", Summary: "print the controller's certificate", Safe: true,
		Help:    "The password is asked for when -storepass is left out; what is typed as an option stays in the history until history -c.",
		Options: []commands.Option{{Name: "storepass", Help: "password of the controller keystore"}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			s, err := get()
			if err != nil {
				return err
			}
			p, err := password(ctx, in, "storepass", askPassword)
			if err != nil {
				return err
			}
			if err := s.CheckPassword(p); err != nil {
				return err
			}
			return printPEM(in, "ctl-cert", "CERTIFICATE", s.Certificate())
		},
	}
}

func getNodeCert(get Service) commands.Command {
	alias := commands.Option{Name: "alias", Required: true, Help: "name of the node in the trust keystore"}
	alias.Complete = func(_ context.Context, prefix string) []string {
		s, err := get()
		if err != nil {
			return nil
		}
		var out []string
		for _, a := range s.Aliases() {
			if strings.HasPrefix(a, prefix) {
				out = append(out, a)
			}
		}
		return out
	}
	return commands.Command{
		Name: "aaa:get-node-cert", Summary: "print the certificate trusted under an alias", Safe: true,
		Help: "aaa:get-node-cert -alias node-1", Options: []commands.Option{alias},
		Run: func(_ context.Context, in *commands.Invocation) error {
			s, err := get()
			if err != nil {
				return err
			}
			der, err := s.Node(in.Option("alias"))
			if err != nil {
				return err
			}
			return printPEM(in, "node-cert", "CERTIFICATE", der)
		},
	}
}
