package server

import (
	"fmt"
	"iter"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/echomq/emqd/store/num"
)

// Setting is what is known of a setting, from the tags of its field in Config.
type Setting struct {
	Name    string
	Aliases []string
	Default string // in the notation of the file
	Group   string
	Help    string
	Kind    string // "int", "memory", "octal", "yes|no", "text", "list", or the values with |
	Live    bool   // CONFIG SET may change it
	Hidden  bool   // left out of --help
	Bool    bool   // takes yes or no
	Enum    bool   // takes one of the values in Kind
	List    bool   // takes several words
	File    bool   // only in the file
}

// Settings yields every setting once, in the order of Config.
func Settings() iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for _, s := range settings() {
			if !s.alias && !yield(s.Setting) {
				return
			}
		}
	}
}

// Groups returns the groups of settings with their headings, in the order of the reference.
func Groups() [][2]string {
	return [][2]string{
		{"network", "Network"}, {"tls", "TLS"}, {"access", "Access"}, {"limits", "Limits"}, {"log", "Log"},
		{"watch", "Watching"}, {"data", "Data"}, {"background", "Background work"},
		{"encodings", "Encodings of small values"}, {"accepted", "Accepted without effect"},
	}
}

// setting is an entry of the table; an alias has one of its own.
type setting struct {
	Setting
	key      string // the name of the field's setting, also for an alias
	alias    bool
	field    int
	kind     string
	live     string
	limit    string // field of store.Limits
	min, max int64
	low, top int64 // where values are held, when top is not 0
	enum     []string
	secret   bool // SLOWLOG does not show it
}

// words is a field that reads and writes itself, as several words of the file's line.
type words interface {
	parse(args []string) error
	words() []string
}

// adder is a field for which a further line of the file adds to the earlier ones.
type adder interface {
	add(args []string) error
}

// describe reads the tags of Config.
func describe() []*setting {
	var all []*setting
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := f.Tag.Lookup("name")
		if !ok {
			continue
		}
		s := &setting{field: i, key: name, kind: f.Tag.Get("kind"), live: f.Tag.Get("live"), limit: f.Tag.Get("store"), secret: f.Tag.Get("secret") != "", min: math.MinInt64, max: math.MaxInt64}
		s.Setting = Setting{
			Name: name, Default: f.Tag.Get("default"), Group: f.Tag.Get("group"), Help: f.Tag.Get("help"),
			Live: s.live == "yes" || s.live == "apply", Hidden: f.Tag.Get("hidden") != "", File: f.Tag.Get("source") == "file",
		}
		if r := f.Tag.Get("range"); r != "" {
			s.min, s.max = bounds(r)
		}
		if r := f.Tag.Get("clamp"); r != "" {
			s.low, s.top = bounds(r)
		}
		if e := f.Tag.Get("enum"); e != "" {
			s.enum = strings.Split(e, ",")
		}
		s.shape(f.Type)
		if a := f.Tag.Get("alias"); a != "" {
			s.Aliases = strings.Split(a, ",")
		}
		all = append(all, s)
		for _, a := range s.Aliases {
			other := *s
			other.Name, other.alias = a, true
			all = append(all, &other)
		}
	}
	return all
}

// bounds reads a tag such as "0,65535".
func bounds(tag string) (low, high int64) {
	if _, err := fmt.Sscanf(tag, "%d,%d", &low, &high); err != nil {
		panic("server: bounds " + tag + ": " + err.Error())
	}
	return low, high
}

// shape sets what follows from the field's type.
func (s *setting) shape(t reflect.Type) {
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[words]()):
		s.List, s.kind, s.Kind = true, "words", "list"
	case t.Kind() == reflect.Slice:
		s.List, s.kind, s.Kind = true, "list", "list"
	case t.Kind() == reflect.Bool:
		s.Bool, s.Enum, s.kind, s.Kind = true, true, "bool", "yes|no"
	case s.enum != nil:
		s.Enum, s.kind, s.Kind = true, "enum", strings.Join(s.enum, "|")
	case t.Kind() == reflect.String:
		s.kind, s.Kind = "text", "text"
	case s.kind == "":
		s.kind, s.Kind = "int", "int"
	default:
		s.Kind = s.kind
	}
	switch t {
	case reflect.TypeFor[KeyEvents](), reflect.TypeFor[Reserve]():
		s.List, s.Kind = false, "text"
	case reflect.TypeFor[Interval]():
		s.List, s.Kind = false, "time"
	}
}

