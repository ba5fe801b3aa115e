# SPDX-License-Identifier: GPL-2.0
# The fuzzer of the store's own format: make -f store.mk. FUZZ_SECONDS, or RUNS=N.

TOP := ../..
BUILD := $(TOP)/build/fuzz
CC := clang
FUZZ_SECONDS ?= 3
LIMIT := $(if $(RUNS),-runs=$(RUNS),-max_total_time=$(FUZZ_SECONDS))
CFLAGS := -std=gnu11 -O1 -g -Wall -Wextra -Wno-sign-compare -Wno-unused-parameter -Werror \
	  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SOURCES := $(addprefix $(TOP)/dm-david/,format.c rangetable.c bitmap.c crc.c)

run: $(BUILD)/fuzz-store
	mkdir -p $(BUILD)/corpus/store
	$(BUILD)/fuzz-store $(LIMIT) -max_len=16384 -timeout=10 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix=$(BUILD)/store- $(BUILD)/corpus/store

$(BUILD)/fuzz-store: fuzz-store.c $(SOURCES) $(wildcard $(TOP)/dm-david/*.h)
	@mkdir -p $(BUILD)
	$(CC) $(CFLAGS) -o $@ $< $(SOURCES)

.PHONY: run
