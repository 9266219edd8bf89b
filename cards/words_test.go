package cards_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestWordsStandInOnePlace: what a person reads stands in words.go, so that it can
// be read in one sitting, and be translated. Elsewhere a literal that is handed to
// what writes texts holds no word; and handlers say nothing that is not from here.
func TestWordsStandInOnePlace(t *testing.T) {
	writers := map[string]bool{
		"line": true, "put": true, "write": true, "own": true, "fill": true, "toast": true, "plain": true, "code": true, "bold": true, "words": true, "shown": true, // of this room
		"note": true, "answer": true, "Note": true, // of handlers
	}
	seen := 0
	for _, pattern := range []string{"*.go", "../handlers/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || name == "words.go" {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !writers[called(call)] {
					return true
				}
				seen++
				for _, arg := range call.Args {
					if s := literal(arg); strings.ContainsFunc(s, unicode.IsLetter) && !command(s) {
						t.Errorf("%s: %q belongs into words.go", fset.Position(arg.Pos()), s)
					}
				}
				return true
			})
		}
	}
	if seen < 100 {
		t.Errorf("only %d calls were looked at", seen)
	}
}

func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// literal is what a literal, or a sum that holds one, says.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// command reports whether s is a command with its example, or markup: the same in
// every language.
func command(s string) bool {
	return strings.HasPrefix(s, "/") && len(strings.Fields(s)) <= 2 || strings.HasPrefix(s, "<") || strings.HasPrefix(s, "&")
}
