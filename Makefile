# Builds pmon, tests it, installs it.  Everything made goes under $(BUILD).

VERSION := 0.1
BUILD ?= build
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
FUZZ_SECONDS ?= 60
PROVE_FLAGS ?= -j2
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wno-unused-parameter -Wno-missing-field-initializers
# Where libdwarf's headers are: Debian's are here whatever pkg-config says.
DWARF := -I/usr/include/libdwarf \
	$(shell pkg-config --cflags libdwarf 2>/dev/null)
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. $(DWARF) \
	-DPMON_VERSION='"$(VERSION)"'
ALL_CFLAGS := -std=c11 $(WARN) $(CFLAGS)
LDLIBS += -ldwarf -lelf -lZydis -liberty

DIRS := util arch arch/x86_64 symtab flow plan host report monitor
SRCS := $(wildcard $(addsuffix /*.c,$(DIRS)))
OBJS := $(SRCS:%.c=$(BUILD)/%.o)
# Everything but main: what unit tests link with.
LIB := $(BUILD)/libpmon.a
LIBOBJS := $(filter-out $(BUILD)/monitor/main.o,$(OBJS))

# V=1 shows the commands in full, -s nothing.
QUIET = $(findstring s,$(firstword -$(MAKEFLAGS)))
ifndef V
SAY = @$(if $(QUIET),,echo '  $(1) $@';)
endif

all: $(BUILD)/pmon

$(BUILD)/pmon: $(BUILD)/monitor/main.o $(LIB)
	$(call SAY,LINK)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LIB): $(LIBOBJS)
	@rm -f $@
	$(call SAY,AR)$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(call SAY,CC)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# What pmon --version says it was built with.
$(BUILD)/monitor/options.o: CPPFLAGS += \
	-DPMON_LIBRARIES='"$(shell tools/versions $(CC) $(DWARF))"'

# Installs what building (or testing) needs where there is apt.
deps:
	@CC="$(CC)" tools/deps build

deps-test:
	@CC="$(CC)" tools/deps build test

# Bishop's sample: a Shell sort and how often each of its lines ran.  The
# second make sees what the first has installed.
demo: deps
	@$(MAKE) --no-print-directory demo-run

demo-run: $(BUILD)/pmon $(BUILD)/demo/shell
	@echo '$$ pmon --report=listing $(BUILD)/demo/shell'
	@$(BUILD)/pmon --report=listing $(BUILD)/demo/shell

$(BUILD)/demo/shell: demo/shell.c
	@mkdir -p $(@D)
	$(call SAY,LINK)$(CC) -g -O0 -o $@ $<

# Unit tests: tests/unit/NAME.c is one TAP program, $(BUILD)/unit/NAME.
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
$(BUILD)/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(call SAY,LINK)$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP $(LDFLAGS) \
		-o $@ $< $(LIB) $(LDLIBS) -lcmocka

units: $(UNITS)

# All tests, or those named: make check TESTS=tests/options.t
TESTS = $(UNITS) $(wildcard tests/*.t)
check: deps-test
	@$(MAKE) --no-print-directory check-run

check-run: all units $(BUILD)/demo/shell
	@PMON="$(abspath $(BUILD)/pmon)" PMON_BUILD="$(abspath $(BUILD))" \
	CC="$(CC)" PERL5LIB=tools/lib \
	prove --harness=Skips $(PROVE_FLAGS) $(TESTS)

# The same with the compiler's checks of memory and undefined behaviour.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
# In gcc's the library would have to come before one that a test preloads.
asan:
	@$(MAKE) --no-print-directory BUILD=build-asan \
		CFLAGS='-O1 -g -fno-omit-frame-pointer $(SANITIZE)' \
		LDFLAGS='$(if $(findstring clang,$(CC)),,-static-libasan)' check

# Damaged ELF and DWARF, made by libFuzzer, read by symtab/.
fuzz: deps-test
	@$(MAKE) --no-print-directory BUILD=build-fuzz CC=clang \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined' \
		fuzz-run

fuzz-run: $(BUILD)/fuzz/symtab
	tools/fuzz $(BUILD)/fuzz/symtab $(BUILD)/fuzz $(FUZZ_SECONDS)

$(BUILD)/fuzz/%: tests/fuzz/%.c $(LIB)
	@mkdir -p $(@D)
	$(call SAY,LINK)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(CPPFLAGS) \
		$(LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

# Microseconds per count, for pmon's patches and for other tools.
bench: deps-test
	@$(MAKE) --no-print-directory bench-run

bench-run: all
	PMON="$(abspath $(BUILD)/pmon)" PMON_BUILD="$(abspath $(BUILD))" \
	CC="$(CC)" bench/run

# Who may include whom.
layers:
	tools/layers

install: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	install -m 755 $(BUILD)/pmon $(DESTDIR)$(BINDIR)/pmon
	install -m 644 man/pmon.1 $(DESTDIR)$(MANDIR)/man1/pmon.1

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/pmon $(DESTDIR)$(MANDIR)/man1/pmon.1

clean:
	rm -rf $(BUILD) build-asan build-fuzz

-include $(OBJS:.o=.d) $(UNITS:=.d)
.PHONY: all deps deps-test demo demo-run units check check-run asan fuzz \
	fuzz-run bench bench-run layers install uninstall clean
