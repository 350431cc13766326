package server

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ClientClass is a class of clients with an output limit of its own.
type ClientClass int

// The classes, in the order of client-output-buffer-limit.
const (
	ClassNormal ClientClass = iota
	ClassReplica
	ClassPubSub
)

// OutputLimit bounds the output kept for a client, in bytes; 0 is no limit. A client over Hard is
// closed at once, one that stays over Soft for Seconds as well.
type OutputLimit struct {
	Hard, Soft int64
	Seconds    int64
}

// OutputLimits is the limit of each ClientClass.
type OutputLimits [3]OutputLimit

func classNames() [3]string { return [3]string{"normal", "slave", "pubsub"} }

// parse changes the limits of the classes named in args and leaves the others.
func (l *OutputLimits) parse(args []string) error {
	if len(args)%4 != 0 {
		return refusal("Wrong number of arguments in buffer limit configuration.")
	}
	next := *l
	for ; len(args) > 0; args = args[4:] {
		class := -1
		for i, name := range classNames() {
			if strings.EqualFold(args[0], name) || i == int(ClassReplica) && strings.EqualFold(args[0], "replica") {
				class = i
			}
		}
		if class < 0 {
			return refusal("Invalid client class specified in buffer limit configuration.")
		}
		hard, ok1 := parseMemory(args[1])
		soft, ok2 := parseMemory(args[2])
		seconds, err := strconv.ParseInt(args[3], 10, 32)
		if !ok1 || !ok2 || err != nil || seconds < 0 {
			return refusal("Error in hard, soft or soft_seconds setting in buffer limit configuration.")
		}
		next[class] = OutputLimit{Hard: hard, Soft: soft, Seconds: seconds}
	}
	*l = next
	return nil
}

func (l *OutputLimits) words() []string {
	var w []string
	for i, name := range classNames() {
		w = append(w, name, strconv.FormatInt(l[i].Hard, 10), strconv.FormatInt(l[i].Soft, 10), strconv.FormatInt(l[i].Seconds, 10))
	}
	return w
}

// add is parse: each line of the file may name one class.
func (l *OutputLimits) add(args []string) error { return l.parse(args) }

// savePoint is a pair of the setting save.
type savePoint struct{ seconds, changes int64 }

// savePoints is the setting save.
type savePoints []savePoint

func (p *savePoints) parse(args []string) error {
	var none savePoints
	if err := none.add(args); err != nil {
		return err
	}
	*p = none
	return nil
}

func (p *savePoints) add(args []string) error {
	if len(args) == 0 || len(args) == 1 && args[0] == "" {
		*p = nil
		return nil
	}
	const bad = refusal("Invalid save parameters")
	if len(args)%2 != 0 {
		return bad
	}
	next := append(savePoints{}, *p...)
	for ; len(args) > 0; args = args[2:] {
		seconds, err1 := strconv.ParseInt(args[0], 10, 64)
		changes, err2 := strconv.ParseInt(args[1], 10, 32)
		if err1 != nil || err2 != nil || seconds < 1 || changes < 0 {
			return bad
		}
		next = append(next, savePoint{seconds, changes})
	}
	*p = next
	return nil
}

func (p *savePoints) words() []string {
	var w []string
	for _, s := range *p {
		w = append(w, strconv.FormatInt(s.seconds, 10), strconv.FormatInt(s.changes, 10))
	}
	return w
}

// percentiles is the setting latency-tracking-info-percentiles.
type percentiles []float64

