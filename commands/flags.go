package commands

// flagName is one flag and its word.
type flagName struct {
	flag Flags
	name string
}

// flagNames are Valkey's words, in the order in which COMMAND lists them. Never changed.
var flagNames = [...]flagName{
	{Write, "write"}, {ReadOnly, "readonly"}, {DenyOOM, "denyoom"}, {Admin, "admin"}, {PubSub, "pubsub"},
	{NoScript, "noscript"}, {Blocking, "blocking"}, {Loading, "loading"}, {Stale, "stale"},
	{SkipMonitor, "skip_monitor"}, {SkipSlowlog, "skip_slowlog"}, {Fast, "fast"}, {NoAuth, "no_auth"},
	{MayReplicate, "may_replicate"}, {NoMandatoryKeys, "no_mandatory_keys"}, {NoMulti, "no_multi"},
	{MovableKeys, "movablekeys"}, {AllowBusy, "allow_busy"},
}

// ownFlagNames are the words for this server's own flags. Never changed.
var ownFlagNames = [...]flagName{
	{TxControl, "tx_control"}, {SubscriberMode, "subscriber_mode"}, {OwnGuard, "own_guard"},
	{Admission, "admission"}, {KeyEvents, "key_events"}, {Exclusive, "exclusive"},
	{PauseWrite, "pause_write"}, {PauseExempt, "pause_exempt"},
}

// Names returns Valkey's words for the flags, in the order in which COMMAND lists them, without this server's own.
func (f Flags) Names() []string { return f.among(flagNames[:]) }

// OwnNames returns the words for this server's own flags.
func (f Flags) OwnNames() []string { return f.among(ownFlagNames[:]) }

func (f Flags) among(list []flagName) (names []string) {
	for _, x := range list {
		if f&x.flag != 0 {
			names = append(names, x.name)
		}
	}
	return names
}

// keyFlagNames are Valkey's words for the flags of a key-spec, by bit, and this server's for the last two. Never changed.
var keyFlagNames = [...]string{
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "incomplete", "variable_flags",
	"channel", "pattern",
}

// Names returns the words for the flags of a key-spec, in the order in which COMMAND lists them.
func (f KeyFlags) Names() (names []string) {
	for i, name := range keyFlagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
