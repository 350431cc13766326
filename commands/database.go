package commands

import (
	"github.com/echomq/emqd/store/num"
)

var databaseRows = []Row{
	{
		Name: "dbsize", Tips: []string{"request_policy:all_shards", "response_policy:agg_sum"}, Family: "server", Arity: 1, Flags: ReadOnly | Fast, Do: cmdDBSize, Categories: []string{"keyspace"},
		Since: "1.0.0", Summary: "Counts the keys of the database.", Complexity: "O(1)",
	},
	{
		Name: "flushdb", Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Family: "server", Arity: -1, Flags: Write, Do: cmdFlushDB, Categories: []string{"keyspace", "dangerous"},
		Syntax: "[ASYNC | SYNC]", Since: "1.0.0",
		Summary: "Removes all keys of the database.", Complexity: "O(1); the memory is given back step by step",
	},
	{
		Name: "flushall", Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Family: "server", Arity: -1, Flags: Write, Do: cmdFlushAll, Categories: []string{"keyspace", "dangerous"},
		Syntax: "[ASYNC | SYNC]", Since: "1.0.0",
		Summary: "Removes all keys of all databases.", Complexity: "O(1); the memory is given back step by step",
	},
	{
		Name: "swapdb", Family: "server", Arity: 3, Flags: Write | Fast, Do: cmdSwapDB, Categories: []string{"keyspace", "dangerous"},
		Syntax: "index1:integer index2:integer", Since: "4.0.0", Summary: "Exchanges the keys of two databases.",
		Complexity: "O(N) where N is the number of clients that watch or wait for keys of both",
	},
}

// Refusals of SWAPDB.
const (
	errFirstDB  Error = "ERR invalid first DB index"
	errSecondDB Error = "ERR invalid second DB index"
)

// cmdDBSize handles DBSIZE.
//
// Reply:   number of keys, those past their time and not yet removed included
// Effects: none
func cmdDBSize(c *Call) error {
	c.Reply.Int(int64(c.Tx.Store().Len(c.Tx.DB())))
	return nil
}

// parseFlush checks the words of FLUSHDB and FLUSHALL. Which is said makes no difference: neither stalls.
func parseFlush(args [][]byte) error {
	if len(args) == 1 || len(args) == 2 && (Is(args[1], "sync") || Is(args[1], "async")) {
		return nil
	}
	return ErrSyntax
}

// cmdFlushDB handles FLUSHDB [ASYNC | SYNC].
//
// Reply:   OK
// Errors:  syntax
// Effects: FLUSHDB
func cmdFlushDB(c *Call) error {
	if err := parseFlush(c.Args); err != nil {
		return err
	}
	c.Tx.Flush()
	c.Reply.OK()
	return nil
}

// cmdFlushAll handles FLUSHALL [ASYNC | SYNC].
//
// Reply:   OK
// Errors:  syntax
// Effects: FLUSHALL
func cmdFlushAll(c *Call) error {
	if err := parseFlush(c.Args); err != nil {
		return err
	}
	c.Tx.FlushAll()
	c.Reply.OK()
	return nil
}

// cmdSwapDB handles SWAPDB index1 index2.
//
// Reply:   OK
// Errors:  numbers that are no databases
// Effects: SWAPDB
func cmdSwapDB(c *Call) error {
	first, ok := num.Int(c.Args[1])
	if !ok || first != int64(int32(first)) {
		return errFirstDB
	}
	second, ok := num.Int(c.Args[2])
	if !ok || second != int64(int32(second)) {
		return errSecondDB
	}
	if n := int64(c.Tx.Store().Databases()); first < 0 || first >= n || second < 0 || second >= n {
		return errDBRange
	}
	c.Tx.Swap(int(first), int(second))
	c.Reply.OK()
	return nil
}
