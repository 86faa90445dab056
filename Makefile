# SPDX-License-Identifier: MIT
# A front to meson and ninja, so that no one has to remember how to call them. Each target
# that has a '##' is listed by `make help`.

PREFIX ?= /usr/local
DESTDIR ?=
# Seconds for each target of `make fuzz` (0: without end), and the executions that end it before.
T ?= 60
N ?= -1
# For `make soak`: parts, as 'kill=500 powercut', and what the other sizes are multiplied by.
PART ?=
SOAK ?= 1
# For `make browser`: where the picture of the page goes.
PICTURE ?=
# For `make mutants`: patterns of their names; none: all.
M ?=
# For `make bench`: a file of games, a document for the tables, more options of bench/all.py.
PGN ?=
MARKDOWN ?=
BENCH ?=

SHELL := /bin/bash
SOURCES = $$(find base bench chess client daemon examples formats import include proto store tests \
	-name '*.[ch]' 2>/dev/null)

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12
	@echo
	@echo 'Settings: PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) T=$(T) N=$(N) SOAK=$(SOAK)'

build: build/build.ninja ## build everything with debugging information in build/
	ninja -C build

build/build.ninja:
	@tools/deps.sh build
	CC=$${CC:-gcc} meson setup build

build-release/build.ninja:
	@tools/deps.sh build
	CC=$${CC:-gcc} meson setup build-release --buildtype=release --prefix='$(PREFIX)'

deps: ## install the Debian packages that are missing (as root), or name them
	tools/deps.sh build test

# A third of the time that `make build` takes: the two programs alone, lightly optimised and without
# debugging information, in a directory of their own.
demo: ## build the programs, make a store of real positions, serve it and ask it
	@tools/deps.sh build
	@[ -f build-demo/build.ninja ] || CC=$${CC:-gcc} meson setup build-demo -Dtests=false \
		-Doptimization=1 -Ddebug=false
	ninja -C build-demo cli/chistore daemon/chistored http/chistore-http
	demo/demo.sh build-demo

check: ## run the tests: plain, ASan + UBSan, TSan
	@tools/deps.sh build test
	@tools/check.sh

long-check: ## run all that check leaves out: all rounds, all rooms under the sanitizers
	@tools/deps.sh build test
	@tools/check.sh long

test: build ## run the tests of the plain build only
	meson test -C build --no-rebuild --print-errorlogs

browser: build ## drive the page in a real browser; PICTURE=docs/explorer.png keeps the README's
	@tools/deps.sh build browser
	CHISTORE_BROWSER=yes meson test -C build --no-rebuild --print-errorlogs --suite web
	@[ -z '$(PICTURE)' ] || cp build/tests/web/pictures/explorer.png '$(PICTURE)'

clients: build ## run PyChess' own database module, of Debian's package, against chess-db
	@tools/deps.sh build clients
	rm -rf build/clients && mkdir build/clients
	cd build/clients && apt-get download -q pychess && dpkg -x pychess_*.deb .
	CHISTORE_PYCHESS=$(CURDIR)/build/clients/usr/lib/python3/dist-packages \
		meson test -C build --no-rebuild --print-errorlogs 'system chess_db'

cluster-check: build ## run the tests of stores on RADOS, on a small Ceph cluster made here
	@tools/deps.sh build test cluster
	tools/cluster.sh run 3 meson test -C build --no-rebuild --print-errorlogs --suite rados

failover-check: build ## as root: lose the machine, the OSDs and the daemon under a store on an image of RBD
	@tools/deps.sh build test failover
	CHISTORE_CLUSTER_MONS=3 tools/cluster.sh run 3 meson test -C build -v --no-rebuild failover

sanitize: ## run the whole suite under ASan and UBSan in build-asan/
	@tools/deps.sh build test
	@tools/check.sh asan

tsan: ## run the rooms with threads under TSan in build-tsan/
	@tools/deps.sh build test
	@tools/check.sh tsan

fuzz: ## run each fuzz target for T seconds or N executions in build-fuzz/
	@tools/deps.sh build test
	@[ -f build-fuzz/build.ninja ] || CC=clang meson setup build-fuzz -Dfuzz=true \
		-Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fno-sanitize-recover=all
	ninja -C build-fuzz
	tools/fuzz.sh -n $(N) build-fuzz $(T)

mutants: ## break each rule of docs/TESTED.md and see that its test fails: M='full-*'
	@tools/deps.sh build test
	tests/mutants/run.py $(M)

soak: build ## run the long tests for hours: PART='kill=500 powercut', SOAK=0.01 for a look
	@tools/deps.sh build test
	tools/soak.py --scale $(SOAK) $(PART)

coverage: ## run the suite and count the lines it reaches; fails below 90 % of a room
	@tools/deps.sh build test coverage
	@tools/check.sh coverage
	tools/coverage.py build-coverage

# The libraries that ours is compared with may have come since the directory was set up.
bench: ## measure, and print the ratios of docs/MEASURED.md
	@tools/deps.sh build bench
	@$(MAKE) --no-print-directory build-release/build.ninja
	@meson configure --clearcache build-release
	@meson setup --reconfigure build-release >/dev/null
	ninja -C build-release
	/usr/bin/python3 bench/all.py build-release $(if $(PGN),--pgn '$(PGN)') \
		$(if $(MARKDOWN),--markdown '$(MARKDOWN)') $(BENCH)

lint: build/build.ninja ## check arrows, format, sizes, symbols, scripts and man pages
	@tools/deps.sh build test
	meson test -C build --suite lint --print-errorlogs

format: ## rewrite the sources with clang-format
	clang-format -i $(SOURCES)

tidy: build ## run clang-tidy over the sources (slow, not part of check)
	@tools/deps.sh test
	git ls-files '*.c' ':!tests' ':!bench' | xargs -P 2 -n 4 clang-tidy -p build --quiet \
		--extra-arg=-Wno-unknown-warning-option

install: build-release/build.ninja ## build for release and install under DESTDIR and PREFIX
	meson configure build-release -Dprefix='$(PREFIX)'
	ninja -C build-release
	DESTDIR='$(DESTDIR)' meson install -C build-release --no-rebuild

docs: ## write the documents and manual pages as HTML in build-docs/
	@tools/deps.sh docs
	tools/docs.sh build-docs

deb: ## build Debian's packages of what is committed in build-deb/
	@tools/deps.sh build packages
	tools/deb.sh --lint build-deb

abi: ## compare the library's ABI with that of the last tag, or of COMMIT
	@tools/deps.sh build abi
	tools/abi.sh build-abi $(COMMIT)

deb-twice: ## build them twice in build-deb/, as differently as may be, and compare the bytes
	@tools/deps.sh build packages
	tools/deb_twice.sh build-deb

python-abi: ## write Python's declarations again, after a change of the C headers
	python/make_abi.py include/chistore/imports.h include/chistore/types.h include/chistore/games.h include/chistore/names.h include/chistore/search.h include/chistore/insight.h include/chistore/queue.h include/chistore.h >python/chistore/_abi.py.new
	mv python/chistore/_abi.py.new python/chistore/_abi.py

clean: ## remove the build directories
	rm -rf build build-asan build-tsan build-fuzz build-mutants build-release build-coverage build-deb build-docs \
		build-demo

.PHONY: help build deps demo check long-check test browser clients cluster-check failover-check sanitize tsan fuzz mutants soak coverage bench lint format \
	tidy install docs deb deb-twice abi python-abi clean
.DEFAULT_GOAL := help