func (p *percentiles) parse(args []string) error {
	if len(args) == 1 && args[0] == "" {
		args = nil
	}
	next := percentiles{}
	for _, a := range args {
		f, err := strconv.ParseFloat(a, 64)
		if err != nil || math.IsNaN(f) {
			return refusal("Invalid latency-tracking-info-percentiles parameters")
		}
		if f < 0 || f > 100 {
			return refusal("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
		}
		next = append(next, f)
	}
	*p = next
	return nil
}

func (p *percentiles) words() []string {
	var w []string
	for _, f := range *p {
		w = append(w, strconv.FormatFloat(f, 'g', -1, 64))
	}
	return w
}

// users is the user lines of the file, each the words after "user".
type users [][]string

func (u *users) parse(args []string) error {
	*u = nil
	if len(args) == 0 {
		return nil
	}
	return u.add(args)
}

func (u *users) add(args []string) error {
	if len(args) == 0 || args[0] == "" {
		return refusal("a user needs a name")
	}
	*u = append(*u, append([]string{}, args...))
	return nil
}

func (u *users) words() []string { return nil }

// Reserve is a part of a limit, in per cent or in bytes.
type Reserve struct {
	percent bool
	n       int64
}

// Bytes returns the part in bytes of the limit of so many bytes, never more than all of it.
func (r Reserve) Bytes(limit int64) int64 { return min(r.Amount(limit), limit) }

// Amount is Bytes where an amount in bytes may be more than the whole.
func (r Reserve) Amount(whole int64) int64 {
	if !r.percent {
		return r.n
	}
	return whole/100*r.n + whole%100*r.n/100
}

func (r *Reserve) parse(args []string) error {
	const bad = refusal("argument must be a memory or percent value")
	if len(args) != 1 || args[0] == "" {
		return bad
	}
	if p, ok := strings.CutSuffix(args[0], "%"); ok {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil || n > 100 {
			return refusal("percentage argument must be less or equal to 100")
		}
		*r = Reserve{percent: true, n: int64(n)}
		return nil
	}
	n, ok := parseMemory(args[0])
	if !ok {
		return bad
	}
	*r = Reserve{n: n}
	return nil
}

func (r *Reserve) words() []string {
	if r.percent {
		return []string{fmt.Sprintf("%d%%", r.n)}
	}
	return []string{strconv.FormatInt(r.n, 10)}
}

// Interval is a time between two runs in milliseconds, 0 for never.
type Interval int64

func (i *Interval) parse(args []string) error {
	if len(args) != 1 {
		return refusal("wrong number of arguments")
	}
	d, err := time.ParseDuration(args[0])
	if err != nil {
		return refusal("argument must be a time such as 250ms or 1s, or 0")
	}
	if d != 0 && (d < time.Millisecond || d > time.Hour) {
		return refusal("argument must be between 1ms and 1h, or 0")
	}
	*i = Interval(d.Milliseconds())
	return nil
}

func (i *Interval) words() []string {
	if *i == 0 {
		return []string{"0"}
	}
	return []string{strconv.FormatInt(int64(*i), 10) + "ms"}
}

// keyEventLetters is the letters of notify-keyspace-events in the order in which Valkey shows
// them; the first keyEventAll of them make up A.
const (
	keyEventLetters = "g$lshzxetdnKEm"
	keyEventAll     = 10
)

// KeyEvents is the set of classes of notify-keyspace-events.
type KeyEvents uint16

// Has says whether the class with that letter (one of g $ l s h z x e t d n m, or K and E for the
// two kinds of channels) is wanted.
func (e KeyEvents) Has(letter byte) bool {
	i := strings.IndexByte(keyEventLetters, letter)
	return i >= 0 && e&(1<<i) != 0
}

// Any says whether any event is to be published: a class and one of K and E.
func (e KeyEvents) Any() bool {
	channels := KeyEvents(3 << strings.IndexByte(keyEventLetters, 'K'))
	return e&channels != 0 && e&^channels != 0
}

func (e *KeyEvents) parse(args []string) error {
	if len(args) != 1 {
		return refusal("wrong number of arguments")
	}
	const all = 1<<keyEventAll - 1
	var next KeyEvents
	for _, c := range []byte(args[0]) {
		if c == 'A' {
			next |= all
			continue
		}
		i := strings.IndexByte(keyEventLetters, c)
		if i < 0 {
			return refusal("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
		}
		next |= 1 << i
	}
	*e = next
	return nil
}

func (e *KeyEvents) words() []string {
	const all = 1<<keyEventAll - 1
	var b []byte
	if *e&all == all {
		b = append(b, 'A')
	}
	for i := range len(keyEventLetters) {
		c := keyEventLetters[i]
		// As Valkey: n is shown only without A.
		if !e.Has(c) || *e&all == all && (i < keyEventAll || c == 'n') {
			continue
		}
		b = append(b, c)
	}
	return []string{string(b)}
}
