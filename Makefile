# What a newcomer needs: make run, make test. The rest is for whoever changes emqd.

BIN     := bin/emqd
PROFILE := cmd/emqd/hot.pgo
PKG     := github.com/echomq/emqd
COMMIT  := $(shell git rev-parse --short=12 HEAD 2>/dev/null)
DATE    := $(shell git show -s --format=%cs HEAD 2>/dev/null)
LDFLAGS := -s -w -X $(PKG)/server.commit=$(COMMIT) -X $(PKG)/server.date=$(DATE)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

CALLS ?= 2000000
EMQ_CALLS ?= 200000
SEED  ?= 0
JOBS  ?= 100000
KILLS ?= 200

.PHONY: run build profile test race check format vet lint vulnerabilities workers crash flows pump valkey fuzz-differential fuzz-emq bench steps bench-guard generate clean redis-server valgrind

# run starts emqd on loopback, port 6390, with the fence installed and its data in ./data. More settings:
# make run ARGS="--port 7000 --loglevel debug"
run: build
	./$(BIN) --install --dir ./data $(ARGS)

# The compiler inlines what the profile says is called most: GET and PING take a seventh less processor time so.
build:
	CGO_ENABLED=0 go build -buildvcs=false -trimpath -pgo=$(PROFILE) -ldflags "$(LDFLAGS)" -o $(BIN) ./cmd/emqd

# profile renews that profile.
profile:
	go test -trimpath -o bin/hot.test ./server -run '^$$' -bench '^BenchmarkHot$$' -benchtime 200000x -cpuprofile $(PROFILE)

# The generated cases of property tests are the same in every run; RAPID_SEED=0 makes new ones.
export RAPID_SEED ?= 1

# test runs everything. Debian's redis-server is what replies are compared with.
test: redis-server
	go test -timeout 20m ./...

race: redis-server
	go test -race -short -timeout 20m ./...

check: format vet lint race vulnerabilities

format:
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt these:"; echo "$$files"; exit 1; }

vet:
	go vet ./...
	GOOS=darwin go vet ./...

lint:
	go run $(STATICCHECK) ./...

# Without the vulnerability database (vuln.go.dev) nothing can be checked, and that is said instead of failing.
vulnerabilities:
	@out=$$(go run $(GOVULNCHECK) ./... 2>&1); rc=$$?; echo "$$out"; \
	case "$$rc $$out" in \
	0*) ;; \
	*"fetching vulnerabilities"*) echo "NOT CHECKED: the vulnerability database is out of reach" ;; \
	*) exit $$rc ;; \
	esac

# fuzz-differential sends random commands to emqd and to redis-server and compares every reply. The seed is
# printed; SEED repeats a run.
fuzz-differential: redis-server
	go test ./parity -run '^TestRandom$$' -v -count 1 -timeout 3h -calls $(CALLS) -seed $(SEED)

# workers has crashing workers work many jobs: none may be lost, none completed twice.
workers:
	go test ./docs/examples/worker -run '^TestWorkersLoseNoJob$$' -v -count 1 -timeout 3h -jobs $(JOBS)

# crash plays crashes at every operation on the log's files, and kills a node 200 times under clients that keep account.
crash:
	go test ./server -run '^Test(Crash|Fault|Flip)Every' -v -count 1 -timeout 1h -fault-step 1 -crash-turns 60 -crash-seed $(SEED)
	go test ./parity/crash -run '^TestKill$$' -v -count 1 -timeout 1h -rounds $(KILLS) -seed $(SEED)

# flows kills a node after every step of many trees of jobs, which must all end.
TREES ?= 200
flows:
	go test ./parity/crash -run '^TestFlowsEndAcrossKills$$' -v -count 1 -timeout 3h -trees $(TREES) -trees-seed $(SEED)

# pump has the pump recover a million lapsed leases and counts the work of every turn.
pump:
	go test ./server -run '^TestPumpWorkOfATurnIsBounded$$' -v -count 1 -timeout 1h -pump-leases 1000000

# fuzz-emq sends random sequences of job verbs to emqd and to the reference scripts on redis-server, and compares every
# reply and the whole keyspace.
fuzz-emq: redis-server
	go test ./parity -run '^TestEMQ' -v -count 1 -timeout 3h -emq-calls $(EMQ_CALLS) -seed $(SEED)

# valkey moves data to and from Valkey 8: logs, snapshots, exports, backups, dumps. The server is unpacked below bin/ from Debian's
# backports (amd64), where one program has several names. RECORD=yes lets it write the directories anew that TestStartsOnValkey8 starts on.
VALKEY := bin/valkey
valkey: $(VALKEY)/usr/bin/valkey-server
	PATH="$(CURDIR)/$(VALKEY)/usr/bin:$$PATH" go test ./parity -run 'StartsOn|RealServer|Dump' -count 1 $(if $(RECORD),-record-valkey)
	PATH="$(CURDIR)/$(VALKEY)/usr/bin:$$PATH" go test ./store/rdb -run Server -count 1

VALKEY_APT = apt-get -q -o Dir::Etc::sourcelist=$(CURDIR)/$(VALKEY)/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$(CURDIR)/$(VALKEY)/lists
$(VALKEY)/usr/bin/valkey-server:
	mkdir -p $(VALKEY)/lists/partial
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main" > $(VALKEY)/sources.list
	$(VALKEY_APT) update
	cd $(VALKEY) && $(VALKEY_APT) download valkey-tools && dpkg -x valkey-tools_*.deb .
	ln -sf valkey-check-rdb $@

# bench measures emqd next to redis-server and writes docs/performance.md: SECTIONS=plain,jobs runs some of it, ROUNDS=3
# sets the runs of each case, TAILS=2m the length of the longest one, SHORT=yes makes all of it shorter.
bench: build redis-server
	go run ./parity/bench -emqd $(BIN) -sections "$(SECTIONS)" $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(TAILS),-tails $(TAILS)) $(if $(SHORT),-short)

# steps measures how long another client waits while a queue of a million jobs is obliterated, drained, promoted or recovered.
steps:
	$(MAKE) bench SECTIONS=steps

# bench-guard counts the instructions of the hot paths, from request bytes to reply bytes, and fails when one takes 5% more
# than server/testdata/instructions.txt says. UPDATE=1 writes that file.
bench-guard: valgrind
	go test -o bin/guard.test ./server -run '^TestGuard$$' -count 1 -v -guard $(if $(UPDATE),-guard-update)

generate:
	go generate ./...

redis-server:
	@command -v redis-server >/dev/null || { \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends redis-server; \
	else \
		echo "redis-server is not installed (apt-get install redis-server): comparisons with it are left out"; \
	fi; }

valgrind:
	@command -v valgrind >/dev/null || { \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends valgrind; \
	else \
		echo "valgrind is not installed (apt-get install valgrind): instructions are not counted"; \
	fi; }

clean:
	rm -rf bin
