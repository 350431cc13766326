package commands

// ownFlagWords are the flags that COMMAND does not show.
var ownFlagWords = []named[Flags]{
	{RunsQueue, "runs_queue"}, {TxControl, "tx_control"}, {SubscriberMode, "subscriber_mode"}, {OwnGuard, "own_guard"},
	{Admission, "admission"}, {KeyEvents, "key_events"}, {Exclusive, "exclusive"},
	{PauseWrite, "pause_write"}, {PauseExempt, "pause_exempt"}, {KeepsCaching, "keeps_caching"},
}

// ownKeyFlagWords are the flags of a key-spec that COMMAND does not show.
var ownKeyFlagWords = []named[KeyFlags]{{KeyChannel, "channel"}, {KeyPattern, "pattern"}}

// OwnWords returns the names of this server's own flags, which COMMAND does not show.
func (f Flags) OwnWords() (words []string) {
	for _, n := range ownFlagWords {
		if f&n.flag != 0 {
			words = append(words, n.word)
		}
	}
	return words
}

// AllWords returns the names that Words returns and those of this server's own flags.
func (f KeyFlags) AllWords() []string {
	words := f.Words()
	for _, n := range ownKeyFlagWords {
		if f&n.flag != 0 {
			words = append(words, n.word)
		}
	}
	return words
}
