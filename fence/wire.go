package fence

const (
	// Wire is the identity that a node's fence must hold before any write verb runs.
	Wire = "echomq:6.0.0"

	// Epoch is the major of Wire, the integer that EMQ.VERSION reports.
	Epoch = 6

	// VersionKey is the key of the fence. It stands outside every queue.
	VersionKey = "{emq}:version"

	// EchoLimit is how many bytes of a client's own words an error text repeats.
	EchoLimit = 128
)

const (
	// WireAbsent refuses a write verb on a node that nobody has installed.
	WireAbsent Refusal = "EMQWIRE expected " + Wire + " but " + VersionKey + " is absent"

	wireFound = "EMQWIRE expected " + Wire + " found "
)

// IsWire reports whether value, as held by VersionKey, is exactly Wire.
func IsWire(value []byte) bool { return string(value) == Wire }

// CheckWire judges the fence: held tells whether VersionKey exists, value is what
// it holds. It returns nil, WireAbsent or the text of WireFound.
func CheckWire(value []byte, held bool) error {
	switch {
	case !held:
		return WireAbsent
	case IsWire(value):
		return nil
	}
	return WireFound(value)
}

// WireFound is the refusal for a fence that holds another value. The value is
// echoed as AppendEcho writes it. It allocates; AppendWireFound does not.
func WireFound(value []byte) Refusal {
	return Refusal(AppendWireFound(nil, value))
}

// AppendWireFound appends the text of WireFound to dst.
func AppendWireFound(dst, value []byte) []byte {
	dst = append(dst, wireFound...)
	return AppendEcho(dst, value)
}

// AppendEcho appends a client's words to an error text in dst: at most EchoLimit
// bytes of them, each CR and LF made a space so that the text stays one line.
func AppendEcho(dst, words []byte) []byte {
	if len(words) > EchoLimit {
		words = words[:EchoLimit]
	}
	for _, c := range words {
		if c == '\r' || c == '\n' {
			c = ' '
		}
		dst = append(dst, c)
	}
	return dst
}
