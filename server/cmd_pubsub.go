package server

import (
	"slices"

	"github.com/echomq/emqd/commands"
	"github.com/echomq/emqd/store/glob"
)

const subscribeFlags = commands.PubSub | commands.NoScript | commands.Loading | commands.Stale | commands.SubscriberMode

// channelKeys is the key-spec of commands whose arguments are channels, from the first to the last given. Shard
// channels are shown as keys that are none, for cluster clients.
func channelKeys(last int, flags commands.KeyFlags) []commands.KeySpec {
	return []commands.KeySpec{{Index: 1, Last: last, Step: 1, Flags: flags}}
}

var pubsubRows = []commands.Row{
	{
		Name: "subscribe", Family: "pubsub", Arity: -2, Do: cmdSubscribe(byChannel, "subscribe"), Flags: subscribeFlags,
		Keys: channelKeys(-1, commands.KeyChannel), Syntax: "channel [channel ...]", Summary: "Receives what is published on channels.",
		Complexity: "O(N), N being the channels named", Since: "2.0.0",
	},
	{
		Name: "unsubscribe", Family: "pubsub", Arity: -1, Do: cmdUnsubscribe(byChannel, "unsubscribe"), Flags: subscribeFlags,
		Syntax: "[channel [channel ...]]", Summary: "Receives from channels no more.",
		Complexity: "O(N), N being the channels left", Since: "2.0.0",
	},
	{
		Name: "psubscribe", Family: "pubsub", Arity: -2, Do: cmdSubscribe(byPattern, "psubscribe"), Flags: subscribeFlags,
		Keys:   channelKeys(-1, commands.KeyChannel|commands.KeyPattern),
		Syntax: "pattern [pattern ...]", Summary: "Receives what is published on channels whose names match.",
		Complexity: "O(N), N being the patterns named", Since: "2.0.0",
	},
	{
		Name: "punsubscribe", Family: "pubsub", Arity: -1, Do: cmdUnsubscribe(byPattern, "punsubscribe"), Flags: subscribeFlags,
		Syntax: "[pattern [pattern ...]]", Summary: "Receives by patterns no more.",
		Complexity: "O(N), N being the patterns left", Since: "2.0.0",
	},
	{
		Name: "ssubscribe", Family: "pubsub", Arity: -2, Do: cmdSubscribe(byShard, "ssubscribe"), Flags: subscribeFlags,
		Keys: channelKeys(-1, commands.KeyNotKey|commands.KeyChannel), Syntax: "shardchannel [shardchannel ...]", Summary: "Receives what is published on shard channels.",
		Complexity: "O(N), N being the shard channels named", Since: "7.0.0",
	},
	{
		Name: "sunsubscribe", Family: "pubsub", Arity: -1, Do: cmdUnsubscribe(byShard, "sunsubscribe"), Flags: subscribeFlags,
		Keys: channelKeys(-1, commands.KeyNotKey), Syntax: "[shardchannel [shardchannel ...]]", Summary: "Receives from shard channels no more.",
		Complexity: "O(N), N being the shard channels left", Since: "7.0.0",
	},
	{
		Name: "publish", Family: "pubsub", Arity: 3, Do: cmdPublish,
		Flags: commands.PubSub | commands.Loading | commands.Stale | commands.Fast | commands.MayReplicate,
		Keys:  channelKeys(0, commands.KeyChannel), Syntax: "channel message", Summary: "Sends a message to whoever listens on a channel.",
		Complexity: "O(N+M), N being the receivers and M all patterns", Since: "2.0.0",
	},
	{
		Name: "spublish", Family: "pubsub", Arity: 3, Do: cmdSPublish, Keys: channelKeys(0, commands.KeyNotKey|commands.KeyChannel),
		Flags:  commands.PubSub | commands.Loading | commands.Stale | commands.Fast | commands.MayReplicate,
		Syntax: "shardchannel message", Summary: "Sends a message to whoever listens on a shard channel.",
		Complexity: "O(N), N being the receivers", Since: "7.0.0",
	},
	{
		Name: "pubsub", Family: "pubsub", Arity: -2,
		Summary: "The commands that look at who listens.", Complexity: "That of the subcommand", Since: "2.8.0",
		Subs: []commands.Row{
			pubsubSub("channels", -2, "[pattern]", "Lists the channels that someone listens on.", "2.8.0", cmdPubSubChannels(byChannel)),
			pubsubSub("numpat", 2, "", "Counts the patterns that someone listens by.", "2.8.0", cmdPubSubNumPat),
			pubsubSub("numsub", -2, "[channel [channel ...]]", "Counts the listeners of channels.", "2.8.0", cmdPubSubNumSub(byChannel)),
			pubsubSub("shardchannels", -2, "[pattern]", "Lists the shard channels that someone listens on.", "7.0.0", cmdPubSubChannels(byShard)),
			pubsubSub("shardnumsub", -2, "[shardchannel [shardchannel ...]]", "Counts the listeners of shard channels.", "7.0.0", cmdPubSubNumSub(byShard)),
			commands.HelpRow("6.2.0"),
		},
	},
}

