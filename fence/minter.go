package fence

import "fmt"

// Minter mints branded ids that only go up, also when the clock stands still or
// steps back: it then counts on from the last id. It is not safe for concurrent
// use; its owner guards it.
type Minter struct {
	namespace string
	node      Snowflake
	now       func() int64
	time      int64 // ms since SnowflakeEpoch of the last id
	seq       int64 // sequence of the next id within time
}

// NewMinter makes a minter for one namespace (three upper-case letters) and node
// (0 to 1023). Now gives Unix ms. Two minters with different nodes never mint the
// same id.
func NewMinter(namespace string, node int, now func() int64) (*Minter, error) {
	if !validNamespace([]byte(namespace)) {
		return nil, fmt.Errorf("namespace %q is not three upper-case letters", namespace)
	}
	if node < 0 || node >= 1<<nodeBits {
		return nil, fmt.Errorf("node %d is not between 0 and %d", node, 1<<nodeBits-1)
	}
	return &Minter{namespace: namespace, node: Snowflake(node), now: now}, nil
}

// Mint is the next id.
func (m *Minter) Mint() string { return FormatID(m.namespace, m.Next()) }

// AppendMint appends the next id to dst.
func (m *Minter) AppendMint(dst []byte) []byte { return AppendID(dst, m.namespace, m.Next()) }

// Next is the number of the next id. A time before SnowflakeEpoch counts as that
// epoch. More than 4096 ids in one millisecond run into the next one. It panics
// when the 41 bits of time are spent, in the year 2093.
func (m *Minter) Next() Snowflake {
	switch t := m.now() - SnowflakeEpoch; {
	case t > m.time:
		m.time, m.seq = t, 0
	case m.seq == 1<<seqBits:
		m.time, m.seq = m.time+1, 0
	}
	if m.time >= 1<<timeBits {
		panic("fence: the snowflake's 41 bits of time are spent")
	}
	s := Snowflake(m.time)<<(nodeBits+seqBits) | m.node<<seqBits | Snowflake(m.seq)
	m.seq++
	return s
}
