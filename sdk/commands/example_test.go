package commands_test

import (
	"context"
	"fmt"
	"os"

	"ctl.internal/sdk/commands"
)

// A plugin describes its commands in sdk.Options.Commands and returns them in sdk.Plugin.Commands. The console
// checks options and arguments, completes them, and prints a Table as text or as JSON.
func Example() {
	table := []commands.Command{{
		Name: "rack:list", Summary: "list the racks", Safe: true,
		Options: []commands.Option{{Name: "empty", Help: "only those without a machine", Type: commands.Bool}},
		Run: func(_ context.Context, in *commands.Invocation) error {
			t := &commands.Table{Empty: "no racks", Columns: []commands.Column{{Title: "Name", Key: "name"}, {Title: "Machines", Key: "machines"}}}
			if !in.Flag("empty") {
				t.Add("r1", 3)
			}
			t.Add("r2", 0)
			return in.Emit(t, nil)
		},
	}}

	c, _ := commands.Find(table, "rack:list")
	for _, format := range []string{"text", "json"} {
		in := &commands.Invocation{Name: c.Name, Options: map[string]string{"empty": "true"}, Format: format, Stdout: os.Stdout}
		if err := c.Run(context.Background(), in); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// Name | Machines
	// -----+---------
	// r2   | 0
	// [
	//   {
	//     "machines": 0,
	//     "name": "r2"
	//   }
	// ]
}
