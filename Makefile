# posenc: Unix filters for transformer position encodings.
#
#   make            executables in build/bin, the archive in build/lib
#   make demo       the worked examples, with what to look for
#   make check      every test; installs what it needs first

VERSION = 0.1.0
COMMANDS = $(basename $(notdir $(wildcard cmd/pe-*.c cmd/alibi.c cmd/relattn.c cmd/t5-*.c)))
SHARED = $(filter-out $(COMMANDS),$(basename $(notdir $(wildcard cmd/*.c))))
ROOMS = $(basename $(notdir $(wildcard lib/*.c)))

CC ?= cc
AR ?= ar
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BUILD ?= build
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion

# Contraction would fuse a*b+c where the compiler likes; where we want an fma we write it.
PE_CFLAGS = -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -pthread $(WARNINGS) $(CFLAGS)
PE_CPPFLAGS = -iquote lib -DPOSENC_VERSION='"$(VERSION)"' -MMD -MP $(CPPFLAGS)
LIBS = -lcsv -ljansson -lmpfr -lgmp -lm

.PHONY: all clean
all: $(COMMANDS:%=$(BUILD)/bin/%) $(BUILD)/lib/libposenc.a

$(BUILD)/lib/libposenc.a: $(ROOMS:%=$(BUILD)/lib/%.o)
	$(AR) rcs $@.new $^ && mv $@.new $@

# What several commands share (cli and what builds on it); each takes only the parts it calls.
$(BUILD)/cmd/shared.a: $(SHARED:%=$(BUILD)/cmd/%.o)
	$(AR) rcs $@.new $^ && mv $@.new $@

$(BUILD)/bin/%: $(BUILD)/cmd/%.o $(BUILD)/cmd/shared.a $(BUILD)/lib/libposenc.a
	@mkdir -p $(@D)
	$(CC) $(PE_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Kernels per instruction set: name_v3.c (AVX2, FMA), name_v4.c (AVX-512). Elsewhere these files compile to nothing.
ifneq ($(filter x86_64 amd64,$(shell uname -m)),)
$(BUILD)/lib/%_v3.o: PE_CFLAGS += -march=x86-64-v3
$(BUILD)/lib/%_v4.o: PE_CFLAGS += -march=x86-64-v4 -mprefer-vector-width=512
endif

# Unit tests: tests/unit/x.c, written with cmocka.
UNITS = $(basename $(notdir $(wildcard tests/unit/*.c)))
$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/lib/libposenc.a
	@mkdir -p $(@D)
	$(CC) $(PE_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka
.PHONY: check-unit
check-unit: $(UNITS:%=$(BUILD)/unit/%)
	@status=0; for t in $^; do CMOCKA_MESSAGE_OUTPUT=TAP $$t || status=1; done; exit $$status

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(PE_CPPFLAGS) $(PE_CFLAGS) -c -o $@ $<

clean:
	rm -rf $(BUILD)

-include $(wildcard $(BUILD)/cmd/*.d $(BUILD)/lib/*.d $(BUILD)/tests/unit/*.d)
.SECONDARY:
