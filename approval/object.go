package approval

import "encoding/json"

// Object reads one I-JSON object, nested at most [MaxNesting] levels, into its
// members, each value byte for byte. Names are told apart by case, and none is
// there twice, so that what one reader sees another sees too. Its error is an
// [*Invalid]. It sets no limit to the length of data.
func Object(data []byte) (map[string]json.RawMessage, error) {
	if broken := checkJSON(data, MaxNesting); broken != nil {
		return nil, &Invalid{Code: CodeInvalid, Field: orData(broken.path), Rule: broken.rule}
	}
	if kindOf(data) != '{' {
		return nil, &Invalid{Code: CodeInvalid, Field: "data", Rule: "must be a JSON object"}
	}
	all := map[string]json.RawMessage{}
	for name, value := range members(data) {
		all[string(name)] = value
	}
	return all, nil
}
