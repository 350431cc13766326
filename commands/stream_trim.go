package commands

import (
	"math"

	"github.com/echomq/emqd/store"
	"github.com/echomq/emqd/store/num"
)

// Refusals of trimming options.
const (
	errTrimBoth     Error = "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
	errTrimMaxLen   Error = "ERR The MAXLEN argument must be >= 0."
	errTrimLimit    Error = "ERR The LIMIT argument must be >= 0."
	errTrimLimitBy  Error = "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
	errTrimStrategy Error = "ERR syntax error, XTRIM must be called with a trimming strategy"
	errTrimLimitAll Error = "ERR syntax error, LIMIT cannot be used without the special ~ option"
)

// trimOptions are what XADD and XTRIM are asked to remove.
type trimOptions struct {
	store.StreamTrim
	given   bool
	limited bool // LIMIT was given
}

// parseOption reads the trimming option that options begin with. used is how many arguments it takes, 0 when it is
// none.
func (t *trimOptions) parseOption(options [][]byte) (used int, err error) {
	if len(options) < 2 {
		return 0, nil
	}
	byID := Is(options[0], "minid")
	switch {
	case byID || Is(options[0], "maxlen"):
		return t.parseThreshold(options, byID)
	case Is(options[0], "limit"):
		limit, err := integer(options[1])
		if err != nil {
			return 0, err
		}
		if limit < 0 {
			return 0, errTrimLimit
		}
		t.limited, t.Limit = true, int(limit)
		return 2, nil
	}
	return 0, nil
}

func (t *trimOptions) parseThreshold(options [][]byte, byID bool) (used int, err error) {
	if t.given {
		return 0, errTrimBoth
	}
	t.given, t.ByID, t.Whole, used = true, byID, false, 1
	if len(options) > 2 && len(options[1]) == 1 {
		if sign := options[1][0]; sign == '~' || sign == '=' {
			t.Whole = sign == '~'
			used++
		}
	}
	if byID {
		t.MinID, err = streamID(options[used], 0)
		return used + 1, err
	}
	keep, err := integer(options[used])
	if err == nil && keep < 0 {
		err = errTrimMaxLen
	}
	t.Keep = int(keep)
	return used + 1, err
}

// check refuses options that contradict each other.
func (t *trimOptions) check() error {
	switch {
	case t.Limit > 0 && !t.given:
		return errTrimLimitBy
	case t.limited && !t.Whole:
		return errTrimLimitAll
	}
	return nil
}

// trimStream removes what the options say and returns how many entries that were. Trimming whole chunks is bounded
// unless the client says otherwise.
func trimStream(c *Call, x *store.Stream, t *trimOptions) int {
	if t.Whole && !t.limited {
		t.Limit = 100 * c.Tx.Store().Limits.StreamNodeEntries
		if t.Limit <= 0 {
			t.Limit = 10_000
		}
		t.Limit = min(t.Limit, 1_000_000)
	}
	n := x.Trim(t.StreamTrim)
	if n > 0 {
		c.Tx.Notify('t', "xtrim", c.Args[1])
	}
	return n
}

// parseXTrim reads the options of XTRIM.
func parseXTrim(args [][]byte) (t trimOptions, err error) {
	for i := 2; i < len(args); {
		used, err := t.parseOption(args[i:])
		if err != nil {
			return t, err
		}
		if used == 0 {
			return t, ErrSyntax
		}
		i += used
	}
	if t.Limit > 0 && !t.given {
		return t, errTrimLimitBy
	}
	if !t.given {
		return t, errTrimStrategy
	}
	return t, t.check()
}

// xaddOptions are what XADD is asked for.
type xaddOptions struct {
	trim   trimOptions
	noMake bool
	id     newID
	idAt   int // the argument that the id is
}

// parseXAdd reads what stands before the fields of XADD. Without an id, idAt is the number of arguments.
func parseXAdd(args [][]byte) (a xaddOptions, err error) {
	for a.idAt = 2; a.idAt < len(args); {
		word := args[a.idAt]
		if len(word) == 1 && word[0] == '*' {
			a.id.auto = true
			break
		}
		used, err := a.trim.parseOption(args[a.idAt:])
		switch {
		case err != nil:
			return a, err
		case used > 0:
			a.idAt += used
			continue
		case Is(word, "nomkstream"):
			a.noMake = true
			a.idAt++
			continue
		}
		if a.id, err = parseNewID(word); err != nil {
			return a, err
		}
		break
	}
	return a, a.trim.check()
}

// parseNewID reads ms-seq, ms or ms-*.
func parseNewID(text []byte) (n newID, err error) {
	if k := len(text) - 2; k > 0 && text[k] == '-' && text[k+1] == '*' {
		ms, ok := num.Uint(text[:k])
		if !ok || len(text) > maxStreamIDText {
			return n, errStreamID
		}
		return newID{StreamID: store.StreamID{Ms: ms}, autoSeq: true}, nil
	}
	n.StreamID, err = streamID(text, 0)
	return n, err
}

// integer reads an argument that is a whole number.
func integer(arg []byte) (int64, error) {
	n, ok := num.Int(arg)
	if !ok {
		return 0, ErrNotInteger
	}
	return n, nil
}

// countOf reads the argument of COUNT, where what is not positive stands for no limit.
func countOf(arg []byte) (int, error) {
	n, err := integer(arg)
	return int(min(max(n, 0), math.MaxInt32)), err
}
