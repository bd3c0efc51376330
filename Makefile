# posenc: Unix filters for transformer position encodings.
#
#   make            executables in build/bin, the archive in build/lib
#   make demo       the worked examples, with what to look for; pictures in build/demo
#   make check      every test; one line at the end
#   make install    PREFIX (/usr/local), DESTDIR; make uninstall takes the same away
#
# make demo and make check first bring what is missing, through the system's package manager.
# CC, CPPFLAGS, CFLAGS, LDFLAGS, BUILD are yours, and DYNAMIC=1 links every library dynamically.

VERSION = 0.1.0
COMMANDS = $(basename $(notdir $(wildcard cmd/pe-*.c cmd/alibi.c cmd/relattn.c cmd/t5-*.c)))
SHARED = $(filter-out $(COMMANDS),$(basename $(notdir $(wildcard cmd/*.c))))
ROOMS = $(basename $(notdir $(wildcard lib/*.c)))
UNITS = $(basename $(notdir $(wildcard tests/unit/*.c)))

CC ?= cc
CXX ?= c++
AR ?= ar
INSTALL ?= install
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
BUILD ?= build
WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
# gcc sees uninitialized ghosts under sanitizers
SANITIZE = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wno-maybe-uninitialized

# Where libraries stand outside the compiler's own paths (Homebrew, pkgsrc), pkg-config knows; libcsv
# comes without a .pc file, and lies beside the others.
DEP_CFLAGS := $(shell $(PKG_CONFIG) --cflags jansson mpfr 2>/dev/null)
DEP_LDFLAGS := $(shell $(PKG_CONFIG) --libs-only-L jansson mpfr 2>/dev/null)
LIBS = -lcsv -ljansson -lmpfr -lgmp -lm

# The commands take these four in where their archives are at hand: a start, a good part of a small job, is a quarter
# shorter, and a command runs on a machine without them. make DYNAMIC=1 leaves them outside, as distributions want it.
ARCHIVES := $(if $(DYNAMIC),,$(shell for name in csv jansson mpfr gmp; do $(CC) -print-file-name=lib$$name.a; done))
COMMAND_LIBS = $(if $(filter-out /%,$(ARCHIVES) $(DYNAMIC)),$(LIBS),$(ARCHIVES) -lm)

# Contraction would fuse a*b+c where the compiler likes; where we want an fma we write it.
PE_CFLAGS = -std=c11 -D_DEFAULT_SOURCE -ffp-contract=off -pthread $(WARNINGS) $(CFLAGS)
PE_CPPFLAGS = -iquote lib -DPOSENC_VERSION='"$(VERSION)"' -MMD -MP $(DEP_CFLAGS) $(CPPFLAGS)
LINK = $(CC) $(PE_CFLAGS) $(DEP_LDFLAGS) $(LDFLAGS)

# Sub-makes use every core where the user did not say how many.
JOBS := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
SETUP = CC='$(CC)' CPPFLAGS='$(DEP_CFLAGS) $(CPPFLAGS)' tests/setup.sh

# One short line for each file; make V=1 shows the commands.
Q = $(if $(V),,@)
TELL = @$(if $(V),:,printf '  %-5s %s\n')

.PHONY: all bin lib completions reference install uninstall dist clean demo gallery \
	check check-unit check-asan twin lint coverage measure \
	check-torture check-slurm check-oracle check-all-floats check-peers fuzz fuzzers bench bench-venv
all: bin lib completions reference
bin: $(COMMANDS:%=$(BUILD)/bin/%)
lib: $(BUILD)/lib/libposenc.a

$(BUILD)/lib/libposenc.a: $(ROOMS:%=$(BUILD)/lib/%.o)
	@rm -f $@
	$(TELL) AR $@
	$(Q)$(AR) rcs $@ $^

# What several commands share (cli and what builds on it); each takes only the parts it calls.
$(BUILD)/cmd/shared.a: $(SHARED:%=$(BUILD)/cmd/%.o)
	@rm -f $@
	$(TELL) AR $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/bin/%: $(BUILD)/cmd/%.o $(BUILD)/cmd/shared.a $(BUILD)/lib/libposenc.a $(EXTRA)
	@mkdir -p $(@D)
	$(TELL) LD $@
	$(Q)$(LINK) -o $@ $^ $(COMMAND_LIBS)

# Kernels per instruction set: name_v3.c (AVX2, FMA), name_v4.c (AVX-512), chosen at run time. Elsewhere these files
# compile to nothing. (-march=x86-64-v3 says the same to newer compilers only.)
V3 = -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt
V4 = $(V3) -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mprefer-vector-width=512
ifneq ($(filter x86_64 amd64,$(shell uname -m)),)
$(BUILD)/lib/%_v3.o: PE_CFLAGS += $(V3)
$(BUILD)/lib/%_v4.o: PE_CFLAGS += $(V4)
endif

# The first compilation says what is missing, if anything, and the line that brings it.
$(BUILD)/%.o: %.c | $(BUILD)/complete
	@mkdir -p $(@D)
	$(TELL) CC $@
	$(Q)$(CC) $(PE_CPPFLAGS) $(PE_CFLAGS) -c -o $@ $<
$(BUILD)/complete:
	@$(SETUP) -n build
	@mkdir -p $(@D) && touch $@

# ---- made from the commands and the headers ----

# Completions for bash, zsh and fish, made from what each command's --help says.
COMPLETIONS = $(COMMANDS:%=$(BUILD)/completions/bash/%) $(COMMANDS:%=$(BUILD)/completions/zsh/_%) \
	$(COMMANDS:%=$(BUILD)/completions/fish/%.fish)
complete = @mkdir -p $(@D) && $< --help | awk -v shell=$1 -f cmd/completion.awk >$@.new && mv $@.new $@
completions: $(COMPLETIONS)
$(BUILD)/completions/bash/%: $(BUILD)/bin/% cmd/completion.awk
	$(call complete,bash)
$(BUILD)/completions/zsh/_%: $(BUILD)/bin/% cmd/completion.awk
	$(call complete,zsh)
$(BUILD)/completions/fish/%.fish: $(BUILD)/bin/% cmd/completion.awk
	$(call complete,fish)

# A room's inside (name_part.h) and the file kinds behind stream stay here.
PRIVATE = $(wildcard lib/*_*.h lib/cpu.h lib/backend.h lib/csvio.h lib/rawio.h lib/npyio.h lib/safetensors.h)
HEADERS = $(filter-out $(PRIVATE),$(wildcard lib/*.h))
# A page of section 3 for each of them, from its comments.
MAN3 = $(HEADERS:lib/%.h=$(BUILD)/man/posenc-%.3)
reference: $(MAN3)
$(BUILD)/man/posenc-%.3: lib/%.h man/header.awk man/posenc.7
	@mkdir -p $(@D)
	@awk -v date="$$(sed -n 's/^\.Dd //p' man/posenc.7)" -f man/header.awk $< >$@.new && mv $@.new $@

# ---- install ----

# What is installed: directory below PREFIX, mode, files. Uninstalling goes through the same list.
define installed
$(call $1,bin,755,$(COMMANDS:%=$(BUILD)/bin/%))
$(call $1,lib,644,$(BUILD)/lib/libposenc.a)
$(call $1,lib/pkgconfig,644,$(BUILD)/posenc.pc)
$(call $1,include/posenc,644,$(HEADERS))
$(call $1,share/man/man1,644,$(wildcard man/*.1))
$(call $1,share/man/man3,644,$(MAN3))
$(call $1,share/man/man7,644,$(wildcard man/*.7))
$(call $1,share/bash-completion/completions,644,$(filter $(BUILD)/completions/bash/%,$(COMPLETIONS)))
$(call $1,share/zsh/site-functions,644,$(filter $(BUILD)/completions/zsh/%,$(COMPLETIONS)))
$(call $1,share/fish/vendor_completions.d,644,$(filter $(BUILD)/completions/fish/%,$(COMPLETIONS)))
endef
define put
$(if $3,@$(INSTALL) -d '$(DESTDIR)$(PREFIX)/$1')
$(if $3,$(INSTALL) -m $2 $3 '$(DESTDIR)$(PREFIX)/$1')
endef
define take
$(if $3,-cd '$(DESTDIR)$(PREFIX)/$1' && rm -f $(notdir $3))
endef
install: all $(BUILD)/posenc.pc
	$(call installed,put)
uninstall:
	$(call installed,take)
	-rmdir '$(DESTDIR)$(PREFIX)/include/posenc'
.PHONY: $(BUILD)/posenc.pc
$(BUILD)/posenc.pc: # anew each time: PREFIX may have changed
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' lib/posenc.pc.in >$@

# The committed tree, with the commit's times and no names of users: the same bytes from everyone.
DIST = $(BUILD)/posenc-$(VERSION)
dist:
	@mkdir -p $(BUILD)
	git archive --format=tar --prefix=posenc-$(VERSION)/ -o $(DIST).tar HEAD
	gzip -n -9 -f $(DIST).tar

# ---- demo, gallery ----

demo:
	@$(SETUP) build demo
	@$(SUBMAKE) all
	@POSENC_BIN='$(BUILD)/bin' tests/demo/demo.sh '$(BUILD)/demo'

gallery: # the figures of the papers, each by a script of tests/examples
	@$(SETUP) build demo
	@$(SUBMAKE) all
	@for s in tests/examples/*.sh; do POSENC_BIN='$(BUILD)/bin' $$s '$(BUILD)/gallery' || exit; done

# ---- tests ----

check:
	@$(SETUP) build check unit
	@$(SUBMAKE) all twin
	@BUILD='$(BUILD)' TWINS='$(TWINS)' LONG='$(LONG)' MAKE='$(MAKE)' tests/check.sh
check-unit: $(UNITS:%=$(BUILD)/unit/%)
	@printf '%s\n' $^ | xargs -P $(JOBS) -I '{}' sh -c 'CMOCKA_MESSAGE_OUTPUT=TAP {} >{}.tap 2>{}.err || \
		{ r=$$?; grep -q "^not ok" {}.tap || echo "not ok {}: ended with status $$r" >>{}.tap; }'
	@cat $(^:%=%.tap) $(^:%=%.err); ! grep -q '^not ok' $(^:%=%.tap)
check-asan: twin
	@BUILD='$(BUILD)' tests/check.sh 'asan-.*|corpus'
twin: # the commands and the fuzz targets, with address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory bin fuzzers BUILD='$(BUILD)/asan' CFLAGS='$(SANITIZE)'
lint:
	@tests/lint.sh
coverage: # which lines of lib/ the tests run
	@$(SETUP) build check unit
	@$(SUBMAKE) measure BUILD='$(BUILD)/coverage' CFLAGS='-O1 -g --coverage'
measure: bin
	@mkdir -p '$(BUILD)'; find '$(BUILD)' -name '*.gcda' -exec rm {} +
	-@BUILD='$(BUILD)' MAKE='$(MAKE)' tests/check.sh 'unit|golden|examples|bats'
	@BUILD='$(BUILD)' tests/coverage.sh

# Unit tests: tests/unit/x.c, written with cmocka.
$(BUILD)/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/lib/libposenc.a
	@mkdir -p $(@D)
	$(TELL) LD $@
	$(Q)$(LINK) -o $@ $^ $(LIBS) -lcmocka

# Fuzz targets: tests/fuzz/x.c; for `make check` they replay their corpus, for `make fuzz` libFuzzer drives them.
FUZZ = $(filter-out replay,$(basename $(notdir $(wildcard tests/fuzz/*.c))))
FUZZ_MAIN = $(BUILD)/tests/fuzz/replay.o
FUZZ_SECONDS = 60
$(BUILD)/fuzz/%: $(BUILD)/tests/fuzz/%.o $(FUZZ_MAIN) $(BUILD)/lib/libposenc.a
	@mkdir -p $(@D)
	$(TELL) LD $@
	$(Q)$(LINK) -o $@ $^ $(LIBS)
fuzz: # each target for FUZZ_SECONDS
	@$(SETUP) build fuzz
	@$(SUBMAKE) fuzzers BUILD='$(BUILD)/fuzzing' CC=clang FUZZ_MAIN= LDFLAGS=-fsanitize=fuzzer \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'
	@BUILD='$(BUILD)/fuzzing' SECONDS_EACH=$(FUZZ_SECONDS) tests/fuzz/fuzz.sh $(FUZZ)
fuzzers: $(FUZZ:%=$(BUILD)/fuzz/%)

# ---- longer tests ----

# Static commands in which a test can make any system call and any allocation fail.
WRAP = -static -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=read,--wrap=write
check-torture:
	@$(SETUP) build check
	@$(SUBMAKE) bin BUILD='$(BUILD)/static' LDFLAGS='$(WRAP)' EXTRA='$(BUILD)/static/tests/torture/faults.o'
	@POSENC_BIN='$(BUILD)/static/bin' tests/torture/torture.sh
# 10^7 values of each element against MPFR, at random tables and places; two minutes of one core.
check-oracle: $(BUILD)/unit/turn
	$< 10000000
# All 2^32 floats and 10^8 doubles against a C++ library that has std::from_chars for them; a quarter of an hour of one core.
check-all-floats: $(BUILD)/unit/all-floats
	$<
$(BUILD)/unit/all-floats: tests/unit/all-floats.cc $(BUILD)/lib/libposenc.a
	@mkdir -p $(@D)
	$(CXX) -std=c++17 $(WARNINGS) $(CFLAGS) $(CPPFLAGS) -pthread -iquote lib $(LDFLAGS) -o $@ $^
check-slurm: # a job array on a Slurm of one node, started for the purpose; needs root
	@$(SETUP) build slurm
	@$(SUBMAKE) bin
	@POSENC_BIN='$(BUILD)/bin' tests/slurm/check.sh

# ---- bench ----

# Timings inside one process: tests/bench/x.c becomes build/bench/x.
$(BUILD)/bench/%: $(BUILD)/tests/bench/%.o $(BUILD)/lib/libposenc.a
	@mkdir -p $(@D)
	$(TELL) LD $@
	$(Q)$(LINK) -o $@ $^ $(LIBS) -ldl
BENCHES = $(basename $(notdir $(wildcard tests/bench/*.c)))
bench: # ours and the peers in turn; BENCH='table text' runs some groups alone
	@$(SUBMAKE) all $(BENCHES:%=$(BUILD)/bench/%)
	@python3 tests/bench/bench.py '$(BUILD)' $(BENCH)
bench-venv: # current peers, for the bench and check-peers alone
	python3 -m venv '$(BUILD)/venv'
	'$(BUILD)/venv/bin/pip' install --quiet numpy pandas torch transformers safetensors
check-peers: bin # against transformers, torch and safetensors themselves, out of the venv
	@'$(BUILD)/venv/bin/python3' tests/peers/check.py '$(BUILD)/bin'

clean:
	rm -rf $(BUILD)

-include $(wildcard $(BUILD)/cmd/*.d $(BUILD)/lib/*.d $(BUILD)/tests/*/*.d)
.SECONDARY:
