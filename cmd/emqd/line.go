package main

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/echomq/emqd/server"
)

const about = `A standalone job-queue server: the EchoMQ protocol over a keyspace compatible with Valkey.

FILE holds settings in Valkey's form, one "name value" a line. Every setting below can stand in it, in the environment as EMQD_ and its name (EMQD_TCP_KEEPALIVE for tcp-keepalive), and on the command line as --name value; the command line wins over the environment, and that over the file.`

// commands is what emqd can do. The flags of the settings join it in parseLine.
type commands struct {
	Serve       fileArg     `cmd:"" default:"withargs" help:"Serve until SIGTERM or SIGINT. This is what emqd does without a command."`
	Healthcheck fileArg     `cmd:"" help:"Ask the node with the same settings for a PING; the exit code is 0 when it answers."`
	Check       checkArgs   `cmd:"" help:"Read the log in a directory, without a node on it, and report what is damaged; the exit code is 0 when nothing is."`
	Repair      repairArgs  `cmd:"" help:"Write what can be read of a damaged log to a new directory."`
	Backup      backupArgs  `cmd:"" help:"Copy the data of the node with the same settings, which may be serving, to a new directory."`
	Restore     restoreArgs `cmd:"" help:"Make a backup or an RDB file the data of a node that has none and does not run."`
	Export      exportArgs  `cmd:"" help:"Write the data of the node with the same settings, which may be serving, as an RDB file."`
	Bench       struct{}    `cmd:"" help:"Measure a node, or another server next to it: emqd bench --help."`
	Version     struct{}    `cmd:"" help:"Print the version."`
	Build       struct{}    `cmd:"" hidden:"" help:"Make an RDB file from a log, as a child of a node."`
}

type fileArg struct {
	File string `arg:"" optional:"" name:"file" help:"Configuration file."`
}

type checkArgs struct {
	Dir string `arg:"" name:"dir" help:"Directory of the log, or the one that it is in."`
}

type repairArgs struct {
	Dir string `arg:"" name:"dir" help:"Directory of the log, or the one that it is in."`
	Out string `arg:"" name:"out" help:"Directory to write, which is empty or does not exist."`
}

type backupArgs struct {
	Dest string `arg:"" name:"dest" help:"Directory to write, which has no data."`
	File string `arg:"" optional:"" name:"file" help:"Configuration file."`
}

type restoreArgs struct {
	Source string `arg:"" name:"source" help:"A directory that backup has written, another node's data directory, or an RDB file."`
	File   string `arg:"" optional:"" name:"file" help:"Configuration file."`
}

type exportArgs struct {
	RDB  string `name:"rdb" required:"" placeholder:"RDBFILE" help:"File to write."`
	File string `arg:"" optional:"" name:"file" help:"Configuration file."`
}

// line is a command line that was understood.
type line struct {
	command string   // serve, healthcheck, check, repair, backup, restore, export, version, help
	dirs    []string // of check and repair
	other   string   // what backup and export write, and restore reads
	file    string
	flags   []server.Pair
}

// config returns the configuration of the line, the environment and the file.
func (l *line) config(environ []string) (*server.Config, error) {
	return server.LoadConfig(l.file, environ, l.flags)
}

// errHelp ends the parsing after help was printed.
var errHelp = errors.New("help")

// parseLine reads the arguments. Help goes to stdout.
func parseLine(args []string, stdout io.Writer) (*line, error) {
	var cmds commands
	flags := flagStruct()
	parser, err := kong.New(&cmds,
		kong.Name("emqd"), kong.Description(about), kong.Writers(stdout, io.Discard),
		kong.Embed(flags.Interface()), kong.ExplicitGroups(groups()),
		kong.ConfigureHelp(kong.HelpOptions{FlagsLast: true, NoExpandSubcommands: true, WrapUpperBound: 118}),
		kong.Help(printHelp),
		kong.Exit(func(int) { panic(errHelp) }),
	)
	if err != nil {
		return nil, err
	}
	words, err := joinWords(args)
	if err != nil {
		return nil, err
	}
	ctx, err := parse(parser, words)
	if errors.Is(err, errHelp) {
		return &line{command: "help"}, nil
	}
	if err != nil {
		return nil, err
	}
	l := &line{file: cmds.Serve.File}
	l.command, _, _ = strings.Cut(ctx.Command(), " ")
	switch l.command {
	case "healthcheck":
		l.file = cmds.Healthcheck.File
	case "check":
		l.dirs = []string{cmds.Check.Dir}
	case "repair":
		l.dirs = []string{cmds.Repair.Dir, cmds.Repair.Out}
	case "backup":
		l.other, l.file = cmds.Backup.Dest, cmds.Backup.File
	case "restore":
		l.other, l.file = cmds.Restore.Source, cmds.Restore.File
	case "export":
		l.other, l.file = cmds.Export.RDB, cmds.Export.File
	}
	i := 0
	for s := range flagSettings() {
		if given := flags.Elem().Field(i).Interface().(*string); given != nil {
			l.flags = append(l.flags, server.Pair{Name: s.Name, Value: *given})
		}
		i++
	}
	return l, nil
}

