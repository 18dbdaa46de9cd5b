// Package shell is the shell commands of topologies. RPCs are
// package operations.
package shell

import (
	"context"
	"io"
	"os"
	"slices"

	"ctl.internal/internal/bier"
	"ctl.internal/internal/bier/bierplugin"
	"ctl.internal/plugins/bier-topomanager/data"
	"ctl.internal/plugins/bier-topomanager/importer"
	"ctl.internal/plugins/bier-topomanager/model"
	"ctl.internal/sdk/commands"
	"ctl.internal/sdk/fault"
	"ctl.internal/sdk/topology"
)

// Shell is what the commands need. The zero Shell describes them; it cannot run one.
type Shell struct {
	Home   string // the controller's, for relative paths
	Data   *data.Data
	Import func(context.Context, []topology.Topology) error
	Forget func(ctx context.Context, topology string) error
}

// Commands returns the table of commands.
func (s *Shell) Commands() []commands.Command {
	return []commands.Command{s.topoList(), s.topoImport(), s.topoForget(), s.nodeShow(), s.domainList(), s.biftShow(), s.check()}
}

// topologies completes topology-ids.
func (s *Shell) topologies(_ context.Context, prefix string) []string {
	return bierplugin.Complete(slices.Values(s.Data.IDs(s.Data.Store.Now())), prefix)
}

// nodes completes node-ids of all topologies.
func (s *Shell) nodes(_ context.Context, prefix string) []string {
	return bierplugin.Complete(s.Data.NodeIDs(s.Data.Store.Now()), prefix)
}

// topologyOption chooses a topology where there are several.
func (s *Shell) topologyOption() commands.Option {
	return commands.Option{Name: "topology", Short: "t", Help: "topology-id; all when absent", Complete: s.topologies}
}

// views returns the topologies that an invocation means.
func (s *Shell) views(in *commands.Invocation) (out []bier.Topology, err error) {
	now := s.Data.Store.Now()
	ids := s.Data.IDs(now)
	if one := in.Option("topology"); one != "" {
		ids = []string{one}
	}
	for _, id := range ids {
		t := s.Data.Topology(now, id)
		if err := model.Found(t, id); err != nil {
			return nil, err
		}
		out = append(out, *t)
	}
	return out, nil
}

func (s *Shell) topoImport() commands.Command {
	return commands.Command{Name: "bier:topo-import", Summary: "Import topologies from a YAML or JSON file",
		Help: "Takes the topologies of a file, in place of what was imported under the same ids before. They survive\n" +
			"restarts until bier:topo-forget. A relative path is below the controller's home; - reads standard input.\n\n" +
			"  topology-id: lab\n  node:\n  - {node-id: r1, name: r1}\n  - {node-id: r2}\n  link:\n" +
			"  - {source: {source-node: r1, source-tp: eth0}, destination: {dest-node: r2, dest-tp: eth0}, metric: 10, bidirectional: true}\n\n" +
			"A list `topology` holds several; JSON of module network-topology is taken as well.",
		Arguments: []commands.Argument{{Name: "file", Help: "the file, or -", Type: commands.File, Required: true, Complete: commands.Files(s.Home, ".yaml", ".yml", ".json")}},
		Run:       s.runTopoImport}
}

func (s *Shell) runTopoImport(ctx context.Context, in *commands.Invocation) error {
	name := in.Arg("file")
	var text []byte
	var err error
	if name == "-" {
		text, err = io.ReadAll(io.LimitReader(in.Stdin, importer.MaxSize+1))
	} else {
		text, err = s.read(name)
	}
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "%v", err)
	}
	all, err := importer.Parse(text)
	if err != nil {
		var l fault.List
		for _, f := range fault.All(err) {
			l = append(l, fault.New(f.Kind, "%s: %v", name, f))
		}
		return append(l, fault.New(fault.Invalid, "help bier:topo-import shows the form"))
	}
	if err := s.Import(ctx, all); err != nil {
		return err
	}
	t := &commands.Table{Columns: []commands.Column{{Title: "Topology", Key: "topology-id"}, {Title: "Nodes", Key: "nodes", Right: true}, {Title: "Links", Key: "links", Right: true}}}
	for _, x := range all {
		t.Add(x.ID, len(x.Nodes), len(x.Links))
	}
	return in.Emit(t, nil)
}

func (s *Shell) read(name string) ([]byte, error) {
	f, err := os.Open(commands.Path(s.Home, name))
	if err != nil {
		return nil, commands.FileError(err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, importer.MaxSize+1))
}

func (s *Shell) topoForget() commands.Command {
	return commands.Command{Name: "bier:topo-forget", Summary: "Forget an imported topology",
		Help:      "Takes back bier:topo-import. Domains and nodes that are configured stay, offline.",
		Arguments: []commands.Argument{{Name: "topology", Help: "its id", Required: true, Complete: s.topologies}},
		Run: func(ctx context.Context, in *commands.Invocation) error {
			return s.Forget(ctx, in.Arg("topology"))
		}}
}
