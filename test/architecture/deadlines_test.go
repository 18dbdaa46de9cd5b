package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// A program that a test runs to its end gets a deadline of its own: one that hangs must not cost the
// deadline of the whole run, which names no test. Programs that run beside a test are started by Start.
func TestProgramsThatTestsRunHaveADeadline(t *testing.T) {
	for _, f := range sources(t) {
		if !f.test && !under(f.dir, "test") || !strings.Contains(f.text, `"os/exec"`) {
			continue
		}
		for _, at := range unbounded(t, "../../"+f.path) {
			t.Errorf("%s runs a program to its end without a deadline: use exec.CommandContext with harness.Within(t), or a context of the test's own", at)
		}
	}
}

// unbounded are the places of a file where a program is run by Run, Output or CombinedOutput and can last for ever.
func unbounded(t *testing.T, path string) (out []token.Position) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		endless := map[string]bool{} // variables with such a command
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, value := range n.Rhs {
					if name, ok := n.Lhs[i].(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) {
						endless[name.Name] = lastsForEver(value)
					}
				}
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || s.Sel.Name != "Run" && s.Sel.Name != "Output" && s.Sel.Name != "CombinedOutput" {
					break
				}
				if name, ok := s.X.(*ast.Ident); lastsForEver(s.X) || ok && endless[name.Name] {
					out = append(out, set.Position(n.Pos()))
				}
			}
			return true
		})
	}
	return out
}

// lastsForEver reports whether an expression makes a command without a deadline.
func lastsForEver(e ast.Expr) bool {
	switch callee, call := called(e); callee {
	case "exec.Command":
		return true
	case "exec.CommandContext":
		context, _ := called(call.Args[0])
		return context == "t.Context" || context == "context.Background"
	}
	return false
}

// called is the name of the function that an expression calls, such as "exec.Command".
func called(e ast.Expr) (string, *ast.CallExpr) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return "", nil
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", call
	}
	p, ok := s.X.(*ast.Ident)
	if !ok {
		return "", call
	}
	return p.Name + "." + s.Sel.Name, call
}
