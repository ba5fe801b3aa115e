# SPDX-License-Identifier: GPL-2.0
# The fuzzers of btrfs and xfs: make -f selfid.mk. FUZZ_SECONDS each, or RUNS=N.

TOP := ../..
BUILD := $(TOP)/build/fuzz
CC := clang
FUZZ_SECONDS ?= 3
TARGETS ?= btrfs xfs
LIMIT := $(if $(RUNS),-runs=$(RUNS),-max_total_time=$(FUZZ_SECONDS))
CFLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Wno-sign-compare -Werror -fsanitize=fuzzer,address,undefined \
	  -fno-sanitize-recover=all -fno-omit-frame-pointer
SOURCES := $(addprefix $(TOP)/classifier/,btrfs.c btrfs-live.c selfid.c xfs.c) $(TOP)/dm-david/crc.c
PROGRAMS := $(addprefix $(BUILD)/fuzz-,$(TARGETS))

run: $(PROGRAMS) $(BUILD)/seeds/btrfs/plain
	set -e; for target in $(TARGETS); do \
		mkdir -p $(BUILD)/corpus/$$target; \
		$(BUILD)/fuzz-$$target $(LIMIT) -max_len=16384 -timeout=10 -print_final_stats=1 -verbosity=0 \
			-artifact_prefix=$(BUILD)/$$target- $(BUILD)/corpus/$$target $(BUILD)/seeds/$$target; \
	done

$(BUILD)/seeds/btrfs/plain: selfid-seeds
	./selfid-seeds $(BUILD)/seeds

$(PROGRAMS): $(BUILD)/fuzz-%: fuzz-%.c $(SOURCES) $(wildcard $(TOP)/classifier/*.h)
	@mkdir -p $(BUILD)
	$(CC) $(CFLAGS) -o $@ $< $(SOURCES)

.PHONY: run