// parse turns the panic by which kong's help leaves into errHelp.
func parse(parser *kong.Kong, args []string) (ctx *kong.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p != errHelp {
				panic(p)
			}
			err = errHelp
		}
	}()
	return parser.Parse(args)
}

// flagSettings yields the settings that have a flag.
func flagSettings() func(yield func(server.Setting) bool) {
	return func(yield func(server.Setting) bool) {
		for s := range server.Settings() {
			if !s.File && !yield(s) {
				return
			}
		}
	}
}

// flagStruct returns a pointer to a struct for kong with a *string for every setting, nil when its
// flag is not given. The values are read by the server package, as those of the file are.
func flagStruct() reflect.Value {
	var fields []reflect.StructField
	for s := range flagSettings() {
		tag := &strings.Builder{}
		put := func(key, value string) { fmt.Fprintf(tag, "%s:%s ", key, strconv.Quote(value)) }
		put("name", s.Name)
		put("group", s.Group)
		put("placeholder", placeholder(s))
		put("help", strings.ReplaceAll(flagHelp(s), "$", "$$"))
		put("aliases", strings.Join(s.Aliases, ","))
		if s.Hidden {
			put("hidden", "")
		}
		fields = append(fields, reflect.StructField{
			Name: "F" + strconv.Itoa(len(fields)), Type: reflect.TypeFor[*string](), Tag: reflect.StructTag(tag.String()),
		})
	}
	return reflect.New(reflect.StructOf(fields))
}

// placeholder is what help shows for the value: the values themselves, or the kind in capitals.
func placeholder(s server.Setting) string {
	if s.Enum {
		return s.Kind
	}
	return strings.ToUpper(s.Kind)
}

// printHelp is kong's help with the usage as emqd's: serving needs no command.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() == nil {
		if _, err := fmt.Fprintln(ctx.Stdout, "Usage: emqd [FILE] [--setting value ...]"); err != nil {
			return err
		}
		options.NoAppSummary = true
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

func flagHelp(s server.Setting) string {
	help := strings.ToUpper(s.Help[:1]) + s.Help[1:]
	if s.Default == "" {
		return help + "."
	}
	return help + " [" + s.Default + "]."
}

func groups() []kong.Group {
	var all []kong.Group
	for _, g := range server.Groups() {
		all = append(all, kong.Group{Key: g[0], Title: g[1] + ":"})
	}
	return all
}

// joinWords gives kong one argument per flag, --name=value, so that a command line of Valkey's works: a
// flag that takes several words has those up to the next flag (--save 900 1 300 10), one that takes one
// may have a value with a hyphen (--timeout -1), and one that is yes or no may stand alone for yes.
func joinWords(args []string) ([]string, error) {
	kinds := map[string]server.Setting{}
	for s := range flagSettings() {
		for _, n := range append([]string{s.Name}, s.Aliases...) {
			kinds[n] = s
		}
	}
	var out []string
	for len(args) > 0 {
		if args[0] == "--" {
			return append(out, args...), nil
		}
		name, _ := strings.CutPrefix(args[0], "--")
		s, known := kinds[name]
		if !known || name == args[0] {
			out, args = append(out, args[0]), args[1:]
			continue
		}
		n := valueWords(s, args[1:])
		value := strings.Join(args[1:1+n], " ")
		if n == 0 {
			if !s.Bool {
				return nil, fmt.Errorf("--%s: a value is missing", name)
			}
			value = "yes"
		}
		out, args = append(out, "--"+name+"="+value), args[1+n:]
	}
	return out, nil
}

// valueWords returns how many of the arguments after the flag of s are its value.
func valueWords(s server.Setting, rest []string) int {
	n := 0
	for n < len(rest) && !strings.HasPrefix(rest[n], "--") && (n == 0 || s.List) {
		n++
	}
	if s.Bool && n == 1 && !strings.EqualFold(rest[0], "yes") && !strings.EqualFold(rest[0], "no") {
		return 0
	}
	return n
}
