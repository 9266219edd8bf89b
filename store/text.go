package store

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"countersign/approval"
)

// auditText is an audit line; a line of our own making always encodes.
func auditText(a approval.Audit) string {
	data, err := a.Encode()
	if err != nil {
		panic("unreachable unless bug in this package: " + err.Error())
	}
	return string(data)
}

// jsonText encodes plain numbers and strings of ours, which cannot fail.
func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("unreachable unless bug in this package: " + err.Error())
	}
	return string(data)
}

// commaList writes ids as ",1,2,", so that a script finds ",1,".
func commaList(ids []int64) string {
	var b strings.Builder
	b.WriteByte(',')
	for _, id := range ids {
		b.WriteString(strconv.FormatInt(id, 10))
		b.WriteByte(',')
	}
	return b.String()
}

func asPair(v any) (string, string) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return "", ""
	}
	if len(list) == 1 {
		return asString(list[0]), ""
	}
	return asString(list[0]), asString(list[1])
}

// stamp writes a time as events carry it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
