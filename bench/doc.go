// Package bench measures servers that speak RESP: emqd by its own verbs, any other one by short scripts that do the same
// work. One thread drives all connections, so that the client, which mostly shares the processors with the server, costs
// little: requests are copied from prepared bytes and replies are judged where they were read.
//
// A run has one load (Load) on one server (Server). Latencies are kept in HDR histograms in nanoseconds. In a closed loop
// each connection sends its next batch when the last one is answered; in an open loop operations begin at a fixed rate and
// their latency counts from the instant at which they were meant to begin, so that a stall shows in full.
package bench
