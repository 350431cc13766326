#!/bin/sh
# lanes.sh works the lanes of one queue with redis-cli:
#
#     lanes.sh port queue command [argument ...]
#
# The command gets the tenant, the id and the payload of each job as further arguments; when it fails, the job is tried again
# after RETRY ms, three times in all. The script ends when no job came for WAIT seconds; by default it waits for ever.
set -eu

port=$1 base="emq:{$2}:"
shift 2

emq() { redis-cli -e -p "$port" "$@"; }
line() { printf '%s\n' "$job" | sed -n "$1p"; }

while :; do
	# Whose pause is over, and what a worker that died has left, comes back to its lane.
	emq EMQ.GROUP.PROMOTE 3 "${base}schedule" "${base}pending" "$base" 100 >/dev/null
	emq EMQ.GROUP.STALLED.CHECK 4 "${base}active" "${base}pending" "${base}dead" "$base" 3 100 >/dev/null

	job=$(emq EMQ.GROUP.BCLAIM 3 "${base}ring" "${base}active" "$base" 30000 "${WAIT:-0}")
	[ -n "$job" ] || exit 0
	id=$(line 1) payload=$(line 2) token=$(line 3) tenant=$(line 4)

	if "$@" "$tenant" "$id" "$payload"; then
		emq EMQ.GROUP.COMPLETE 3 "${base}active" "${base}job:$id" "$base" "$id" "$token" >/dev/null
	else
		emq EMQ.GROUP.FAIL 5 "${base}active" "${base}schedule" "${base}dead" "${base}job:$id" "$base" \
			"$id" "$token" "${RETRY:-60000}" 3 "exit status $?" >/dev/null
	fi
done
