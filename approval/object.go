package approval

import "encoding/json"

// Object reads one I-JSON object, nested at most [MaxNesting] levels, into its
// members, each value byte for byte. Names are told apart by case, and none is
// there twice, so that what one reader sees another sees too. Its error is an
// [*Invalid]. It sets no limit to the length of data.
func Object(data []byte) (map[string]json.RawMessage, error) {
	doc, broken := readJSON(data, MaxNesting)
	if broken != nil {
		return nil, &Invalid{Code: CodeInvalid, Field: orData(broken.path), Rule: broken.rule}
	}
	if doc.root().kind() != '{' {
		return nil, &Invalid{Code: CodeInvalid, Field: "data", Rule: "must be a JSON object"}
	}
	all := make(map[string]json.RawMessage, doc.root().len())
	for v := range doc.root().children() {
		all[string(v.key())] = v.raw()
	}
	return all, nil
}
