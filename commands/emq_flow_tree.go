package commands

import (
	"github.com/echomq/emqd/fence"
	"github.com/echomq/emqd/store"
)

// maxTreeLevels bounds the depth of a tree, and with it the work that the failure of one leaf can be.
const maxTreeLevels = 64

// treeNode is a node of a tree that is being added.
type treeNode struct {
	flowNode
	level int
}

// emqFlowAdd handles EMQ.FLOW.ADD numkeys row [row ...] | id payload parent_id policy [...].
//
// Keys:    the rows, of any queues; writes pending of their queues and :dependencies
// Reply:   the number of nodes below the root, or 0 when a row exists
// Errors:  arity unless there are four arguments for each row, EMQLAYOUT when they are no tree, EMQKIND, WRONGTYPE
// Effects: HSET rows, SET :dependencies, ZADD pending
func emqFlowAdd(c *Call) error {
	v, err := newVerb(c)
	if err != nil {
		return err
	}
	if err := v.takes(4 * len(v.rows)); err != nil {
		return err
	}
	nodes, err := v.tree()
	if err != nil {
		return err
	}
	if err := checkFence(c); err != nil {
		return err
	}
	for i := range nodes {
		if !fence.IsJob(nodes[i].id) {
			return fence.KindJob
		}
	}
	for i := range nodes {
		if c.Tx.Exists(nodes[i].key) {
			c.Reply.Int(0)
			return nil
		}
	}
	if err := c.Guard(); err != nil {
		return err
	}
	return v.plant(nodes)
}

// tree reads the arguments as a tree.
func (v *verb) tree() ([]treeNode, error) {
	nodes := make([]treeNode, len(v.rows))
	for i := 1; i < len(nodes); i++ { // words are of the shape, which comes before the layout
		policy, err := v.policy(4*i + 3)
		if err != nil {
			return nil, err
		}
		nodes[i].policy = policy
	}
	places := make(map[string]int, len(nodes))
	for i := range nodes {
		if err := v.treeNode(nodes, i, places); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// treeNode reads node i. places tells where the ids before it are.
func (v *verb) treeNode(nodes []treeNode, i int, places map[string]int) error {
	n, args := &nodes[i], v.args[4*i:]
	key, err := fence.CheckKey(i+1, v.rows[i], fence.Row)
	if err != nil {
		return err
	}
	n.key, n.base, n.id, n.payload = v.rows[i], key.Base, args[0], args[1]
	if string(key.Name) != string(n.id) {
		return fence.LayoutName(i+1, fence.Row)
	}
	if err := flowIDs(n.id); err != nil {
		return err
	}
	if _, twice := places[string(n.id)]; twice {
		return fence.LayoutTreeTwice
	}
	places[string(n.id)] = i
	if i == 0 {
		if len(args[2]) > 0 || len(args[3]) > 0 {
			return fence.LayoutTreeRoot
		}
		return nil
	}
	at, ok := places[string(args[2])]
	if !ok || at == i {
		return fence.LayoutTreeParent
	}
	parent := &nodes[at]
	parent.children++
	n.parent = parent.id
	if string(parent.base) != string(n.base) {
		n.queue = fence.Queue(parent.base)
	}
	if n.level = parent.level + 1; n.level >= maxTreeLevels {
		return fence.LayoutTreeDeep
	}
	return nil
}

// plant writes a tree none of whose rows exists. Rows come first, then the sets, so that the effects on one set join.
func (v *verb) plant(nodes []treeNode) error {
	if _, err := v.eachLeaf(nodes, nil); err != nil {
		return err
	}
	for i := range nodes {
		row, err := v.row(nodes[i].key)
		if err != nil {
			return err // not reached: no key is there
		}
		nodes[i].write(v, &row)
	}
	leaves, err := v.eachLeaf(nodes, func(pending *store.ZSet, id []byte) { pending.Add(id, 0) })
	if err != nil || leaves == 0 {
		panic("commands: a pending set changed its type while a tree was written, or the tree has no leaf")
	}
	v.c.Reply.Int(int64(len(nodes) - 1))
	return nil
}

// eachLeaf opens the pending set of every node that is nobody's parent, calls f with it unless f is nil, and returns
// how many such nodes there are.
func (v *verb) eachLeaf(nodes []treeNode, f func(pending *store.ZSet, id []byte)) (leaves int, err error) {
	mark := len(v.c.emq.buf)
	defer func() { v.c.emq.buf = v.c.emq.buf[:mark] }()
	var base []byte
	var pending store.ZSet
	for i := range nodes {
		n := &nodes[i]
		if n.children > 0 {
			continue
		}
		if base == nil || string(base) != string(n.base) {
			base = n.base
			w := v.in(base)
			if pending, err = v.c.Tx.ZSet(w.key(fence.Pending)); err != nil {
				return leaves, err
			}
		}
		if leaves++; f != nil {
			f(&pending, n.id)
		}
	}
	return leaves, nil
}
