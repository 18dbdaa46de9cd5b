package tables

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ctl.internal/host/internal/feature"
	"ctl.internal/host/internal/grant"
	"ctl.internal/internal/console"
	"ctl.internal/sdk/caller"
	"ctl.internal/sdk/commands"
)

var (
	simulateOption = boolOption("simulate", "t", "only show what would be done")
	verboseOption  = boolOption("verbose", "v", "show what is done")
)

func (t features) installFeatures(ctx context.Context, in *commands.Invocation) error {
	return runChange(in, "installing", func() (feature.Change, error) {
		o := feature.InstallOptions{
			Simulate: in.Flag("simulate"),
			NoStart:  in.Flag("no-start"),
			Agree: feature.Agreement{
				By:  grantActor(in.Caller),
				All: in.Flag("grant"),
				To:  map[string][]grant.Grant{},
			},
		}
		for {
			c, err := t.Install(ctx, in.Args["name"], o)
			var needed *grant.NeededError
			if !errors.As(err, &needed) ||
				o.Agree.To[needed.Plugin] != nil ||
				!confirmGrants(ctx, in, needed) {
				return c, err
			}
			for _, r := range needed.Requests {
				o.Agree.To[needed.Plugin] = append(o.Agree.To[needed.Plugin], r.Grant)
			}
		}
	})
}

// grantActor is who decides about grants.
func grantActor(who caller.Caller) string {
	if who.Domain == "" {
		return who.User
	}
	return who.User + "@" + who.Domain
}

// confirmGrants shows what a plugin requests and asks whether it is granted.
func confirmGrants(ctx context.Context, in *commands.Invocation, needed *grant.NeededError) bool {
	var b strings.Builder
	fmt.Fprintf(&b, "The plugin %s %s wants to\n", needed.Plugin, console.Printable(needed.Version))
	for _, r := range needed.Requests {
		fmt.Fprintf(
			&b,
			"  - %s   [%s]\n",
			console.Printable(r.Words()),
			console.Printable(r.Grant.String()),
		)
	}
	b.WriteString("Grant this? (yes/no) ")
	ok, err := confirmQuestion(ctx, in, b.String())
	return ok && err == nil
}

// confirmQuestion asks a question and reports whether the answer is yes.
func confirmQuestion(ctx context.Context, in *commands.Invocation, question string) (bool, error) {
	in.Progress(commands.Progress{})
	answer, err := in.Prompt(ctx, question, true)
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "yes" || answer == "y", err
}

func (t features) uninstallFeatures(ctx context.Context, in *commands.Invocation) error {
	return runChange(in, "uninstalling", func() (feature.Change, error) {
		return t.Uninstall(
			ctx,
			in.Args["name"],
			feature.UninstallOptions{
				Simulate:     in.Flag("simulate"),
				DeleteConfig: in.Flag("clean"),
			},
		)
	})
}

// featuresAction does something to the features that are named.
func (t features) featuresAction(
	what string,
	do func(context.Context, ...string) (feature.Change, error),
) func(context.Context, *commands.Invocation) error {
	return func(ctx context.Context, in *commands.Invocation) error {
		return runChange(in, what, func() (feature.Change, error) {
			return do(ctx, in.Args["name"]...)
		})
	}
}

// runChange does something and reports what it changed when somebody wants to know.
func runChange(in *commands.Invocation, what string, do func() (feature.Change, error)) error {
	in.Progress(commands.Progress{Text: what + " " + strings.Join(in.Args["name"], ", ")})
	c, err := do()
	in.Progress(commands.Progress{})
	if err != nil {
		return err
	}
	lines := append(append([]string{}, c.Lines()...), c.Stay...)
	if in.Format == "json" {
		return in.Emit(map[string]any{
			"simulated": in.Flag("simulate"),
			"changes":   lines,
		}, nil)
	}
	if !in.Flag("simulate") && !in.Flag("verbose") {
		lines = c.Stay // what was asked for and did not happen is said in any case
		if len(lines) == 0 {
			return nil
		}
	}
	if len(lines) == 0 {
		lines = []string{"nothing to do"}
	}
	for _, l := range lines {
		in.Printf("%s\n", console.Printable(l))
	}
	return nil
}
