# ctl: build, run, test. `make help` lists the targets.
SHELL := /bin/bash
GO ?= go
TOOL := $(GO) tool -modfile=.ci/tools.mod
# One line for each package, failures at once; at the end a list of failed and skipped tests.
TESTS := $(TOOL) gotestsum --format pkgname-and-test-fails --format-icons text --format-hide-empty-pkg
# Packages that only tests import: not all of them is used by a program.
KITS := ^(internal/lab|sdk/(plugintest|internal/pair|[a-z]*driver/conformance)|test|[a-z/]*/[a-z]*test)/
PROGRAMS := ./host/ctld ./host/ctl ./host/idmtool ./internal/lab/ctl-lab ./host/ctl-plugins
# Static programs run on any Linux. Without the tables of debuggers, which stack traces do not need, they are a third
# smaller.
STRIP := -ldflags '-s -w'

.DEFAULT_GOAL := build
.PHONY: help check-go build web web-check packages docs pictures run stop run-cluster stop-cluster test test-race test-peers chaos bench lint generate clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The compiler prints each package that it builds: these lines are counted, all other lines are shown.
COUNT := awk '/^[a-zA-Z0-9_.\/~-]+$$/ {n++; if (n % 25 == 0) {printf "  %d packages compiled\n", n; fflush()}; next} {print; fflush()} END {if (n) printf "  %d packages compiled\n", n}'

# Before the compiler, whose errors about a go.mod that it is too old for say nothing of the remedy.
check-go:
	@want=$$(awk '$$1 == "go" {print $$2; exit}' go.mod); have=$$($(GO) env GOVERSION 2>/dev/null | sed 's/^go//'); \
		have=$${have:-$$(cd / && GOTOOLCHAIN=local $(GO) env GOVERSION 2>/dev/null | sed 's/^go//')}; \
		if [ "$$(printf '%s\n%s\n' "$$want" "$$have" | sort -V | head -n 1)" != "$$want" ]; then \
		echo "make: Go $$want or newer is needed; $(GO) is $${have:-not installed} (Debian's package golang-go may be older): install it from https://go.dev/doc/install, or name it: make GO=/usr/local/go/bin/go" >&2; exit 1; fi

build: check-go ## build bin/ctld bin/ctl bin/idmtool bin/ctl-lab bin/ctl-plugins, its links bin/plugins/*, and bin/sdk for authors
	@mkdir -p bin
	@echo 'building the programs (with an empty cache about 800 packages: a minute or two) …'
	@set -o pipefail; CGO_ENABLED=0 $(GO) build -v -buildvcs=auto $(STRIP) -o bin/ $(PROGRAMS) 2>&1 | $(COUNT)
	@bin/ctl-plugins link bin/plugins
	@$(GO) run ./internal/sdkcopy bin/sdk
	@cd bin/plugins && sha256sum $$(ls | grep -v SHA256SUMS) >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS

web: ## build the web console from host/web, with Node, into host/internal/web/static, which is committed
	GO=$(GO) host/web/build.sh

web-check: ## check types and form of the web sources, and that the committed web console is built from them; skips loudly without Node
	@if command -v npm >/dev/null && command -v node >/dev/null; then $(MAKE) web && git diff --exit-code --stat -- host/internal/web/static && \
		test -z "$$(git status --porcelain -- host/internal/web/static)"; else echo 'SKIPPED, NOT TESTED: Node and npm are not installed, so the web console was not built again'; fi

docs: build ## the documentation site in bin/docs, which ctld serves under /docs/, and the manual pages in bin/man
	$(GO) run ./internal/docsite site bin bin/docs
	@rm -rf bin/man && $(GO) run ./internal/packages manuals bin bin/man

pictures: build ## draw the pictures of docs/ with the program; those of web pages with chromium
	$(GO) run ./internal/docsite pictures bin docs/pictures

# A version that grows with each commit: that of the last tag and the commits since (1.2.3+4.gabc), without a tag the time
# of the commit. What follows a + is newer than nothing there for dpkg and rpm; what follows a ~, which is a - in the tag
# (v1.2.3-rc1), is older.
PACKAGE_VERSION = $(shell git describe --tags --match 'v*' 2>/dev/null | sed -E 's/^v//; s/-([0-9]+)-(g[0-9a-f]+)$$/+\1.\2/; s/-/~/g' | grep . || TZ=UTC git log -1 --date=format-local:%Y%m%d%H%M%S --format=0.0.0+%cd.%h 2>/dev/null || echo 0.0.0)

