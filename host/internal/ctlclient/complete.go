package ctlclient

import (
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

// completeLine asks the running controller what can follow, for bash, zsh and fish.
func (o *options) completeLine(
	cmd *cobra.Command,
	args []string,
	prefix string,
) ([]string, cobra.ShellCompDirective) {
	l, err := o.dialConsole(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer l.close()
	line := console.Join(append(args, prefix))
	if prefix == "" {
		line = console.Join(args) + " "
	}
	out, err := l.callCommand(strings.NewReader(""), "shell:complete", "--", line)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	var cands []string
	for _, c := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if c = strings.TrimSuffix(c, "\t"); c == "" {
			continue
		}
		word, _, _ := strings.Cut(c, "\t")
		if strings.HasSuffix(word, ":") || strings.HasSuffix(word, "=") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		cands = append(cands, c)
	}
	return cands, directive
}
