// Package commands holds the registration table and the handlers of every command that needs only the
// keyspace: Valkey's families and EchoMQ's. A handler parses, opens, decides, writes and replies, in
// this order; it knows no socket, lock, clock or log.
package commands

// All returns the families of rows that this package has. The server adds its own and builds one Table.
func All() [][]Row {
	return [][]Row{
		bitfieldRows,
		bitmapRows,
		commandRows,
		databaseRows,
		emqAdmissionRows,
		emqBusRows,
		emqClaimRows,
		emqCompletionRows,
		emqFailureRows,
		emqFenceRows,
		emqSchedulingRows,
		expireRows,
		hashExpiryRows,
		hashFieldRows,
		hashReadRows,
		hashRows,
		keyRows,
		listChangeRows,
		listMoveRows,
		listPopRows,
		listReadRows,
		listRows,
		moveRows,
		objectRows,
		scanRows,
		setAlgebraRows,
		setRandomRows,
		setRows,
		streamRangeRows,
		streamRows,
		stringChangeRows,
		stringReadRows,
		stringRows,
		traBitmapRows,
		traRows,
		zsetCombineRows,
		zsetPopRows,
		zsetRangeRows,
		zsetReadRows,
		zsetRows,
	}
}
