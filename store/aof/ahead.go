package aof

// A batch is some records of a file in its order, read ahead of their use. What they hold is in bytes of the batch.
type batch struct {
	records  []Record
	commands []Command
	args     [][]byte
	bytes    []byte
	lent     bool  // what the last record holds is the scanner's
	last     bool  // nothing follows
	err      error // of reading what follows
}

const (
	batchRecords = 128
	batchBytes   = 256 << 10
	batches      = 3 // one that is filled, one that waits, one that is used
)

// ahead reads records in a goroutine of its own, some of them ahead of their use.
type ahead struct {
	full, free chan *batch
	back       chan struct{} // tells that a record that was lent is done with
	soon       func([]Record)
	now        *batch // in use
	at         int    // of its next record
}

// readAhead begins to read the records of s, which is the goroutine's until the last one is read or the reading is stopped.
// soon is told records of which read returns the first next, and then the others.
func readAhead(s *scanner, soon func([]Record)) *ahead {
	a := &ahead{
		full: make(chan *batch, batches), free: make(chan *batch, batches), back: make(chan struct{}, 1),
		soon: soon, now: new(batch),
	}
	for range batches - 1 {
		a.free <- new(batch)
	}
	go a.run(s)
	return a
}

func (a *ahead) run(s *scanner) {
	defer close(a.full)
	for b := range a.free {
		b.fill(s)
		lent, last := b.lent, b.last // the batch is the other goroutine's from here on
		a.full <- b                  // there is room for all
		if last {
			return
		}
		if lent {
			<-a.back
		}
	}
}

// read is scanner.read.
func (a *ahead) read() (*Record, error) {
	for a.at == len(a.now.records) {
		if a.now.last {
			return nil, a.now.err
		}
		if a.now.lent {
			a.back <- struct{}{}
		}
		a.free <- a.now
		a.now, a.at = <-a.full, 0
		a.soon(a.now.records)
	}
	a.at++
	return &a.now.records[a.at-1], nil
}

// stop ends the reading.
func (a *ahead) stop() {
	close(a.free)
	close(a.back)
	for range a.full { // until the goroutine has ended
	}
}

// fill reads the next records.
func (b *batch) fill(s *scanner) {
	*b = batch{records: b.records[:0], commands: b.commands[:0], args: b.args[:0], bytes: b.bytes[:0]}
	for !b.lent && len(b.records) < batchRecords && len(b.bytes) < batchBytes {
		rec, err := s.read()
		if rec == nil {
			b.last, b.err = true, err
			return
		}
		b.add(rec, s.off-rec.Offset > batchBytes)
	}
}

// add adds a record, one that is too large for a copy as it is.
func (b *batch) add(rec *Record, lend bool) {
	if b.lent = lend; lend {
		b.records = append(b.records, *rec)
		return
	}
	first := len(b.commands)
	for i := range rec.Commands {
		cmd := &rec.Commands[i]
		from := len(b.args)
		for _, arg := range cmd.Args {
			at := len(b.bytes)
			b.bytes = append(b.bytes, arg...)
			b.args = append(b.args, b.bytes[at:len(b.bytes):len(b.bytes)])
		}
		b.commands = append(b.commands, Command{cmd.DB, b.args[from:len(b.args):len(b.args)]})
	}
	b.records = append(b.records, Record{rec.Seq, rec.Offset, b.commands[first:len(b.commands):len(b.commands)]})
}
