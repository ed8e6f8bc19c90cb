# Builds pmon, tests it, installs it.  Everything made goes under $(BUILD).

# NEWS begins with the version.
VERSION := $(shell sed -n '1s/^pmon \([0-9.]*\).*/\1/p' NEWS)
BUILD ?= build
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib/pmon
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
FUZZ_SECONDS ?= 60
PROVE_FLAGS ?= -j3
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wno-unused-parameter -Wno-missing-field-initializers
# Where libdwarf's headers are: Debian's are here whatever pkg-config says.
DWARF := -I/usr/include/libdwarf \
	$(shell pkg-config --cflags libdwarf 2>/dev/null)
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. $(DWARF) \
	-DPMON_VERSION='"$(VERSION)"'
ALL_CFLAGS := -std=c11 $(WARN) $(CFLAGS)
LDLIBS += -ldwarf -ldw -lelf -lZydis -liberty -ljson-c -lprotobuf-c \
	-lncursesw -lz -lzstd -ldl

DIRS := util arch arch/x86_64 arch/m68k arch/aarch64 arch/vax symtab flow \
	relocate program probe host report report/text report/export report/html report/profile \
	report/trace \
	monitor monitor/process monitor/patch monitor/unwind monitor/client
SRCS := $(wildcard $(addsuffix /*.c,$(DIRS)))
OBJS := $(SRCS:%.c=$(BUILD)/%.o)
# The second program, which is all of this and the library.
PRINT := $(patsubst %.c,$(BUILD)/%.o,$(wildcard print/*.c))
# What qemu loads.
PLUGIN := $(BUILD)/pmon-qemu.so
# What report/export/ has schemas of.
SCHEMAS := pprof perfetto
# Everything but main: what unit tests link with.
LIB := $(BUILD)/libpmon.a
LIBOBJS := $(filter-out $(BUILD)/monitor/main.o,$(OBJS)) \
	$(SCHEMAS:%=$(BUILD)/gen/report/export/%.pb-c.o)

# V=1 shows the commands in full, -s nothing.
QUIET = $(findstring s,$(firstword -$(MAKEFLAGS)))
ifndef V
SAY = @$(if $(QUIET),,echo '  $(1) $@';)
endif

# $(CC), once it is known to be there.
COMPILER = $(eval COMPILER := $(if $(shell command -v $(firstword $(CC))),\
	$(CC),$(error no C compiler, $(CC): `make deps` installs what is \
	missing)))$(COMPILER)

all: $(BUILD)/pmon $(BUILD)/pmprint $(PLUGIN)

$(BUILD)/pmon: $(BUILD)/monitor/main.o $(LIB)
	$(call SAY,LINK)$(COMPILER) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/pmprint: $(PRINT) $(LIB)
	$(call SAY,LINK)$(COMPILER) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# It lies in another program: no checks of the compiler's.
$(PLUGIN): host/qemu/plugin.c host/qemu/counts.h
	@mkdir -p $(@D)
	$(call SAY,LINK)$(COMPILER) -std=c11 $(WARN) -O2 -g $(CPPFLAGS) -fPIC \
		-fvisibility=hidden -shared -o $@ $<

$(LIB): $(LIBOBJS)
	@rm -f $@
	$(call SAY,AR)$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call SAY,CC)$(COMPILER) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# What is in every page, which the assembler includes.
$(BUILD)/report/html/html_assets.o: $(wildcard report/html/web/*)

# What is made of schemas.
$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h &: %.proto
	@mkdir -p $(@D)
	$(call SAY,GEN)protoc-c --c_out=$(BUILD)/gen $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(call SAY,CC)$(COMPILER) $(ALL_CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(SCHEMAS:%=$(BUILD)/report/export/%.o): CPPFLAGS += -I$(BUILD)/gen
$(SCHEMAS:%=$(BUILD)/report/export/%.o): $(BUILD)/report/export/%.o: | \
	$(BUILD)/gen/report/export/%.pb-c.h
$(SCHEMAS:%=$(BUILD)/gen/report/export/%.pb-c.o): CPPFLAGS += -I$(BUILD)/gen

# What --version says they were built with.
$(BUILD)/util/command_line.o: NEWS
$(BUILD)/util/command_line.o: CPPFLAGS += \
	-DPMON_LIBRARIES='"$(or $(shell tools/versions $(CC) $(DWARF)),$(error \
	libraries are missing: `make deps` installs them))"'

# Installs what building (or testing) needs where there is apt.
deps:
	@CC="$(CC)" tools/deps build run

deps-test:
	@CC="$(CC)" tools/deps build run test

# Bishop's sample: a Shell sort and how often each of its lines ran.  The
# second make sees what the first has installed.
demo: deps
	@$(MAKE) --no-print-directory demo-run

demo-run: $(BUILD)/pmon $(BUILD)/demo/shell
	@echo '$$ pmon --report=listing $(BUILD)/demo/shell'
	@$(BUILD)/pmon --report=listing $(BUILD)/demo/shell

$(BUILD)/demo/shell: demo/shell.c
	@mkdir -p $(@D)
	$(call SAY,LINK)$(COMPILER) -g -O0 -o $@ $<

# What unit tests share, and the fuzz targets and benchmarks with them.
TESTLIB := $(BUILD)/libtests.a
TESTOBJS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/lib/*.c))
$(TESTLIB): $(TESTOBJS)
	@rm -f $@
	$(call SAY,AR)$(AR) rcs $@ $^

# Unit tests: tests/unit/NAME.c is one TAP program, $(BUILD)/unit/NAME.
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
$(BUILD)/unit/%: tests/unit/%.c $(TESTLIB) $(LIB)
	@mkdir -p $(@D)
	$(call SAY,LINK)$(COMPILER) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP $(LDFLAGS) \
		-o $@ $< $(TESTLIB) $(LIB) $(LDLIBS) -lcmocka

units: $(UNITS)

# All tests, or those named: make check TESTS=tests/options.t
# A test that hangs fails after so many seconds.  What takes longest begins
# first, so that all processors have work to the end; but real.t when
# oracle_callgrind.t has built what both need.  What tests build takes none of
# the flags that pmon is built with.
TEST_SECONDS = 1800
LONG := $(patsubst %,tests/%.t,oracle_callgrind abnormal docs equal jump \
	m68k_real) $(patsubst %,$(BUILD)/unit/%,schedule stack_switch remote) \
	$(patsubst %,tests/%.t,real remote signals transparency) \
	$(BUILD)/unit/simh $(patsubst %,tests/%.t,faults dispatches page vax \
	oracle_gcov shared walks install forks m68k attach data malformed) \
	$(patsubst %,$(BUILD)/unit/%,profile client propagate stack tables decode)
TESTS = $(wildcard tests/*.t) $(UNITS)
check: deps-test
	@$(MAKE) --no-print-directory check-run

check-run: all $(filter $(BUILD)/unit/%,$(TESTS)) $(BUILD)/demo/shell \
	$(BUILD)/bench/relocated
	@env -u CFLAGS -u LDFLAGS MAKEFLAGS= PMON="$(abspath $(BUILD)/pmon)" \
	PMON_BUILD="$(abspath $(BUILD))" \
	XDG_CONFIG_HOME=/dev/null XDG_CACHE_HOME=/dev/null \
	CC="$(CC)" PERL5LIB=tools/lib \
	prove --harness=Skips $(PROVE_FLAGS) \
	--exec 'tools/limited $(TEST_SECONDS)' \
	$(filter $(TESTS),$(LONG)) $(filter-out $(LONG),$(TESTS))

# What needs no simulator, no random rounds and less than a second, and one
# run of each kind of monitoring.
FAST_UNITS := $(filter-out $(patsubst %,$(BUILD)/unit/%,remote simh relocate \
	relocate_random entries_random propagate_random_toy profile_merge \
	schedule foreseen stack stack_switch tables m68k_decode \
	lines),$(UNITS))
FAST_TESTS = $(patsubst %,tests/%.t,kinds layers man options) $(FAST_UNITS) \
	$(MORE_UNITS:%=$(BUILD)/unit/%)
check-fast: deps-test
	@$(MAKE) --no-print-directory check-run TESTS='$(FAST_TESTS)'

# What takes long, or is likelier to fail on a loaded machine: not for CI.
# PMON_SLOW has tests of `check` do all that they can, and not only what differs
# most.
SLOW_SECONDS = 7200
WHOLE_TESTS = $(shell grep -l '\$$slow\>\|qemu_tests' tests/*.t)
WHOLE_UNITS = $(shell grep -l PMON_SLOW tests/unit/*.c)
SLOW_TESTS = $(wildcard tests/slow/*.t) $(WHOLE_TESTS) \
	$(WHOLE_UNITS:tests/unit/%.c=$(BUILD)/unit/%)
check-slow: deps-test mutants
	@PMON_SLOW=1 $(MAKE) --no-print-directory check-run PROVE_FLAGS=-j1 \
		TEST_SECONDS=$(SLOW_SECONDS) TESTS='$(SLOW_TESTS)'

# The same with the compiler's checks of memory and undefined behaviour.  What
# these say needs lines, but no variables.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
# In gcc's the library would have to come before one that a test preloads.
# The fast tests are run with more units than otherwise: those that have
# requests to the kernel fail, which is where memory leaks.
ASAN_UNITS = entries_random foreseen lines profile_merge schedule stack stack_switch \
	tables
asan asan-fast:
	@$(MAKE) --no-print-directory BUILD=build-asan \
		CFLAGS='-O1 -g1 -fno-omit-frame-pointer $(SANITIZE)' \
		LDFLAGS='$(if $(findstring clang,$(CC)),,-static-libasan)' \
		MORE_UNITS='$(ASAN_UNITS)' check$(@:asan%=%)

# Damaged files, made by libFuzzer: ELF and DWARF read by symtab/, data files
# by report/.
fuzz: deps-test
	@$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link $(SANITIZE)' fuzz-run

TARGETS := $(filter-out mutants,$(patsubst tests/fuzz/%.c,%,\
	$(wildcard tests/fuzz/*.c)))
FUZZERS := $(addprefix $(BUILD)/fuzz/,$(TARGETS))
fuzz-run: $(FUZZERS)
	for fuzzer in $^; do \
		tools/fuzz $$fuzzer $(BUILD)/fuzz $(FUZZ_SECONDS) || exit; \
	done

$(BUILD)/fuzz/%: tests/fuzz/%.c $(TESTLIB) $(LIB)
	@mkdir -p $(@D)
	$(call SAY,LINK)$(COMPILER) $(ALL_CFLAGS) -fsanitize=fuzzer $(CPPFLAGS) \
		$(LDFLAGS) -o $@ $< $(TESTLIB) $(LIB) $(LDLIBS)

# The same targets on mutants that are made by number.
mutants: $(addprefix $(BUILD)/mutants/,$(TARGETS))

$(BUILD)/mutants/%: tests/fuzz/%.c tests/fuzz/mutants.c $(TESTLIB) $(LIB)
	@mkdir -p $(@D)
	$(call SAY,LINK)$(COMPILER) $(ALL_CFLAGS) $(CPPFLAGS) $(LDFLAGS) -o $@ $^ \
		$(LDLIBS)

# Microseconds per count, for pmon's patches and for other tools; then what
# counting costs real programs (by itself: bench/programs).
bench: deps-test
	@$(MAKE) --no-print-directory bench-run

bench-run: all $(BUILD)/bench/relocated
	PMON="$(abspath $(BUILD)/pmon)" PMON_BUILD="$(abspath $(BUILD))" \
	CC="$(CC)" bench/run
	PMON="$(abspath $(BUILD)/pmon)" PMON_BUILD="$(abspath $(BUILD))" \
	CC="$(CC)" bench/programs

# In one process, with pmon's library.
$(BUILD)/bench/%: bench/%.c $(TESTLIB) $(LIB)
	@mkdir -p $(@D)
	$(call SAY,LINK)$(COMPILER) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP $(LDFLAGS) \
		-o $@ $< $(TESTLIB) $(LIB) $(LDLIBS)

# Who may include whom.
layers:
	tools/layers

# What cppcheck and clang-tidy find; where they err tools/cppcheck.txt and
# .clang-tidy say why.
lint: $(SCHEMAS:%=$(BUILD)/gen/report/export/%.pb-c.h)
	cppcheck -q --std=c11 --enable=warning,portability --error-exitcode=1 \
		--suppressions-list=tools/cppcheck.txt -I. \
		$(filter -D%,$(CPPFLAGS)) $(DIRS) print
	clang-tidy --quiet $(SRCS) $(wildcard print/*.c) -- -std=c11 \
		$(CPPFLAGS) -I$(BUILD)/gen -DPMON_LIBRARIES='""'

# .clang-format is exact for Debian 12's clang-format; other versions differ.
format-check:
	@tools/format --check

format:
	tools/format

# Which lines and functions the tests run, as pmon counts it, in doc/coverage.md
# and as a page in $(BUILD)/cover/html.
COVER_TESTS = $(FAST_UNITS) $(patsubst %,tests/%.t,options config kinds)
cover: all $(filter $(BUILD)/unit/%,$(COVER_TESTS)) $(BUILD)/demo/shell
	tools/cover $(BUILD) $(COVER_TESTS) >$(BUILD)/coverage.md
	cp $(BUILD)/coverage.md doc
	cat $(BUILD)/coverage.md

PROGRAMS := pmon pmprint
MANPAGES := $(sort $(wildcard man/*.[1-9]))
# Where a page goes, below MANDIR.
page = man$(subst .,,$(suffix $(1)))/$(notdir $(1))

# A DESTDIR is put before every directory.  The shells' completions are made
# by the programs themselves.
install: all
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(LIBDIR) $(BASHDIR) $(ZSHDIR) \
		$(FISHDIR) $(sort $(foreach p,$(MANPAGES),\
		$(dir $(MANDIR)/$(call page,$(p))))))
	install -m 755 $(PROGRAMS:%=$(BUILD)/%) $(DESTDIR)$(BINDIR)
	install -m 644 $(PLUGIN) $(DESTDIR)$(LIBDIR)
	set -e; $(foreach p,$(MANPAGES),install -m 644 $(p) \
		$(DESTDIR)$(MANDIR)/$(call page,$(p));)
	set -e; umask 022; for p in $(PROGRAMS); do \
		$(BUILD)/$$p --completion=bash >$(DESTDIR)$(BASHDIR)/$$p; \
		$(BUILD)/$$p --completion=zsh >$(DESTDIR)$(ZSHDIR)/_$$p; \
		$(BUILD)/$$p --completion=fish >$(DESTDIR)$(FISHDIR)/$$p.fish; \
	done

uninstall:
	rm -f $(DESTDIR)$(LIBDIR)/$(notdir $(PLUGIN))
	-rmdir $(DESTDIR)$(LIBDIR) 2>/dev/null
	rm -f $(foreach p,$(PROGRAMS),$(addprefix $(DESTDIR),$(BINDIR)/$(p) \
		$(BASHDIR)/$(p) $(ZSHDIR)/_$(p) $(FISHDIR)/$(p).fish)) \
		$(foreach p,$(MANPAGES),$(DESTDIR)$(MANDIR)/$(call page,$(p)))

# A Debian package of this machine's libraries, $(BUILD)/pmon_*.deb.
deb: all
	tools/deb $(BUILD) $(VERSION)

# The committed tree as an archive, the same bytes each time.
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=pmon-$(VERSION)/ HEAD | \
		gzip -9n >$(BUILD)/pmon-$(VERSION).tar.gz
	@echo $(BUILD)/pmon-$(VERSION).tar.gz

# How large the programs, folders, files, headers and functions are.
size: all
	@size $(PROGRAMS:%=$(BUILD)/%)
	@tools/size

clean:
	rm -rf $(BUILD) build-asan build-clang build-fuzz

-include $(OBJS:.o=.d) $(PRINT:.o=.d) $(TESTOBJS:.o=.d) $(UNITS:=.d) \
	$(patsubst %.c,$(BUILD)/%.d,$(wildcard bench/*.c))
.PHONY: all deps deps-test demo demo-run units check check-run check-fast \
	check-slow asan asan-fast fuzz fuzz-run mutants bench bench-run \
	layers lint format-check format cover install uninstall deb dist \
	size clean
