// Package fence holds the wire contract of the EchoMQ protocol as pure functions:
// the wire identity and its texts, the grammar of a queue's keys, branded ids,
// capability tokens and the refusal texts.
//
// Nothing here reads a clock, a keyspace or a socket. Functions that take []byte
// only read it; what they return aliases their input unless they append to a
// buffer of the caller's. Validators, parsers and Append functions allocate
// nothing (an Append function only when the buffer is too short).
package fence
