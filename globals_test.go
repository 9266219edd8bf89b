package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Package variables are tables, sentinel errors and the like: no code assigns to
// them, to an element or field of them, or takes their address. Methods that
// change a value are not seen here.
func TestGlobalsStay(t *testing.T) {
	byRoom := map[string][]source{}
	for _, f := range sources(t) {
		if !f.test {
			byRoom[f.room] = append(byRoom[f.room], f)
		}
	}
	for _, files := range byRoom {
		globals := map[string]bool{}
		for _, f := range files {
			f.globals(globals)
		}
		for _, f := range files {
			for _, at := range f.writes(globals) {
				t.Errorf("%s: a package variable is written", f.fset.Position(at))
			}
		}
	}
}

// The search of TestGlobalsStay finds what it looks for.
func TestWritesAreFound(t *testing.T) {
	const text = `package p
var a, b, c, d, e, f = 1, []int{}, map[int]int{}, struct{x int}{}, 2, 3
func g() {
	a = 2
	b[0]++
	c[1], _ = 2, 3
	d.x += 1
	use(&e)
	f := a // another f
	f = 4
}`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	s := source{fset: fset, file: file}
	globals := map[string]bool{}
	s.globals(globals)
	var got []int
	for _, at := range s.writes(globals) {
		got = append(got, fset.Position(at).Line)
	}
	if diff := cmp.Diff([]int{4, 5, 6, 7, 8}, got); diff != "" {
		t.Errorf("lines written (-want +got):\n%s", diff)
	}
}

// globals adds the names of the file's package variables.
func (s source) globals(names map[string]bool) {
	for _, d := range s.file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range v.Names {
					names[name.Name] = name.Name != "_"
				}
			}
		}
	}
}

// writes finds where functions write one of the names, unless the function has
// a variable of its own by that name.
func (s source) writes(globals map[string]bool) []token.Pos {
	var all []token.Pos
	for _, d := range s.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		own := ownNames(f)
		note := func(e ast.Expr) {
			if name := root(e); globals[name] && !own[name] {
				all = append(all, e.Pos())
			}
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, left := range n.Lhs {
					note(left)
				}
			case *ast.IncDecStmt:
				note(n.X)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					note(n.X)
				}
			}
			return true
		})
	}
	return all
}

// ownNames are the names that a function declares: parameters, results and
// variables.
func ownNames(f *ast.FuncDecl) map[string]bool {
	own := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					own[name.Name] = true
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if name, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					own[name.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				own[name.Name] = true
			}
		}
		return true
	})
	return own
}

// root is the variable that an expression reaches into, "" for none.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return ""
		}
	}
}
