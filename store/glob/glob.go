// Package glob matches byte strings against Valkey's glob patterns, as used by
// KEYS, SCAN MATCH, PSUBSCRIBE and CONFIG GET.
//
// A star matches any run of bytes, the empty one included; a question mark
// matches one byte; a class in brackets matches one byte out of its members and
// ranges, or one byte not among them after "^"; a backslash takes the meaning
// from the byte after it. Everything else, braces included, stands for itself.
// Patterns and subjects are bytes: there is no notion of characters.
package glob

import "bytes"

// maxStars is how many runs of stars with something behind them a pattern may
// use; reaching one more fails the match, as in Valkey.
const maxStars = 1000

// Match reports whether s as a whole matches pattern. With nocase ASCII letters
// match in either case.
//
// An empty s is matched by the empty pattern alone, not by "*": commands that
// mean every key by "*" have to ask All first. The work is at most proportional
// to len(pattern) * len(s), whatever the pattern.
func Match(pattern, s []byte, nocase bool) bool {
	ok, _ := match(pattern, s, nocase)
	return ok
}

// match is Match, and counts the pattern bytes it looked at.
//
// Once the text up to a star has matched at the earliest place, a later place
// cannot help: what follows the star could have begun there anyway. So only the
// last star is ever resumed, and no state but its place is needed.
func match(pattern, s []byte, nocase bool) (ok bool, steps int) {
	if len(s) == 0 {
		return len(pattern) == 0, 0
	}
	p, i := 0, 0
	star, resume, stars := -1, 0, 0
	for {
		if i == len(s) {
			for p < len(pattern) && pattern[p] == '*' {
				p++
			}
			// When pattern is left over, a longer run for the star only leaves
			// less subject for it.
			return p == len(pattern), steps
		}
		if p < len(pattern) && pattern[p] == '*' {
			for p < len(pattern) && pattern[p] == '*' {
				p++
				steps++
			}
			if p == len(pattern) {
				return true, steps
			}
			stars++
			if stars > maxStars {
				return false, steps
			}
			star, resume = p, i
			continue
		}
		if p < len(pattern) {
			size, hit := element(pattern[p:], s[i], nocase)
			steps += size
			if hit {
				p += size
				i++
				continue
			}
		}
		if star < 0 {
			return false, steps
		}
		resume++
		p, i = star, resume
	}
}

// element matches c against the pattern element that pattern, which is neither
// empty nor at a star, begins with. size is the length of the element.
func element(pattern []byte, c byte, nocase bool) (size int, hit bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return class(pattern, c, nocase)
	case '\\':
		// A backslash that ends the pattern stands for itself.
		if len(pattern) >= 2 {
			return 2, same(pattern[1], c, nocase)
		}
	}
	return 1, same(pattern[0], c, nocase)
}

// class matches c against the class that pattern begins with. A class without
// its closing bracket extends to the end of the pattern. An escaped member is
// compared exactly, with nocase too.
func class(pattern []byte, c byte, nocase bool) (size int, hit bool) {
	p := 1
	negate := p < len(pattern) && pattern[p] == '^'
	if negate {
		p++
	}
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		switch left := len(pattern) - p; {
		case pattern[p] == '\\' && left >= 2:
			p++
			hit = hit || pattern[p] == c
		case left >= 3 && pattern[p+1] == '-':
			hit = hit || within(pattern[p], pattern[p+2], c, nocase)
			p += 2
		default:
			hit = hit || same(pattern[p], c, nocase)
		}
	}
	// The closing bracket belongs to the class when there is one.
	return min(p+1, len(pattern)), hit != negate
}

// within reports whether c is between the ends of a range, which may be given
// in either order. Bytes compare as signed, so those from 0x80 come before the
// ASCII ones: that is how Valkey orders them on x86. Case is folded after the
// ends were put in order.
func within(from, to, c byte, nocase bool) bool {
	if int8(from) > int8(to) {
		from, to = to, from
	}
	if nocase {
		from, to, c = lower(from), lower(to), lower(c)
	}
	return int8(from) <= int8(c) && int8(c) <= int8(to)
}

func same(a, b byte, nocase bool) bool {
	return a == b || nocase && lower(a) == lower(b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}

// All reports whether pattern is the single star that KEYS and SCAN take for
// every key, the empty one included, without matching.
func All(pattern []byte) bool {
	return len(pattern) == 1 && pattern[0] == '*'
}

// Prefix returns the bytes every match of pattern begins with when case counts.
// It stops before the first byte with a meaning, a backslash included, and
// aliases pattern.
func Prefix(pattern []byte) []byte {
	if i := bytes.IndexAny(pattern, special); i >= 0 {
		return pattern[:i]
	}
	return pattern
}

// special lists the bytes that begin something other than themselves.
const special = `*?[\`

// IsLiteral reports whether pattern matches itself and nothing else when case
// counts, so that looking it up can replace matching.
func IsLiteral(pattern []byte) bool {
	return !bytes.ContainsAny(pattern, special)
}