// byName finds settings without their letters' case.
var byName = sync.OnceValue(func() map[string]*setting {
	m := map[string]*setting{}
	for _, s := range settings() {
		if m[s.Name] != nil {
			panic("server: setting " + s.Name + " twice")
		}
		m[s.Name] = s
	}
	return m
})

// lookup returns the setting or alias called name in any case, nil when there is none.
func lookup(name string) *setting { return byName()[strings.ToLower(name)] }

// defaults returns the default as words.
func (s *setting) defaults() []string {
	if s.List {
		return strings.Fields(s.Default)
	}
	return []string{s.Default}
}

// split returns the words of a value that came as one string, as from CONFIG SET or a flag.
func (s *setting) split(value string) []string {
	if s.List {
		return strings.Fields(value)
	}
	return []string{value}
}

func (s *setting) value(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().Field(s.field) }

// parse sets c's field from the words. The texts of its errors are Valkey's.
func (s *setting) parse(c *Config, args []string) error {
	v := s.value(c)
	switch s.kind {
	case "words":
		return v.Addr().Interface().(words).parse(args)
	case "list":
		if len(args) == 1 && args[0] == "" {
			args = nil
		}
		v.Set(reflect.ValueOf(append([]string{}, args...)))
		return nil
	}
	if len(args) != 1 {
		return refusal("wrong number of arguments")
	}
	switch s.kind {
	case "bool":
		return s.parseBool(v, args[0])
	case "enum":
		return s.parseEnum(v, args[0])
	case "text":
		v.SetString(args[0])
		return nil
	}
	return s.parseNumber(v, args[0])
}

func (s *setting) parseBool(v reflect.Value, arg string) error {
	switch strings.ToLower(arg) {
	case "yes":
		v.SetBool(true)
	case "no":
		v.SetBool(false)
	default:
		return refusal("argument must be 'yes' or 'no'")
	}
	return nil
}

func (s *setting) parseEnum(v reflect.Value, arg string) error {
	for _, e := range s.enum {
		if strings.EqualFold(e, arg) {
			v.SetString(e)
			return nil
		}
	}
	return refusal("argument(s) must be one of the following: " + strings.Join(s.enum, ", "))
}

func (s *setting) parseNumber(v reflect.Value, arg string) error {
	var n int64
	var ok bool
	switch s.kind {
	case "memory":
		if n, ok = parseMemory(arg); !ok {
			return refusal("argument must be a memory value")
		}
	case "octal":
		u, err := strconv.ParseInt(arg, 8, 64)
		if err != nil {
			return refusal("argument couldn't be parsed as an octal number")
		}
		if u < s.min || u > s.max {
			return refusal(fmt.Sprintf("argument must be between %o and %o inclusive", s.min, s.max))
		}
		n = u
	default:
		if n, ok = num.Int([]byte(arg)); !ok {
			return refusal("argument couldn't be parsed into an integer")
		}
	}
	if n < s.min || n > s.max {
		return refusal(fmt.Sprintf("argument must be between %d and %d inclusive", s.min, s.max))
	}
	if s.top != 0 {
		n = min(max(n, s.low), s.top)
	}
	v.SetInt(n)
	return nil
}

// words returns the value as words of the file's line, not quoted.
func (s *setting) words(c *Config) []string {
	v := s.value(c)
	switch s.kind {
	case "words":
		return v.Addr().Interface().(words).words()
	case "list":
		return v.Interface().([]string)
	case "bool":
		if v.Bool() {
			return []string{"yes"}
		}
		return []string{"no"}
	case "enum", "text":
		return []string{v.String()}
	case "octal":
		return []string{strconv.FormatInt(v.Int(), 8)}
	}
	return []string{strconv.FormatInt(v.Int(), 10)}
}

// text returns the value as CONFIG GET shows it.
func (s *setting) text(c *Config) string { return strings.Join(s.words(c), " ") }

// refusal is why a value was refused, in the words of Valkey where it has some.
type refusal string

func (r refusal) Error() string { return string(r) }

// parseMemory reads a size such as 100, 64kb or 1gb: k, m and g count thousands, kb, mb and gb
// 1024s. An empty text is 0.
func parseMemory(s string) (int64, bool) {
	digits := strings.TrimRight(s, "bBkKmMgG")
	unit := int64(1)
	switch strings.ToLower(s[len(digits):]) {
	case "", "b":
	case "k":
		unit = 1000
	case "kb":
		unit = 1 << 10
	case "m":
		unit = 1000 * 1000
	case "mb":
		unit = 1 << 20
	case "g":
		unit = 1000 * 1000 * 1000
	case "gb":
		unit = 1 << 30
	default:
		return 0, false
	}
	if digits == "" {
		return 0, s == ""
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(n) * unit, true
}
