# SPDX-License-Identifier: GPL-2.0
# A program in user space. The makefile that includes this has set TOP, PROGRAM (build/PROGRAM is made), SOURCES, LIBS, and
# ROOMS: directories, from the tree's root, of which what the program uses is linked.

# Elsewhere for who may not write to the tree.
BUILD_TOP ?= $(TOP)/build
BUILD := $(BUILD_TOP)/$(PROGRAM).o
CC ?= cc
CFLAGS ?= -O2 -g
FLAGS := -std=gnu11 -Wall -Wextra -Wno-sign-compare -Wno-unused-parameter -Werror -MMD -MP $(CFLAGS)
ROOM_SOURCES := $(wildcard $(ROOMS:%=$(TOP)/%/*.c))
OBJECTS := $(addprefix $(BUILD)/,$(notdir $(SOURCES:.c=.o)))
ROOM_OBJECTS := $(addprefix $(BUILD)/,$(notdir $(ROOM_SOURCES:.c=.o)))
vpath %.c $(sort $(dir $(SOURCES) $(ROOM_SOURCES)))

# Whole, or not there: who finds it as new as its sources runs it without the lock of those who build it.
$(BUILD_TOP)/$(PROGRAM): $(OBJECTS) $(if $(ROOMS),$(BUILD)/rooms.a)
	$(CC) $(FLAGS) $(LDFLAGS) -o $@.new $^ $(LIBS)
	mv $@.new $@

# Anew, so that no object of a source that has gone stays in it.
$(BUILD)/rooms.a: $(ROOM_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c | $(BUILD)
	$(CC) $(FLAGS) -c -o $@ $<

$(BUILD):
	mkdir -p $@

# For who compiles them elsewhere.
.PHONY: sources
sources:
	@printf '%s\n' $(abspath $(SOURCES) $(ROOM_SOURCES))

-include $(OBJECTS:.o=.d) $(ROOM_OBJECTS:.o=.d)
