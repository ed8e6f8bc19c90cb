# Builds pmon and runs its tests.  Everything made goes under $(BUILD).

VERSION := 0.1
BUILD ?= build
PREFIX ?= /usr/local
CC ?= cc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wno-unused-parameter -Wno-missing-field-initializers
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. \
	-DPMON_VERSION='"$(VERSION)"'
ALL_CFLAGS := -std=c11 $(WARN) $(CFLAGS)
LDLIBS += -ldwarf -lelf -lZydis -liberty

DIRS := util arch arch/x86_64 symtab flow plan host report monitor
SRCS := $(wildcard $(addsuffix /*.c,$(DIRS)))
OBJS := $(SRCS:%.c=$(BUILD)/%.o)
# Everything but main: what unit tests link with.
LIB := $(BUILD)/libpmon.a
LIBOBJS := $(filter-out $(BUILD)/monitor/main.o,$(OBJS))

all: $(BUILD)/pmon

$(BUILD)/pmon: $(BUILD)/monitor/main.o $(LIB)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LIB): $(LIBOBJS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# Unit tests: tests/unit/NAME.c is one TAP program, $(BUILD)/unit/NAME.
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(wildcard tests/unit/*.c))
$(BUILD)/unit/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(CPPFLAGS) -MMD -MP $(LDFLAGS) -o $@ $< $(LIB) \
		$(LDLIBS) -lcmocka

units: $(UNITS)

clean:
	rm -rf $(BUILD)

-include $(OBJS:.o=.d) $(UNITS:=.d)
.PHONY: all units clean
