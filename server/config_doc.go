package server

import (
	"fmt"
	"strings"
)

//go:generate go test -run TestConfigReference -update-config .

// ConfigReference returns docs/configuration.md: every setting, from the tags of Config.
func ConfigReference() string {
	b := &strings.Builder{}
	b.WriteString(configIntro)
	for _, g := range Groups() {
		fmt.Fprintf(b, "\n## %s\n\n| setting | value | default | live | what it does |\n|---|---|---|---|---|\n", g[1])
		for s := range Settings() {
			if s.Group == g[0] {
				fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", codes(append([]string{s.Name}, s.Aliases...), ", "),
					codes([]string{strings.ReplaceAll(s.Kind, "|", "\\|")}, ""), codes([]string{s.Default}, ""), s.when(), strings.ReplaceAll(s.Help, "*", "\\*"))
			}
		}
	}
	return b.String()
}

// when says where a setting can change.
func (s Setting) when() string {
	switch {
	case s.File:
		return "file only"
	case s.Live:
		return "yes"
	}
	return "no"
}

// codes sets the words that are not empty as code.
func codes(words []string, sep string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, "`"+w+"`")
		}
	}
	return strings.Join(out, sep)
}

const configIntro = `# Configuration

Made from the struct ` + "`Config`" + ` by ` + "`go generate ./server`" + `; do not edit.

A setting has one name everywhere, Valkey's where Valkey has it:

| where | form | wins over |
|---|---|---|
| command line | ` + "`--tcp-keepalive 300`, `--tcp-keepalive=300`" + ` | environment, file |
| environment | ` + "`EMQD_TCP_KEEPALIVE=300`" + ` | file |
| file | ` + "`tcp-keepalive 300`" + ` | default |

- ` + "`emqd FILE`" + ` reads the file. Lines that begin with ` + "`#`" + ` are comments. ` + "`include PATH`" + ` reads another file in
  place, found beside the including one unless the path is absolute; ` + "`*`, `?` and `[...]`" + ` match several.
- Words with spaces stand in ` + "`\"double\"`" + ` quotes (with ` + "`\\n \\r \\t \\b \\a \\xHH`" + ` and ` + "`\\`" + ` before any other byte) or in ` + "`'single'`" + `
  ones. A list is several words: ` + "`bind 127.0.0.1 -::1`, `--bind 127.0.0.1 -::1`, `EMQD_BIND=\"127.0.0.1 -::1\"`" + `.
- A size is a number of bytes or has a unit: ` + "`k m g`" + ` count thousands, ` + "`kb mb gb`" + ` 1024s.
- A yes-or-no flag without a value is yes: ` + "`--install`" + `.
- An unknown setting or a bad value refuses to start; the message names the file and line, the variable or the flag.
- *live* settings can be changed by ` + "`CONFIG SET`" + `; ` + "`CONFIG REWRITE`" + ` writes the present values into the file and keeps its comments.

## Who may connect

Beyond loopback emqd does not start without ` + "`requirepass`, `aclfile` or `user`" + ` lines, unless ` + "`protected-mode no`" + ` says that
the network itself keeps strangers out. ` + "`bind auto`" + ` listens on all interfaces when one of them is given and on loopback
otherwise; the container image starts so.
`
