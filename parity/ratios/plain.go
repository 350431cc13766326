package main

import (
	"encoding/csv"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// plainCases are the plain commands that are measured, as redis-benchmark takes them.
var plainCases = [][]string{
	{"PING"}, {"GET", "key:__rand_int__"}, {"SET", "key:__rand_int__", "xxxxxxxxxxxxxxxx"}, {"HSET", "h:__rand_int__", "f", "v"},
	{"ZADD", "z", "__rand_int__", "m:__rand_int__"}, {"ZPOPMIN", "z"},
}

// plainTable measures the plain commands with 50 connections at pipeline depths 1, 16 and 64.
func plainTable(a, b *node, rounds int) error {
	heading("Plain commands, 50 connections, no log")
	for _, words := range plainCases {
		for _, depth := range []int{1, 16, 64} {
			requests := map[int]int{1: 100_000, 16: 1_000_000, 64: 2_000_000}[depth]
			name := fmt.Sprintf("%s P=%d", words[0], depth)
			if err := pair(name, a, b, rounds, func(n *node) (result, error) { return n.benchmark(words, depth, requests) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// benchmark runs redis-benchmark once. The CPU figure is left as one over the operations, for pair to multiply.
func (n *node) benchmark(words []string, depth, requests int) (result, error) {
	args := append([]string{
		"-p", strconv.Itoa(n.port), "-c", "50", "-P", strconv.Itoa(depth), "-n", strconv.Itoa(requests), "-r", "100000", "--csv",
	}, words...)
	out, err := exec.Command("redis-benchmark", args...).Output()
	if err != nil {
		return result{}, err
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil {
		return result{}, err
	}
	last := rows[len(rows)-1]
	rate, err := strconv.ParseFloat(last[1], 64)
	if err != nil {
		return result{}, err
	}
	p99, err := strconv.ParseFloat(last[6], 64)
	return result{rate: rate, p99: p99, cpu: 1 / float64(requests)}, err
}
