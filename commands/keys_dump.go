package commands

import "github.com/echomq/emqd/store/num"

// Refusals of RESTORE.
const (
	errBusyKey      Error = "BUSYKEY Target key name already exists."
	errRestoreTTL   Error = "ERR Invalid TTL value, must be >= 0"
	errRestoreIdle  Error = "ERR Invalid IDLETIME value, must be >= 0"
	errRestoreFreq  Error = "ERR Invalid FREQ value, must be >= 0 and <= 255"
	maxFreq               = 255
	restoreNotGiven       = -1
)

// cmdDump handles DUMP key.
//
// Keys:    any
// Reply:   the value's serialized form, or null when the key is absent
// Effects: none
func cmdDump(c *Call) error {
	if payload := c.Tx.Dump(c.Args[1]); payload != nil {
		c.Reply.Bulk(payload)
	} else {
		c.Reply.Null()
	}
	return nil
}

// restoreOptions are the words behind the payload of RESTORE.
type restoreOptions struct {
	replace, absolute bool
	idle, freq        int64 // restoreNotGiven without
}

func parseRestore(options [][]byte) (restoreOptions, error) {
	o := restoreOptions{idle: restoreNotGiven, freq: restoreNotGiven}
	for ; len(options) > 0; options = options[1:] {
		word, valued := options[0], len(options) > 1
		switch {
		case Is(word, "replace"):
			o.replace = true
		case Is(word, "absttl"):
			o.absolute = true
		case Is(word, "idletime") && valued && o.freq == restoreNotGiven:
			n, ok := num.Int(options[1])
			if !ok {
				return o, ErrNotInteger
			}
			if n < 0 {
				return o, errRestoreIdle
			}
			o.idle = n
			options = options[1:]
		case Is(word, "freq") && valued && o.idle == restoreNotGiven:
			n, ok := num.Int(options[1])
			if !ok {
				return o, ErrNotInteger
			}
			if n < 0 || n > maxFreq {
				return o, errRestoreFreq
			}
			o.freq = n
			options = options[1:]
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

// cmdRestore handles RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]. The
// frequency is checked and not kept, since no policy here uses one.
//
// Keys:    any
// Reply:   OK, also when the time has come and the key is gone
// Errors:  syntax, BUSYKEY when the key exists without REPLACE, bad numbers, a payload that is not whole
// Effects: RESTORE, or DEL when the time has come
func cmdRestore(c *Call) error {
	key := c.Args[1]
	o, err := parseRestore(c.Args[4:])
	if err != nil {
		return err
	}
	was := c.Tx.Exists(key)
	if was && !o.replace {
		return errBusyKey
	}
	ttl, ok := num.Int(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if ttl < 0 {
		return errRestoreTTL
	}
	if ttl > 0 && !o.absolute {
		if ttl, ok = timePX.unixMilli(ttl, c.Now()); !ok {
			return ErrExpireTime(c.Row.FullName())
		}
	}
	there, err := c.Tx.Restore(key, c.Args[3], ttl, max(o.idle, 0))
	if err != nil {
		return err
	}
	switch {
	case there:
		c.Tx.Notify('g', "restore", key)
	case was:
		c.Tx.Notify('g', "del", key)
	}
	c.Reply.OK()
	return nil
}
