// Package declared makes commands of the RPCs that say with ctl:command that they are one: name, arguments, options, help,
// completion, question and output come from the YANG module alone.
package declared

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ctl.internal/host/internal/present"
	"ctl.internal/internal/console"
	"ctl.internal/internal/yang"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
)

// Host is what the commands need of the controller.
type Host struct {
	// Call carries an RPC out for the caller of ctx, by the rules that hold for everybody. Input and output are the
	// members of the RPC's input and output.
	Call func(ctx context.Context, r *yang.RPC, input []byte) (output []byte, err error)
	// Values are those that a leaf of the data trees has now, as far as the caller of ctx may read them.
	Values func(ctx context.Context, leaf *yang.Node) []string
}

// Commands are those that the RPCs of a module declare.
func Commands(m *yang.Module, h Host) (out []commands.Command) {
	for _, r := range m.RPCs {
		if r.Annotations.Command != "" {
			out = append(out, h.command(r))
		}
	}
	return out
}

// yesOption is the answer to the question of ctl:confirm.
const yesOption = "yes"

func (h Host) command(r *yang.RPC) commands.Command {
	c := commands.Command{
		Name:    yang.CommandName(r.Module, r.Annotations.Command),
		Summary: summary(r),
		Safe:    r.Annotations.ReadOnly,
	}
	inputs := r.Input.Members()
	arguments := argumentsOf(r)
	for i, n := range arguments {
		c.Arguments = append(c.Arguments, commands.Argument{
			Name:     n.Name,
			Help:     helpOf(n),
			Required: n.Mandatory || n.Min > 0,
			Repeated: n.Kind == yang.LeafList && i == len(arguments)-1,
			Secret:   n.HasSecrets(),
			Values:   valuesOf(n),
			Complete: h.completion(n),
		})
	}
	for _, n := range inputs {
		if !slices.Contains(arguments, n) {
			c.Options = append(c.Options, h.option(n))
		}
	}
	if r.Annotations.Confirm != "" {
		c.Options = append(c.Options, commands.Option{
			Name: yesOption,
			Help: "do not ask: " + r.Annotations.Confirm,
			Type: commands.Bool,
		})
	}
	c.Help = help(c, r)
	c.Run = func(ctx context.Context, in *commands.Invocation) error { return h.run(ctx, r, in) }
	return c
}

// argumentsOf are the inputs that are arguments, in their order.
func argumentsOf(r *yang.RPC) (out []*yang.Node) {
	for _, n := range r.Input.Members() {
		if n.Annotations != nil && n.Annotations.Argument > 0 {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b *yang.Node) int {
		return cmp.Compare(a.Annotations.Argument, b.Annotations.Argument)
	})
	return out
}

func (h Host) option(n *yang.Node) commands.Option {
	o := commands.Option{
		Name:     n.Name,
		Help:     helpOf(n),
		Required: n.Mandatory,
		Secret:   n.HasSecrets(),
		Values:   valuesOf(n),
		Complete: h.completion(n),
	}
	if n.Kind == yang.Leaf && (n.Type.Base == yang.Boolean || n.Type.Base == yang.Empty) {
		o.Type, o.Values = commands.Bool, nil
	}
	return o
}

// valuesOf are the fixed values of a leaf.
func valuesOf(n *yang.Node) []string {
	switch {
	case n.Kind != yang.Leaf:
		return nil
	case n.Type.Base == yang.Enumeration:
		return n.Type.Names
	case n.Type.Base == yang.Boolean:
		return []string{"true", "false"}
	}
	return nil
}

// completion completes the values that a leafref may have, and the names of identities and bits.
func (h Host) completion(n *yang.Node) func(context.Context, string) []string {
	switch {
	case !n.IsLeaf():
		return nil
	case n.Type.Base == yang.Leafref && n.Type.Target != nil && h.Values != nil:
		return func(ctx context.Context, _ string) []string { return h.Values(ctx, n.Type.Target) }
	case n.Type.Base == yang.Identityref || n.Type.Base == yang.Bits ||
		n.Kind == yang.LeafList && n.Type.Base == yang.Enumeration:
		return func(context.Context, string) []string { return n.Type.Names }
	}
	return nil
}

