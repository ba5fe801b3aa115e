# SPDX-License-Identifier: GPL-2.0
# The fuzzers of the store's own format, of its images, of the rules in it, and of the words of table lines and
# messages: make -f store.mk. FUZZ_SECONDS, or RUNS=N.

TOP := ../..
BUILD := $(TOP)/build/fuzz
CC := clang
FUZZ_SECONDS ?= 3
LIMIT := $(if $(RUNS),-runs=$(RUNS),-max_total_time=$(FUZZ_SECONDS))
CFLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Wno-sign-compare -Wno-unused-parameter -Werror \
	  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SOURCES_store := $(addprefix $(TOP)/dm-david/,format.c rangetable.c bitmap.c crc.c)
SOURCES_image := $(TOP)/tools/store/image.c $(TOP)/dm-david/crc.c
SOURCES_words := $(addprefix $(TOP)/dm-david/,content.c pangrams.c filecontent.c rawset.c crc.c) \
		 $(wildcard $(TOP)/model/profile*.c)
SOURCES_rawpage := $(addprefix $(TOP)/dm-david/,rawpage.c rawset.c crc.c)
TARGETS := store image rawpage words

run: $(addprefix run-,$(TARGETS))

$(addprefix run-,$(TARGETS)): run-%: $(BUILD)/fuzz-%
	mkdir -p $(BUILD)/corpus/$*
	@# Nothing short goes far: without a beginning of some length it would try short ones only.
	tr '\0' '\1' </dev/zero | head -c 4096 >$(BUILD)/corpus/$*/ones
	@test $* != words || ./word-seeds $(BUILD)/corpus/$*
	@# A rule of each kind.
	{ printf '\0\20'; head -c 24 /dev/zero; for n in 1 1 1 1; do printf '\1\0\0\0'; done; head -c 72 /dev/zero; \
		printf db; head -c 4000 /dev/zero; } >$(BUILD)/corpus/$*/rules
	$< $(LIMIT) -len_control=0 -max_len=16384 -timeout=10 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix=$(BUILD)/$*- $(BUILD)/corpus/$*

.SECONDEXPANSION:
$(addprefix $(BUILD)/fuzz-,$(TARGETS)): $(BUILD)/fuzz-%: fuzz-%.c $$(SOURCES_$$*) \
		$(wildcard $(TOP)/dm-david/*.h $(TOP)/tools/store/*.h)
	@mkdir -p $(BUILD)
	$(CC) $(CFLAGS) -o $@ $< $(SOURCES_$*) $(if $(filter image,$*),-lz)

.PHONY: run $(addprefix run-,$(TARGETS))
