// Command emqd serves the EchoMQ job-queue protocol over RESP.
package main

func main() {}
