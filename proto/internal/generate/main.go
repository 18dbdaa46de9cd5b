// Command generate compiles ctl/plugin/v1/*.proto and runs the pinned Go code
// generators on them, so that no protoc need be installed. Run it by `go generate ./proto`.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := runGenerators(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func runGenerators(ctx context.Context) error {
	names, err := filepath.Glob("ctl/plugin/v1/*.proto")
	if err != nil || len(names) == 0 {
		return fmt.Errorf(
			"no .proto files below %s (run by go generate ./proto): %v",
			"ctl/plugin/v1",
			err,
		)
	}
	sort.Strings(names)
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, names...)
	if err != nil {
		return err
	}
	req := &pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      importClosure(files),
	}
	for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := generateCode(ctx, tool, req); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	return nil
}

// importClosure lists every file after the files it imports, as generators expect.
func importClosure(files linker.Files) []*descriptorpb.FileDescriptorProto {
	var out []*descriptorpb.FileDescriptorProto
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		if r, ok := f.(linker.Result); ok {
			out = append(out, r.FileDescriptorProto())
			return
		}
		out = append(out, protodesc.ToFileDescriptorProto(f))
	}
	for _, f := range files {
		add(f)
	}
	return out
}

func generateCode(ctx context.Context, tool string, req *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile=../.ci/tools.mod", tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	res := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(out, res); err != nil {
		return err
	}
	if res.Error != nil {
		return fmt.Errorf("%s", res.GetError())
	}
	for _, f := range res.File {
		if err := os.WriteFile(f.GetName(), []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
