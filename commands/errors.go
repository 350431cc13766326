package commands

import "strings"

// Error is the exact wire line of a refusal without its CR/LF: CODE, space, text. It is a string
// type so that a constant converts to the error interface without allocating.
type Error string

// Error returns the wire line.
func (e Error) Error() string { return string(e) }

// Refusals shared by many commands, in Valkey's own words.
const (
	ErrWrongType      Error = "WRONGTYPE Operation against a key holding the wrong kind of value"
	ErrSyntax         Error = "ERR syntax error"
	ErrNotInteger     Error = "ERR value is not an integer or out of range"
	ErrNotFloat       Error = "ERR value is not a valid float"
	ErrNoSuchKey      Error = "ERR no such key"
	ErrOutOfRange     Error = "ERR index out of range"
	ErrPositive       Error = "ERR value is out of range, must be positive"
	ErrHashInteger    Error = "ERR hash value is not an integer"
	ErrNoPermKey      Error = "NOPERM No permissions to access a key"
	ErrOverflow       Error = "ERR increment or decrement would overflow"
	ErrNaNOrInf       Error = "ERR increment would produce NaN or Infinity"
	ErrScoreNaN       Error = "ERR resulting score is not a number (NaN)"
	ErrOOM            Error = "OOM command not allowed when used memory > 'maxmemory'."
	ErrInternal       Error = "ERR internal error"
	ErrTimeoutFloat   Error = "ERR timeout is not a float or out of range"
	ErrTimeoutNeg     Error = "ERR timeout is negative"
	ErrTimeoutRange   Error = "ERR timeout is out of range"
	ErrTimeoutInteger Error = "ERR timeout is not an integer or out of range"
)

// errWait is returned by Call.Wait: the handler could not be served now and the server parks the
// client. It never reaches the wire.
const errWait Error = "WAIT"

// IsWait reports whether a handler asked to be parked until one of its keys is touched.
func IsWait(err error) bool { return err == error(errWait) }

// How many bytes of a client's own words an error repeats: as Valkey does, and where Valkey repeats all of them.
const (
	echoLimit     = 128
	echoLongLimit = 4 << 10
)

// Echo cuts a client's words to what an error may repeat, and replaces line breaks, so that an
// error stays one line.
func Echo(b []byte) string { return echo(b, echoLimit) }

// EchoLong is Echo for words of which Valkey repeats all.
func EchoLong(b []byte) string { return echo(b, echoLongLimit) }

func echo(b []byte, limit int) string {
	out := []byte(string(b[:min(len(b), limit)]))
	for i, c := range out {
		if c == '\r' || c == '\n' || c == 0 {
			out[i] = ' '
		}
	}
	return string(out)
}

// ErrArity is the refusal of a call with too few or too many arguments; name is the row's full
// name, a sub-command's with its container as "client|list".
func ErrArity(name string) Error {
	return Error("ERR wrong number of arguments for '" + name + "' command")
}

// ErrSubSyntax is the refusal of a container's call whose sub-command takes other arguments.
func ErrSubSyntax(args [][]byte) Error {
	return Error("ERR unknown subcommand or wrong number of arguments for '" + Echo(args[1]) + "'. Try " +
		strings.ToUpper(Echo(args[0])) + " HELP.")
}
