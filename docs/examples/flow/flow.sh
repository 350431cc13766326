#!/bin/sh
# A report that waits for two parts of another queue, with redis-cli alone: flow.sh port
set -eu
cli() { redis-cli -p "$port" "$@"; }
port=$1
reports='emq:{reports}:'
parts='emq:{parts}:'

cli EMQ.INSTALL >/dev/null
cli EMQ.FLOW.ADD 3 "${reports}job:JOBr" "${parts}job:JOBa" "${parts}job:JOBb" \
    JOBr 'the report' '' '' \
    JOBa sales JOBr fp \
    JOBb weather JOBr id >/dev/null
cli --raw EMQ.EXPLAIN 1 "$reports" JOBr | sed -n 2p

# A worker of the parts. The row tells the parent, whose key the verb wants to have declared.
while job=$(cli --raw EMQ.CLAIM 3 "${parts}pending" "${parts}active" "$parts" 30000) && [ -n "$job" ]; do
    id=$(echo "$job" | sed -n 1p)
    payload=$(echo "$job" | sed -n 2p)
    token=$(echo "$job" | sed -n 3p)
    queue=$(cli --raw HGET "${parts}job:$id" parent_queue)
    parent="emq:{$queue}:job:$(cli --raw HGET "${parts}job:$id" parent)"
    if [ "$payload" = weather ]; then
        cli EMQ.FLOW.FAIL 6 "${parts}active" "${parts}schedule" "${parts}dead" "${parts}job:$id" "$parts" "$parent" \
            "$id" "$token" 1000 1 'no forecast' >/dev/null
    else
        cli EMQ.FLOW.COMPLETE 4 "${parts}active" "${parts}job:$id" "$parts" "$parent" "$id" "$token" "$payload: 42" >/dev/null
    fi
done

# A worker of the reports.
job=$(cli --raw EMQ.CLAIM 3 "${reports}pending" "${reports}active" "$reports" 30000)
id=$(echo "$job" | sed -n 1p)
echo "$(echo "$job" | sed -n 2p):" $(cli --raw HVALS "${reports}job:$id:processed") / $(cli --raw HVALS "${reports}job:$id:unsuccessful")
cli EMQ.COMPLETE 3 "${reports}active" "${reports}job:$id" "$reports" "$id" 1 >/dev/null
