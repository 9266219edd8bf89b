package approval

// Data is the data of one event, read once for all that is made of it: what it says, its
// terms, and what a schema is held against. It does not change, and is safe for
// concurrent use. It refers to the bytes that it was read from, which must not change
// either; what is decoded of it does not.
type Data struct {
	raw    []byte
	doc    *document // nil where broken is not, or raw is too large
	broken *fault
}

// ReadData reads the data of an event. Whatever is wrong with it is the error of what is
// then decoded of it.
func ReadData(data []byte) *Data {
	if len(data) > MaxData {
		return &Data{raw: data}
	}
	return readData(data, MaxNesting)
}

// readData reads data of any length, nested at most depth.
func readData(data []byte, depth int) *Data {
	d := &Data{raw: data}
	d.doc, d.broken = readJSON(data, depth)
	return d
}

// Raw is the data, byte for byte.
func (d *Data) Raw() []byte { return d.raw }

// Tree is the data as encoding/json reads it into an interface: maps, lists, strings,
// doubles, booleans and nil; nil, too, where it is not I-JSON within the limits of an
// event.
func (d *Data) Tree() any {
	if d.doc == nil {
		return nil
	}
	return d.doc.root().tree()
}

// Terms is the function of this name, of data that has been read.
func (d *Data) Terms() (string, error) {
	switch {
	case len(d.raw) > MaxData:
		return "", &Invalid{Code: CodeTooLarge, Field: "data", Rule: "over 256 KiB"}
	case d.broken != nil:
		return "", &Invalid{Code: CodeInvalid, Field: orData(d.broken.path), Rule: d.broken.rule}
	case d.doc.root().kind() != '{':
		return "", &Invalid{Code: CodeInvalid, Field: "data", Rule: "must be a JSON object"}
	}
	return digest(d.doc.canonicalWithout("expires_in", "expires_at")), nil
}
