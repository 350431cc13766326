package commands

import "github.com/echomq/emqd/store/num"

// Build is what EMQ.VERSION and TRA.INFO tell about the program and its start.
type Build struct {
	Version string // semantic version, such as "1.4.2"
	Commit  string // commit that the program was built from
	Date    string // when it was built
	Started int64  // when this node started, Unix ms
}

// Major returns the major number of the version, 0 when it has none.
func (b Build) Major() int64 {
	for i := 0; i < len(b.Version); i++ {
		if b.Version[i] == '.' {
			n, _ := num.Int([]byte(b.Version[:i])) // 0 is what a version without a number has
			return n
		}
	}
	return 0
}

// String returns commit and date, separated by a space, as far as they are known.
func (b Build) String() string {
	switch {
	case b.Commit == "":
		return b.Date
	case b.Date == "":
		return b.Commit
	}
	return b.Commit + " " + b.Date
}