// run asks, calls the RPC and shows its output.
func (h Host) run(ctx context.Context, r *yang.RPC, in *commands.Invocation) error {
	input, err := inputOf(r, in)
	if err != nil {
		return err
	}
	if r.Annotations.Confirm != "" && !in.Flag(yesOption) {
		answer, err := in.Prompt(ctx, strings.TrimSpace(r.Annotations.Confirm)+" (yes/no) ", true)
		if err != nil {
			return fault.Wrap(fault.KindOf(err), err, "%v; with --%s it does not ask", err, yesOption)
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "yes" && answer != "y" {
			return fault.At(fault.Invalid, in.Name, "nothing is done: the answer is %q, not yes", answer)
		}
	}
	output, err := h.Call(ctx, r, input)
	if err != nil {
		return err
	}
	return show(r, output, in)
}

// inputOf is the input that a line gives, checked; its faults name the argument or option.
func inputOf(r *yang.RPC, in *commands.Invocation) ([]byte, error) {
	members := map[string]any{}
	for _, n := range r.Input.Members() {
		texts := in.Args[n.Name]
		if text, ok := in.Options[n.Name]; ok {
			texts = []string{text}
			if n.Kind == yang.LeafList {
				texts = strings.Split(text, ",")
			}
		}
		if texts == nil {
			continue
		}
		if v, given := valueOf(n, texts); given {
			members[n.Name] = v
		}
	}
	body, err := json.Marshal(map[string]any{"input": members})
	if err != nil {
		return nil, fault.At(fault.Invalid, in.Name, "the input cannot be written as JSON: %v", err)
	}
	input, err := r.DecodeInput(body, yang.Options{Lenient: true, Defaults: true})
	if err != nil {
		return nil, nameArguments(r, in.Name, err)
	}
	return input, nil
}

// valueOf is the value of an input, of the texts that are typed for it; what is no leaf is typed as JSON.
func valueOf(n *yang.Node, texts []string) (v any, given bool) {
	switch {
	case n.Kind == yang.LeafList:
		return texts, true
	case n.Kind == yang.Leaf && n.Type.Base == yang.Empty:
		return []any{nil}, texts[0] == "true"
	case n.Kind == yang.Leaf:
		return texts[0], true
	case json.Valid([]byte(texts[0])):
		return json.RawMessage(texts[0]), true
	}
	return texts[0], true // it is refused by its name
}

// nameArguments says of each fault which argument or option has it.
func nameArguments(r *yang.RPC, command string, err error) error {
	var out fault.List
	for _, f := range fault.All(err) {
		what := strings.TrimLeft(f.Path, "/")
		_, what, _ = strings.Cut("/"+what, "input/")
		name, _, _ := strings.Cut(what, "/")
		name, _, _ = strings.Cut(name, "[")
		name, _, _ = strings.Cut(name, "=")
		name = name[strings.IndexByte(name, ':')+1:]
		switch n := r.Input.Member(name); {
		case n == nil:
			out = append(out, fault.At(f.Kind, command, "%s", f.Text))
		case slices.Contains(argumentsOf(r), n):
			out = append(out, fault.At(f.Kind, command, "the argument %s: %s", name, f.Text))
		default:
			out = append(out, fault.At(f.Kind, command, "the option --%s: %s", name, f.Text))
		}
	}
	return out.Err()
}

// show shows an output: its tables, or its values one a line.
func show(r *yang.RPC, output []byte, in *commands.Invocation) error {
	if len(bytes.TrimSpace(output)) == 0 {
		output = []byte("{}") // lists without entries are shown as such
	}
	if len(r.Output.Members()) == 0 {
		return nil
	}
	v, err := present.Read(output)
	if err != nil {
		return err
	}
	members, _ := v.(map[string]any)
	tables, values := present.TablesOf(r.Output, members)
	if len(members)+len(tables) == 0 {
		return nil
	}
	if in.Format == "json" {
		if in.Described && len(tables) == 1 && len(values.Rows) == 0 {
			return in.Emit(map[string]any{"ctl-table": tables[0]}, nil)
		}
		if len(tables) == 1 && len(values.Rows) == 0 {
			return tables[0].Write(in.Stdout, "json", 0)
		}
		return in.Emit(members, nil)
	}
	for _, row := range values.Rows {
		in.Printf("%s\n", console.Printable(fmt.Sprintf("%s: %s", row...)))
	}
	for i, t := range tables {
		if len(tables) > 1 || len(values.Rows) > 0 {
			if i > 0 || len(values.Rows) > 0 {
				in.Printf("\n")
			}
			in.Printf("%s:\n", console.Printable(t.Title))
		}
		if err := t.Write(in.Stdout, "table", in.Width); err != nil {
			return err
		}
	}
	return nil
}
