package encrypt

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Commands returns the three commands of the encryption service.
func (s *Service) Commands() []commands.Command {
	return []commands.Command{
		{
			Name:    "aaa:rotate-key",
			Summary: "replace the key of the encryption service and seal everything again",
			Run:     s.rotateKey,
			Help: "Makes a new key and salt at random, writes them to aaa-encrypt-service-config.xml and seals all secrets of the datastore and of " +
				"the settings files again. Interrupted, it goes on at the next start. Earlier keys still open; -forget ends those that nothing " +
				"needs any more, and makes no new one. Back the file up afterwards.",
			Options: []commands.Option{
				{
					Name: "forget",
					Type: commands.Bool,
					Help: "make no new key; seal what is left again and end the earlier keys",
				},
				{
					Name: "resume",
					Type: commands.Bool,
					Help: "make no new key; seal what is left again",
				},
			},
		},
		{
			Name:    "aaa:encryption-info",
			Summary: "show which key of the encryption service is in use",
			Safe:    true,
			Run:     s.encryptionInfo,
			Help:    "Shows the id of the key, which reveals nothing about the key itself, its parameters, and the earlier keys that still open.",
		},
		{
			Name:    "aaa:seal-secret",
			Summary: "seal a password for a settings file",
			Run:     s.sealSecret,
			Help:    "Asks for a secret and prints the text that may stand for it in etc/sec.ini, as a setting of a realm that a plugin serves, in etc/PLUGIN.yaml, and as a community or password in the switch list.",
		},
	}
}

type rotated struct {
	Found
	Dropped []string `json:"dropped,omitempty"`
}

func (s *Service) rotateKey(ctx context.Context, in *commands.Invocation) error {
	var out rotated
	var err error
	switch {
	case in.Flag("forget"):
		out.Dropped, out.Found, err = s.Forget(ctx)
	case in.Flag("resume"):
		out.Found, err = s.Pass(ctx)
	default:
		out.Found, err = s.Rotate(ctx)
	}
	if err != nil {
		return fault.Wrap(fault.Internal, err, "%v", err)
	}
	return in.Emit(out, func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "%d secrets sealed again\n", out.Renewed)
		for _, id := range slices.Sorted(maps.Keys(out.Left)) {
			fmt.Fprintf(
				&b,
				"%d secrets still need the earlier key %s: start the plugins that keep them, then aaa:rotate-key -resume\n",
				out.Left[id],
				id,
			)
		}
		for _, id := range out.Dropped {
			fmt.Fprintf(&b, "ended: key %s\n", id)
		}
		return b.String()
	})
}

func (s *Service) encryptionInfo(ctx context.Context, in *commands.Invocation) error {
	i, err := s.Info(ctx)
	if err != nil {
		return err
	}
	return in.Emit(i, func() string {
		state := "everything is sealed with it"
		if i.Pending {
			state = "not everything is sealed with it yet"
		}
		return fmt.Sprintf("key        %s (%s)\nderived    %s, %d iterations, %d bits\ncipher     %s\nearlier    %s\n", i.Key, state, i.Method,
			i.Iterations, i.Length, i.Transform, strings.Join(append(i.Retired, ""), " "))
	})
}

func (s *Service) sealSecret(ctx context.Context, in *commands.Invocation) error {
	plain, err := in.Prompt(ctx, "Secret: ", false)
	if err != nil {
		return err
	}
	if plain == "" {
		return fault.New(fault.Missing, "the secret is empty")
	}
	text, err := s.SealText(plain)
	if err != nil {
		return err
	}
	return in.Emit(map[string]string{"sealed": text}, func() string {
		return text + "\n"
	})
}
