package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The refiners that are known.
const (
	emailV1 = "send_email_recipient@v1" // the operator's own address
	emailV2 = "send_email_recipient@v2" // that, and those that the operator allows
)

// maxRecipients is how many entries of email_allowed_recipients count.
const maxRecipients = 50

// emailKeys are the arguments that send_email takes.
var emailKeys = []string{
	"to", "subject", "account", "body_text", "body_html", "cc", "bcc", "attachments", "timeout_s", "headers",
}

// refine lets a refiner try to prove that a call is harmless. It returns the
// reason, and whether it is a proof.
func refine(refiner, tool string, arguments json.RawMessage, p *Rules) (Reason, bool) {
	var permitted recipients
	switch refiner {
	case emailV1:
		permitted = permit(p.OperatorEmail, nil)
	case emailV2:
		permitted = permit(p.OperatorEmail, p.EmailAllowedRecipients)
	default:
		return RefinerUnregistered, false
	}
	if tool != "send_email" {
		return RefinerElsewhere, false // reply_email takes them from the mail it replies to
	}
	tokens, fault := emailRecipients(arguments)
	switch {
	case fault != "":
		return fault, false
	case len(permitted) == 0:
		return RefinerNoSelf, false
	}
	proof := RefinerSelf
	for _, t := range tokens {
		self, ok := permitted.has(t)
		if !ok {
			return RefinerUnproven, false
		}
		if !self {
			proof = RefinerAllowed
		}
	}
	return proof, true
}

// emailRecipients reads who a send_email call would reach, each as one token as it
// was sent, at least one. It gives a reason instead where that is not beyond doubt.
func emailRecipients(arguments json.RawMessage) ([]string, Reason) {
	members, ok := readObject(arguments)
	if !ok {
		return nil, RefinerUnparseable
	}
	if slices.ContainsFunc(members, func(m member) bool { return m.name == "arguments" }) {
		return nil, RefinerWrapper
	}
	for _, m := range members {
		switch {
		case !slices.Contains(emailKeys, m.name):
			return nil, RefinerUnknown
		case m.name == "headers" && !harmlessHeaders(m.value):
			return nil, RefinerHeader
		}
	}
	var tokens []string
	for _, m := range members {
		// A line break in a subject or an address can begin a header of its own.
		if m.name != "body_text" && m.name != "body_html" && hasControl(m.value) {
			return nil, RefinerControl
		}
		switch m.name {
		case "to", "cc", "bcc":
			some, fault := splitRecipients(m.value)
			if fault != "" {
				return nil, fault
			}
			tokens = append(tokens, some...)
		}
	}
	if len(tokens) == 0 {
		return nil, RefinerEmpty
	}
	return tokens, ""
}

// harmlessHeaders reports whether all headers are of the sender's own making.
func harmlessHeaders(value json.RawMessage) bool {
	headers, ok := readObject(value)
	return ok && !slices.ContainsFunc(headers, func(m member) bool { return !strings.HasPrefix(m.name, "X-") })
}

// splitRecipients reads one field: a text is split at commas and semicolons, an
// element of a list is not.
func splitRecipients(value json.RawMessage) (tokens []string, fault Reason) {
	add := func(token string) {
		if strings.Trim(token, " ") != "" {
			tokens = append(tokens, token)
		}
	}
	if text, ok := readText(value); ok {
		for _, token := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }) {
			add(token)
		}
		return tokens, ""
	}
	var list []json.RawMessage
	if value[0] != '[' || json.Unmarshal(value, &list) != nil {
		return nil, RefinerUnproven // no address, whatever the tool makes of it
	}
	for _, element := range list {
		text, ok := readText(element)
		if !ok {
			return nil, RefinerNonString
		}
		add(text)
	}
	return tokens, ""
}

func readText(value json.RawMessage) (text string, ok bool) {
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return "", false
	}
	return text, true
}

// recipients are the permitted addresses, normalised, and whether each is the
// operator's own.
type recipients map[string]bool

// permit makes the permitted addresses. What is no plain address is ignored.
func permit(self string, allowed []string) recipients {
	r := recipients{}
	own := ""
	if PlainAddress(self) {
		own = normal(self)
	}
	usable := 0
	for _, entry := range allowed {
		is := strings.EqualFold(strings.Trim(entry, " "), "self")
		if !is && !PlainAddress(entry) {
			continue
		}
		if usable++; usable > maxRecipients {
			break
		}
		if !is {
			r[normal(entry)] = false
		}
	}
	if own != "" {
		r[own] = true
	}
	return r
}

// has reports whether a token is a permitted address, and whether it is the
// operator's own.
func (r recipients) has(token string) (self, ok bool) {
	if foldsToASCII(token) {
		return false, false
	}
	self, ok = r[normal(token)]
	return self, ok
}

// PlainAddress reports whether an entry of the operator's is an address that a
// recipient can be compared with: one @ with something on both sides, no white
// space or control character within, and nothing of the grammar of lists, names
// and quotes. Spaces around it are trimmed.
func PlainAddress(entry string) bool {
	entry = strings.Trim(entry, " ")
	user, host, ok := strings.Cut(entry, "@")
	return ok && user != "" && host != "" && utf8.ValidString(entry) &&
		!strings.Contains(host, "@") && !strings.ContainsFunc(entry, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>,;:\"()[]\ufffd", r)
	}) && !foldsToASCII(entry)
}

// normal is an address as it is compared: NFC, trimmed of spaces, in lower case,
// and nothing more.
func normal(address string) string {
	return strings.ToLower(strings.Trim(norm.NFC.String(address), " "))
}

// foldsToASCII reports whether a letter beyond ASCII becomes an ASCII one when it is
// normalised: by itself, as the Kelvin sign does, or once marks are composed with it, as
// I and a dot above do. Such a token looks like an address that it is not.
func foldsToASCII(token string) bool {
	folds := func(r rune) bool {
		return r >= utf8.RuneSelf && strings.ContainsFunc(normal(string(r)), func(n rune) bool { return n < utf8.RuneSelf })
	}
	return strings.ContainsFunc(token, folds) || strings.ContainsFunc(norm.NFC.String(token), folds)
}
