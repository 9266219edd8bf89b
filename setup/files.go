package setup

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"countersign/config"
)

// A file is one to be written, its text with a line's end.
type file struct{ path, text string }

// files are those to be written: secrets first, the configuration last. Its text is made
// when the paths are known.
func (g *guide) files() []file {
	base := g.path
	if ext := filepath.Ext(base); ext == ".yaml" || ext == ".yml" {
		base = strings.TrimSuffix(base, ext)
	}
	files := []file{{base + ".token", g.token + "\n"}}
	if config.NewRedisURL(g.address).HasPassword() {
		files = append(files, file{base + ".redis", g.address + "\n"})
	}
	return append(files, file{g.path, ""})
}

// configuration writes the configuration that names these files.
func (g *guide) configuration(files []file) string {
	var b strings.Builder
	defaults := config.Default()
	b.WriteString("# Written by countersign init. All other keys have their defaults; countersign config\n# example prints them, with what each is for.\n")
	fmt.Fprintf(&b, "telegram:\n  token_file: %s\n", quote(files[0].path))
	if g.APIURL != "" && g.APIURL != defaults.Telegram.APIURL {
		fmt.Fprintf(&b, "  api_url: %s\n", quote(g.APIURL))
	}
	if len(files) > 2 {
		fmt.Fprintf(&b, "redis:\n  url_file: %s\n", quote(files[1].path))
	} else {
		fmt.Fprintf(&b, "redis:\n  url: %s\n", quote(g.address))
	}
	if g.namespace != defaults.Redis.Namespace {
		fmt.Fprintf(&b, "  namespace: %s\n", quote(g.namespace))
	}
	fmt.Fprintf(&b, "people:\n  - {id: %s, name: %s, role: %s}\n", strconv.FormatInt(g.owner.ID, 10), quote(g.owner.Name), g.owner.Role)
	return b.String()
}

// quote writes a text as YAML, of which JSON's texts are a part.
func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("unreachable: a string can be written as JSON: " + err.Error())
	}
	return string(quoted)
}

// Paths are the files that [Result.Write] writes.
func (r Result) Paths() []string {
	var paths []string
	for _, f := range r.files {
		paths = append(paths, f.path)
	}
	return paths
}

// Write writes the files, each for its owner alone. The configuration comes last, so
// that there is none that names a file that is not there. What appeared in the meantime
// is overwritten only if Replace is set.
func (r Result) Write() error {
	for _, f := range r.files {
		if err := r.write(f); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
	}
	return nil
}

// write writes one file whole, or not at all.
func (r Result) write(f file) (err error) {
	part, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone already where it was renamed
	if _, err := part.WriteString(f.text); err != nil {
		_ = part.Close()
		return err
	}
	if err := part.Close(); err != nil {
		return err
	}
	if r.Replace {
		return os.Rename(part.Name(), f.path)
	}
	return os.Link(part.Name(), f.path) // fails where there is one
}
