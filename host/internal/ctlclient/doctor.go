package ctlclient

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"ctl.internal/internal/console"
)

// checksum is in the lines of features verify about plugins that are in order.
var checksum = regexp.MustCompile(`: [0-9a-f]{64}  `)

func (o *options) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "say what is wrong with this installation and how to mend it",
		Args:  cobra.NoArgs,
		Long: "Runs the checks that exist: config validate and features verify on the files of the home; of a controller that runs system:ready,\n" +
			"system:now, system:store, system:names, and plugin:check of every plugin. The exit code is 1 when one of them finds something.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, bad := cmd.OutOrStdout(), 0
			section := func(title string, run func() error) {
				fmt.Fprintf(out, "== %s\n", title)
				if err := run(); err != nil {
					bad++
					if text := err.Error(); text != "" {
						fmt.Fprintln(out, text)
					}
				}
			}
			home, err := o.homeDir()
			if err != nil {
				return err
			}
			fmt.Fprintln(out, "home", home)
			files := func(in console.Offline) error {
				var text bytes.Buffer
				sub := &cobra.Command{}
				sub.SetOut(&text)
				sub.SetErr(&text)
				in.Format = "text"
				err, said := o.runOffline(sub, in), false
				for line := range strings.Lines(strings.ReplaceAll(text.String(), home+"/", "")) {
					if !checksum.MatchString(line) {
						said = true
						fmt.Fprint(out, line)
					}
				}
				if !said && err == nil {
					fmt.Fprintln(out, "in order")
				}
				return err
			}
			section("settings (ctl config validate)", func() error {
				return files(console.Offline{Name: "config:validate"})
			})
			section("catalogue and plugins (ctl features verify)", func() error {
				return files(console.Offline{
					Name:    "features:verify",
					Options: map[string]string{"plugins": ""},
				})
			})
			l, err := o.dialConsole(cmd.Context())
			section("controller", func() error {
				if err == nil {
					fmt.Fprintln(out, "it answers")
				}
				return err
			})
			if err == nil {
				defer l.close()
				say := func(words ...string) error {
					text, err := l.callCommand(strings.NewReader(""), words...)
					if err == nil {
						_, err = out.Write(text)
					}
					return err
				}
				section("readiness (system:ready)", func() error {
					return say("system:ready")
				})
				section("troubles of the controller (system:now)", func() error {
					return say("system:now", "--own")
				})
				section("datastore (system:store)", func() error {
					return say("system:store")
				})
				section("names of the controller (system:names)", func() error {
					return say("system:names")
				})
				section("plugins (plugin:check)", func() error {
					var all []struct {
						Name string `json:"name"`
					}
					err := l.readJSON(&all, "plugin:list")
					if err != nil || len(all) == 0 {
						return err
					}
					words := []string{"plugin:check"}
					for _, p := range all {
						words = append(words, p.Name)
					}
					return say(words...)
				})
			}
			if bad > 0 {
				return coded{console.Failed, fmt.Errorf("%d of the checks found a problem", bad)}
			}
			fmt.Fprintln(out, "everything is in order")
			return nil
		},
	}
}