func pubsubSub(name string, arity int, syntax, summary, since string, do func(*commands.Call) error) commands.Row {
	return commands.Row{
		Name: name, Arity: arity, Syntax: syntax, Summary: summary, Since: since, Do: do,
		Flags: commands.PubSub | commands.Loading | commands.Stale, Complexity: "O(N), N being the channels or patterns",
	}
}

// cmdSubscribe handles SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE name [name ...].
//
// Reply:   one confirmation for each name, with the number of subscriptions after it
// Effects: none
func cmdSubscribe(space int, word string) func(*commands.Call) error {
	return func(c *commands.Call) error {
		s := c.Peer.(*session)
		s.heard = true // confirmations are messages, which CLIENT REPLY OFF does not concern
		for _, name := range c.Args[1:] {
			s.srv.pubsub.subscribe(s, space, string(name))
			confirm(c.Reply, word, name, s.subscriptions(space))
		}
		return nil
	}
}

// cmdUnsubscribe handles UNSUBSCRIBE, PUNSUBSCRIBE and SUNSUBSCRIBE [name ...]: without names, from all.
//
// Reply:   one confirmation for each name; one without a name when there was nothing to leave
// Effects: none
func cmdUnsubscribe(space int, word string) func(*commands.Call) error {
	return func(c *commands.Call) error {
		s := c.Peer.(*session)
		s.heard = true
		names := c.Args[1:]
		if len(names) == 0 {
			for name := range s.subs[space] {
				names = append(names, []byte(name))
			}
			slices.SortFunc(names, slices.Compare)
		}
		for _, name := range names {
			s.srv.pubsub.unsubscribe(s, space, string(name))
			confirm(c.Reply, word, name, s.subscriptions(space))
		}
		if len(names) == 0 {
			confirm(c.Reply, word, nil, s.subscriptions(space))
		}
		return nil
	}
}

// confirm appends the confirmation of a change of subscription; a nil name is null.
func confirm(r *commands.Reply, word string, name []byte, count int) {
	r.Push(3)
	r.Text(word)
	if name == nil {
		r.Null()
	} else {
		r.Bulk(name)
	}
	r.Int(int64(count))
}

// cmdPublish handles PUBLISH channel message.
//
// Reply:   number of clients that received the message
// Effects: none
func cmdPublish(c *commands.Call) error {
	c.Reply.Int(c.Host.Publish(c.Args[1], c.Args[2]))
	return nil
}

// cmdSPublish handles SPUBLISH shardchannel message.
//
// Reply:   number of clients that received the message
// Effects: none
func cmdSPublish(c *commands.Call) error {
	c.Reply.Int(c.Peer.(*session).srv.publishShard(c.Args[1], c.Args[2]))
	return nil
}

// cmdPubSubChannels handles PUBSUB CHANNELS and SHARDCHANNELS [pattern].
//
// Reply:   array of the channels that have subscribers, sorted
// Effects: none
func cmdPubSubChannels(space int) func(*commands.Call) error {
	return func(c *commands.Call) error {
		if len(c.Args) > 3 {
			return commands.ErrSubSyntax(c.Args)
		}
		var names []string
		for name := range c.Peer.(*session).srv.pubsub.subs[space] {
			if len(c.Args) == 2 || glob.Match(c.Args[2], []byte(name), false) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		c.Reply.Array(len(names))
		for _, name := range names {
			c.Reply.Text(name)
		}
		return nil
	}
}

// cmdPubSubNumPat handles PUBSUB NUMPAT.
//
// Reply:   number of patterns that have subscribers
// Effects: none
func cmdPubSubNumPat(c *commands.Call) error {
	c.Reply.Int(int64(len(c.Peer.(*session).srv.pubsub.patterns)))
	return nil
}

// cmdPubSubNumSub handles PUBSUB NUMSUB and SHARDNUMSUB [channel ...].
//
// Reply:   flat array of channel and number of subscribers
// Effects: none
func cmdPubSubNumSub(space int) func(*commands.Call) error {
	return func(c *commands.Call) error {
		names := c.Args[2:]
		c.Reply.Array(2 * len(names))
		for _, name := range names {
			c.Reply.Bulk(name)
			c.Reply.Int(int64(len(c.Peer.(*session).srv.pubsub.subs[space][string(name)])))
		}
		return nil
	}
}
