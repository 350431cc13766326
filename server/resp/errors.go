package resp

// Error is a fault in a request after which the stream cannot be followed any
// more. Its text is the whole error line, code first, without the leading '-'
// and the CRLF: reply with it, then close the connection.
type Error string

// Error returns the error line.
func (e Error) Error() string { return string(e) }

// The protocol errors with a fixed text. The one that is missing here,
// "expected '$', got 'x'", names the byte that was found.
const (
	ErrMultibulkLength Error = "ERR Protocol error: invalid multibulk length"
	ErrMultibulkUnauth Error = "ERR Protocol error: unauthenticated multibulk length"
	ErrMultibulkLine   Error = "ERR Protocol error: too big mbulk count string"
	ErrBulkLength      Error = "ERR Protocol error: invalid bulk length"
	ErrBulkUnauth      Error = "ERR Protocol error: unauthenticated bulk length"
	ErrBulkLine        Error = "ERR Protocol error: too big bulk count string"
	ErrInlineLine      Error = "ERR Protocol error: too big inline request"
	ErrInlineQuotes    Error = "ERR Protocol error: unbalanced quotes in request"
)

// errExpectedBulk is the error for an argument that starts with got instead of
// '$'. A line break would end the reply line early, so it becomes a space.
func errExpectedBulk(got byte) Error {
	if got == '\r' || got == '\n' {
		got = ' '
	}
	return Error("ERR Protocol error: expected '$', got '" + string([]byte{got}) + "'")
}
