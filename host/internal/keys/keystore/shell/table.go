package shell

import (
	"context"

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
