package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What is read of a configuration file: more than anybody writes, and less than the
// library's parser, whose time grows with the square of either, would choke on.
const (
	maxFile    = 256 << 10 // bytes
	maxNesting = 32        // open brackets and braces
)

// decodeFile lays a YAML document over c. We walk the syntax tree ourselves because the
// library's decoder stops at the first mistake, turns numbers into texts, and repeats
// source lines, which may hold secrets, in its messages.
func decodeFile(c *Config, name string, data []byte, seen *places) []Problem {
	d := &decoder{name: name, seen: seen}
	if len(data) > maxFile {
		return []Problem{{Where: name, Text: fmt.Sprintf("the file has %d bytes; at most %d are read", len(data), maxFile)}}
	}
	if !utf8.Valid(data) {
		return []Problem{{Where: name, Text: "the file is not UTF-8"}}
	}
	file, err := parse(data)
	if err != nil {
		d.syntax(err)
		return d.problems
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			d.add("", start(doc.Body), "a second document begins here; a configuration is one document, so remove the `---`")
			return d.problems
		}
		body = doc.Body
	}
	if body != nil {
		d.decode(reflect.ValueOf(c).Elem(), body, "", "")
	}
	return d.problems
}

// parse builds the syntax tree. Should the library panic on garbage, that is a syntax
// error like any other.
func parse(data []byte) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("this is not YAML")
		}
	}()
	tokens := lexer.Tokenize(string(data))
	nesting := 0
	for _, tk := range tokens {
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			nesting++
		case token.MappingEndType, token.SequenceEndType:
			nesting--
		}
		if nesting > maxNesting {
			return nil, &yaml.SyntaxError{Token: tk, Message: fmt.Sprintf("more than %d brackets and braces are open here", maxNesting)}
		}
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

type decoder struct {
	name     string
	seen     *places
	problems []Problem
}

func (d *decoder) add(key string, tk *token.Token, format string, args ...any) {
	d.problems = append(d.problems, Problem{Where: d.position(tk), Key: key, Text: fmt.Sprintf(format, args...)})
}

// start is where a node begins. The token of a block mapping is the colon after its
// first key.
func start(node ast.Node) *token.Token {
	if m, ok := node.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return node.GetToken()
}

func (d *decoder) position(tk *token.Token) string {
	if tk == nil || tk.Position == nil {
		return d.name
	}
	return fmt.Sprintf("%s:%d:%d", d.name, tk.Position.Line, tk.Position.Column)
}

// syntax reports what the parser says, without the source it would show.
func (d *decoder) syntax(err error) {
	yamlErr, ok := errors.AsType[yaml.Error](err)
	if !ok {
		d.problems = append(d.problems, Problem{Where: d.name, Text: err.Error()})
		return
	}
	text := yamlErr.GetMessage()
	switch {
	case strings.Contains(text, "'@' is a reserved"):
		text += "; a username is no id in any case: write the numeric Telegram id"
	case strings.Contains(text, "reserved"), strings.Contains(text, "alias"):
		text += `; a text that begins with such a character goes in quotes, e.g. "*"`
	case strings.Contains(text, "mapping value"):
		text += "; a text that contains `: ` goes in quotes, and keys of one section are indented alike"
	}
	d.add("", yamlErr.GetToken(), "%s", text)
}

// decode lays node over v. The key is the path so far; want, where not empty, says what
// the key expects in place of the general words for its type.
func (d *decoder) decode(v reflect.Value, node ast.Node, key, want string) {
	switch node.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.add(key, node.GetToken(), "a value that begins with %.1s goes in quotes; anchors, aliases and tags are not supported", node.GetToken().Value)
		return
	}
	kind, isScalar := scalarFor(v.Type())
	switch {
	case isScalar:
		d.scalar(v, kind, node, key, want)
	case v.Kind() == reflect.Struct:
		d.section(v, node, key)
	case v.Kind() == reflect.Slice:
		d.list(v, node, key, want)
	case v.Kind() == reflect.Map:
		d.mapping(v, node, key)
	default:
		panic("config: no rule for a field of type " + v.Type().String()) // unreachable unless Config has a bug
	}
}

func (d *decoder) scalar(v reflect.Value, kind scalar, node ast.Node, key, want string) {
	if want == "" {
		want = kind.want
	}
	text, ok := scalarText(node)
	switch {
	case !ok:
		d.add(key, start(node), "%s was found; want %s", nodeName(node), want)
	case node.Type() == ast.NullType:
		d.add(key, node.GetToken(), "there is no value; want %s (or leave the key out for its default)", want)
	case !kind.fits(node) || !kind.set(v, text):
		if kind.secret {
			d.add(key, node.GetToken(), "want %s", want)
			return
		}
		d.add(key, node.GetToken(), "%s is not right; want %s", shown(node, text), want)
	}
}

func (d *decoder) section(v reflect.Value, node ast.Node, key string) {
	d.entries(node, key, func(name string, tk *token.Token, value ast.Node) {
		field, found := fieldNamed(v, name)
		if !found {
			d.add(child(key, plainKey(name)), tk, "unknown key%s; known here: %s",
				didYouMean(name, fieldNames(v.Type())), strings.Join(fieldNames(v.Type()), ", "))
			return
		}
		d.decode(field.value, value, child(key, name), field.want)
	})
}

func (d *decoder) mapping(v reflect.Value, node ast.Node, key string) {
	made := reflect.MakeMap(v.Type())
	d.entries(node, key, func(name string, _ *token.Token, value ast.Node) {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.decode(elem, value, child(key, name), "")
		made.SetMapIndex(reflect.ValueOf(name), elem)
	})
	v.Set(made)
}

func (d *decoder) list(v reflect.Value, node ast.Node, key, want string) {
	if node.Type() == ast.NullType {
		return
	}
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		d.add(key, start(node), "%s was found; want a list", nodeName(node))
		return
	}
	made := reflect.MakeSlice(v.Type(), 0, len(sequence.Values))
	for i, value := range sequence.Values {
		elem := newElement(v.Type().Elem())
		d.seen.at[element(key, i)] = place{where: d.position(start(value))}
		d.decode(elem, value, element(key, i), want)
		made = reflect.Append(made, elem)
	}
	v.Set(made)
}

// entries calls each for every key of a mapping, in order, and reports keys that come
// twice.
func (d *decoder) entries(node ast.Node, key string, each func(name string, tk *token.Token, value ast.Node)) {
	if node.Type() == ast.NullType {
		return
	}
	mapping, ok := node.(ast.MapNode)
	if !ok {
		d.add(key, start(node), "%s was found; want keys with values", nodeName(node))
		return
	}
	first := make(map[string]string)
	for iter := mapping.MapRange(); iter.Next(); {
		tk := iter.Key().GetToken()
		name, ok := scalarText(iter.Key())
		if !ok {
			d.add(key, tk, "merge keys and composed keys are not supported; write plain keys")
			continue
		}
		if where, twice := first[name]; twice {
			d.add(child(key, plainKey(name)), tk, "this key is given twice; the first is at %s", where)
			continue
		}
		first[name] = d.position(tk)
		at := tk // a section or a list is found by its key, a single value by itself
		if _, single := scalarText(iter.Value()); single {
			at = iter.Value().GetToken()
		}
		d.seen.at[child(key, name)] = place{where: d.position(at)}
		each(name, tk, iter.Value())
	}
}
