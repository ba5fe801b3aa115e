# SPDX-License-Identifier: GPL-2.0
# A program of portable sources, in user space. The makefile that includes this has set TOP, PROGRAM (build/PROGRAM is made),
# SOURCES and LIBS.

BUILD := $(TOP)/build/$(PROGRAM).o
CC ?= cc
CFLAGS ?= -O2 -g
FLAGS := -std=gnu11 -Wall -Wextra -Wno-sign-compare -Wno-unused-parameter -Werror -MMD -MP $(CFLAGS)
OBJECTS := $(addprefix $(BUILD)/,$(notdir $(SOURCES:.c=.o)))
vpath %.c $(sort $(dir $(SOURCES)))

$(TOP)/build/$(PROGRAM): $(OBJECTS)
	$(CC) $(FLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c | $(BUILD)
	$(CC) $(FLAGS) -c -o $@ $<

$(BUILD):
	mkdir -p $@

# For who compiles them elsewhere.
.PHONY: sources
sources:
	@printf '%s\n' $(abspath $(SOURCES))

-include $(OBJECTS:.o=.d)