# All files of a package have the time of the commit, so that each build gives the same package.
packages: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
packages: export VERSION ?= $(PACKAGE_VERSION)
packages: export ARCH ?= $(shell $(GO) env GOARCH)
packages: docs ## .deb, .rpm, an OCI image layout and their SHA256SUMS, in bin/packages
	@rm -rf bin/packages && mkdir -p bin/packages
	$(GO) run ./internal/packages stage bin bin/packages/root
	VERSION=$${VERSION:-0.0.0} && for kind in deb rpm; do VERSION=$$VERSION $(TOOL) nfpm package -f internal/packages/nfpm.yaml -p $$kind -t bin/packages/ || exit 1; done
	$(GO) run ./internal/packages oci bin/packages/root bin/packages/ctl.oci
	@cd bin/packages && cp root/usr/share/doc/ctl/sbom.cdx.json . && rm -rf root && find . -type f ! -name SHA256SUMS | sort | xargs sha256sum >SHA256SUMS && ls -l

bin/docs/index.html: $(wildcard docs/*.md docs/pictures/* docs/monitoring/* internal/docsite/*.go internal/docsite/static/*) features.yaml | build
	@echo 'making the documentation …'
	@$(GO) run ./internal/docsite site bin bin/docs

run: build bin/docs/index.html ## a controller with a simulated lab, discovered; ends with three commands to try
	@test/labs/run.sh start

stop: ## stop what `make run` started
	@test/labs/run.sh stop

run-cluster: build ## three controllers on three etcds with a simulated lab; ends with three commands to try
	@test/labs/run-cluster.sh start

stop-cluster: ## stop what `make run-cluster` started
	@test/labs/run-cluster.sh stop

test: ## all tests that need only Go
	@echo "$$($(GO) list ./... | wc -l) packages, a line for each as it ends; it took $$(cat bin/test.seconds 2>/dev/null || echo 'minutes, not measured here yet,') seconds last time"
	@mkdir -p bin; begin=$$SECONDS; $(TESTS) --packages ./... && echo $$((SECONDS - begin)) >bin/test.seconds

# make lint has vetted everything; tables of debuggers only take time to link.
FAST := -vet=off -ldflags=-w

test-race: ## the same under the race detector
	@CGO_ENABLED=1 $(TESTS) --packages ./... -- -race $(FAST) -timeout 30m

test-peers: ## the tests against real peers; as root it installs them (Debian packages)
	test/peers/install.sh
	@$(TESTS) --packages './test/peers/... ./examples/switchdriver-python' -- -count=1 -tags peers $(FAST) -timeout 30m

chaos: ## three controllers on three etcd, and one alone, one fault after the other; as root; writes the table into docs/operating.md
	test/peers/install.sh
	CTL_CHAOS_SECONDS=10 CTL_CHAOS_TABLE="$(CURDIR)/docs/operating.md" $(GO) test -count=1 -tags peers -timeout 20m -run TestChaos -v ./test/peers/truth

bench: build ## compare with peers; writes bench/RESULTS.md
	$(GO) run ./bench

lint: ## gofmt, vet, staticcheck, deadcode, walls, freshness of generated code
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not gofmt'ed:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags peers ./test/peers/...
	$(TOOL) staticcheck ./...
	@found=$$($(TOOL) deadcode ./...) || exit 1; unused=$$(grep -vE '$(KITS)' <<<"$$found"); \
		[ -z "$$unused" ] || { printf 'no program calls these functions:\n%s\n' "$$unused"; exit 1; }
	$(GO) test ./test/architecture ./proto
	$(GO) generate ./proto
	git diff --exit-code -- proto
	@test "$$(host/web/sources.sh)" = "$$(cat host/internal/web/static/SOURCES.sha256)" || { echo 'the web console was not built from host/web as it is: run make web'; exit 1; }

generate: ## regenerate the generated code
	$(GO) generate ./proto

clean: ## remove the build and the home directory of `make run`
	@test/labs/run.sh stop 2>/dev/null || true
	@test/labs/run-cluster.sh stop 2>/dev/null || true
	rm -rf bin ctl-home run
