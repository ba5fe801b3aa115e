# SPDX-License-Identifier: GPL-2.0
ifneq ($(KERNELRELEASE),)

# Kbuild's part: called with M= set to this directory, or to a copy of it.
obj-m += dm-david/
# Headers that older kernels have elsewhere.
subdir-ccflags-y += -idirafter $(src)/dm-david/compat/include
ifdef CONFIG_KUNIT
obj-m += $(if $(wildcard $(src)/tests/kunit/Kbuild),tests/kunit/)
endif

else

export DESTDIR PREFIX ZSHDIR

# Everything else. A target that needs more than a compiler begins with its own set-up.
KDIR ?= /lib/modules/$(shell uname -r)/build
SEEDS ?= 200
FS ?= ext2 ext3 ext4 xfs btrfs f2fs nilfs2
CACHE = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/dm-david
VENV = $(CACHE)/venv
DAVID = tools/david
CPUS := $(shell nproc)

# In user space: what was compiled of the same source before, in any tree, is taken from the cache. Whose
# cache cannot be written compiles without.
ifneq ($(XDG_CACHE_HOME)$(HOME),)
ifeq ($(shell mkdir -p $(CACHE)/ccache 2>/dev/null && test -w $(CACHE)/ccache && echo writable),writable)
sim programs unit fuzz: export PATH := /usr/lib/ccache:$(PATH)
sim programs unit fuzz: export CCACHE_DIR := $(CACHE)/ccache
sim programs unit fuzz: export CCACHE_MAXSIZE := 500M
# A tree's own place is in no object but for debuggers.
sim programs unit fuzz: export CCACHE_NOHASHDIR := 1
endif
endif

all: module sim ## the module, for KDIR (default: the running kernel), and the tools

help: ## this list
	@echo 'make TARGET, where TARGET is one of'
	@sed -n 's/^\([a-z0-9. -]*\):[^#]*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS="$$(printf '\t')" read -r names what; do printf '  %-32s %s\n' "$$names" "$$what"; done
	@echo
	@echo 'KDIR=DIR  kernel build directory for `make`; now $(KDIR)'
	@echo 'tools/david --help tells of fake disks, tools/david lab run --help of the lab machines.'

module: ## the module, for KDIR
	@test -e $(KDIR)/Makefile || { \
		echo "There are no kernel headers in $(KDIR). Install them (linux-headers-$$(uname -r)," >&2; \
		echo "if your distribution serves it), or name a kernel's build directory: make KDIR=..." >&2; \
		exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

sim: ## build/david-sim, the offline simulator
	$(MAKE) -j$(CPUS) -C tools/sim

install: install-module install-tools ## the module for KDIR, the tools and their manual; DESTDIR=, PREFIX=/usr/local

programs: sim ## the programs in C that are installed, in build/
	@for room in store classify trace compile replay; do $(MAKE) -s -j$(CPUS) -C tools/$$room || exit 1; done

install-tools: programs ## what `make install` installs, but for the module
	tools/packaging/install install

install-module: module ## the module alone
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install
	$(if $(DESTDIR),,/sbin/depmod $(notdir $(patsubst %/build,%,$(KDIR))))

uninstall: ## remove what `make install` installed, but for the module
	tools/packaging/install uninstall

deb: ## Debian packages, in build/deb: dm-david, dm-david-lab and dm-david-dkms; needs debhelper, dh-dkms, lintian
	tools/packaging/deb

rpm: ## RPM packages of the release tarball, in build/rpm: dm-david, dm-david-lab and dm-david-dkms; needs rpmbuild
	tools/packaging/rpm

dist: ## the release tarball, build/dist/dm-david-VERSION.tar.xz: the same bytes each time
	tools/packaging/dist

packages-test: ## the packages installed, booted twice, upgraded, purged in clean Debian 12 and 13; root; 45 minutes
	tests/system/packages/run $(if $(SUITE),--suite $(SUITE))

packages-lab-test: ## tarball, `make deb`, `apt install`, `david bench` in bare Debian 12 and 13, without git; root; half an hour
	tests/system/packages/lab $(if $(SUITE),--suite $(SUITE))

image-test: ## examples/Containerfile, line by line in a bare root, then examples/workflow.yml there; after `make deb`; root; 15 minutes
	tests/system/packages/image

bare-test: ## README's two commands in bare roots of Debian 12 and 13, nothing cached; root; hours
	tests/system/bare $(if $(SUITE),--suite $(SUITE))

demo: setup ## a 1 TB ext4 disk on 128 MB of RAM, in a lab machine, with figures at the end
	tools/demo

check: setup ## the tests of every day, 15 minutes, and 25 more the first time; long ones have targets of their own
	@tests/check --daily

land: setup ## all tests of `make check` and those that it leaves out, 20 minutes: before work lands
	@tests/check

bench: setup ## instructions per request beside dm-linear, dm-zero, brd and null_blk
	tests/bench/run

figure4: setup ## the paper's figure 4: what waits unclassified while a large file is made; 5 minutes
	@mkdir -p build/figure4
	$(DAVID) lab run --kind uml --memory 3G --timeout 1800 --rw build/figure4 -- \
		python3 tests/bench/figure4 measure build/figure4/figure4.csv
	cp build/figure4/figure4.csv docs/drawings/figure4.csv
	tests/bench/figure4 draw docs/drawings/figure4.csv docs/drawings/figure4.svg

write-cliff: sim ## an SSD of 1 TB before and after collection begins: 200 million writes; 5 minutes
	tests/bench/write-cliff measure docs/drawings/write-cliff.csv
	tests/bench/write-cliff draw docs/drawings/write-cliff.csv docs/drawings/write-cliff.svg

overwrites: setup sim ## a database on an SSD of 1 TB, 2 million overwrites through ext4 and xfs, as david-sim has it; 15 minutes, 6 GB
	@mkdir -p build/overwrites
	$(DAVID) lab run --kind uml --virtual-time --memory 1500M --timeout 7200 --rw build/overwrites -- \
		python3 tests/bench/overwrites measure $(CURDIR)/build/overwrites
	tests/bench/overwrites compare build/overwrites

DRIVES = samsung-pm883 micron-7300-pro samsung-970-pro optane-p4800x
PATHS = raw ext4 xfs
SPAN = 64G
WRITTEN_LAB = $(DAVID) lab run --kind uml --virtual-time --memory 2G --timeout 7200 -- python3 tests/bench/written-ssds
written-ssds: setup sim ## reads of 64 GiB that SSDs were written, live and by david-sim; a planted bug; DRIVES=samsung-pm883, PATHS=xfs, SPAN=1G
	for drive in $(DRIVES); do for path in $(PATHS); do \
		$(WRITTEN_LAB) --span $(SPAN) --path $$path $$drive || exit 1; done; done
	DAVID_PLANT=1 $(WRITTEN_LAB) --span 1G --planted

cpu-share: setup ## what classification costs of a metadata-heavy run, of the kernel's CPU time; 2 minutes
	$(DAVID) lab run --kind uml --memory 3G --timeout 900 -- python3 tests/bench/cpu-share

bench-cpus: setup ## requests a second with two CPUs beside one; 3 minutes, on a machine with nothing else to do
	tests/bench/cpus

lateness: setup ## how late a fake NVMe drive delivers, where one instruction is a nanosecond; then with a planted bug; 5 minutes
	tests/bench/lateness
	tests/bench/lateness --planted

bench-content: ## made-up content, checksums and forging beside copying a page, in user space
	@mkdir -p build/bench
	$(CC) -O2 -Wall -Wextra -o build/bench/content-bench tests/bench/content-bench.c \
		$(patsubst %,dm-david/lib/%.c,content pangrams crcforge filecontent) dm-david/portable/crc.c
	build/bench/content-bench time

bench-files: setup ## lookups among RAW rules; files read by format and written with rules, in uml
	@mkdir -p build/bench
	$(CC) -O2 -Wall -Wextra -o build/bench/raw-bench tests/bench/raw-bench.c dm-david/lib/rawset.c
	build/bench/raw-bench time
	$(DAVID) lab run --kind uml --timeout 600 -- python3 tests/bench/files

mq-orders: setup ## in what order Linux sends requests to a disk, recorded anew in the vm lab, with nothing else to do; 5 minutes
	$(DAVID) lab run --kind vm --kernel newest --cpus 1 --timeout 900 --rw tests/unit/orders -- \
		python3 tests/system/mq_record.py $(CURDIR)/tests/unit/orders
	$(DAVID) lab run --kind vm --kernel newest --cpus 2 --timeout 900 --rw tests/unit/orders -- \
		python3 tests/system/mq_record.py $(CURDIR)/tests/unit/orders
	$(MAKE) unit TEST=mq-orders

trace-cost: setup ## what a traced call costs, beside strace with and without its filter; a minute
	$(MAKE) -s -C tools/trace
	$(MAKE) -s -C tools/trace/bpf
	tests/bench/trace-cost

trace-test: setup ## david trace at full length: importers fuzzed, strace with all options, real programs
	@tools/setup traced
	DAVID_SCALE=full $(VENV)/bin/pytest $(patsubst %,tests/system/test_%.py,trace odd_cases trace_odd trace_bpf trace_control trace_import trace_report trace_uring strace_corpus real_programs)

replay-test: setup ## david replay at full length: 100 shuffles of each case of order, 1,000 random traces, real programs
	@tools/setup traced
	DAVID_SCALE=full $(VENV)/bin/pytest tests/system/test_replay.py

REPLAY_LAB = $(DAVID) lab run --kind uml --virtual-time --memory 1500M --timeout 7200 --rw build/replay -- python3
replay-matrix: setup programs ## replays in virtual time beside the programs' own clocks; 15 minutes
	@mkdir -p build/replay
	$(REPLAY_LAB) tests/bench/replay-matrix $(CURDIR)/build/replay 5000 5 2

replay-matrix-full: setup programs ## the same with 1 to 4 threads, 10 captures and 10 replays of each; four hours
	@mkdir -p build/replay
	$(REPLAY_LAB:7200=36000) tests/bench/replay-matrix $(CURDIR)/build/replay 5000 10 10 1 2 3 4

replay-targets: setup programs ## traces of one disk replayed on seven others; overlap; a planted delay; 20 minutes
	@tools/setup traced
	@mkdir -p build/replay
	for what in planted overlap targets; do \
		$(REPLAY_LAB) tests/bench/replay-targets $$what $(CURDIR)/build/replay || exit 1; done

replay-sizes: setup programs ## what compiled traces take, and how fast they are replayed; 2 minutes
	@tools/setup traced
	tests/bench/replay-sizes

sweep-test: setup ## david bench on one worker, on two, on a scheduler's, killed; its page in Chromium
	@tools/setup bench
	@tools/setup browser
	tests/bench/sweep
	DAVID_SCALE=full $(VENV)/bin/pytest tests/system/test_pages.py

repeat-test: setup ## 24 runs of david bench as you call it, and elsewhere, by another user, beside other work and apt: the same bytes; as root, 10 minutes
	@tools/setup repeats
	tests/bench/repeats
	DAVID_SCALE=full $(VENV)/bin/pytest tests/system/test_repeats.py

bench-arrays: setup sim ## arrays of david bench beside david-sim's: five levels, 5,000 requests; half an hour
	tests/bench/arrays

sweep-60: setup ## a sweep of 60 runs on two workers, whole, and killed three times; 15 minutes
	@tools/setup bench
	tests/bench/sweep --sixty

paper: setup ## the evaluation of David's paper, all of it, into docs/PAPER.md; a night, or the rest of one
	$(DAVID) bench paper --output build/paper.result || [ $$? = 2 ]
	$(DAVID) report build/paper.result --files docs || [ $$? = 2 ]

paper-test: setup ## the same in its quick form, ten minutes; its page in Chromium
	@tools/setup bench
	@tools/setup browser
	tests/bench/paper

calibrate-test: setup sim ## does a calibrated disk give its own profile back? all of them modelled, and through the kernel in virtual time; 7 minutes
	tests/system/calibrated.py
	tests/system/fiofits.py --all
	tests/system/fiofits.py --all --more
	DAVID_SCALE=full DAVID_CALIBRATED="$(PROFILES)" \
		$(DAVID) lab run --kind uml --virtual-time --memory 3G --timeout 3600 -- \
		python3 tests/system/caserun.py 'vcalibrate.*'

commands-hunt: setup programs ## command lines drawn from the parsers, hostile words, odd surroundings; COUNT=5000, FIRST=1; 15 minutes
	tests/system/commandlines_hunt.py --first $(or $(FIRST),1) --count $(or $(COUNT),5000)

.PHONY: commands-hunt replay-test replay-matrix replay-matrix-full replay-targets replay-sizes sweep-60 bench-arrays paper paper-test

validate: sim ## everyday jobs on every profile against what they should come to; random jobs against physics
	$(DAVID) profile validate

worth: sim ## writes profiles/evidence/worth.csv anew: what the model makes of each figure of a real drive
	$(DAVID) profile worth --write

left-out: sim ## makes a profile of each measured drive's data sheet, without the drive, and holds it: made.csv anew
	tests/bench/left-out --write

goals: sim ## how far the modelled times are from what was asked of them; status 3: one is missed
	tests/bench/goals

results: setup sim ## measures anew what docs/results has, as far as minutes and no lab suffice; NAMES="goals disksim"
	nice tests/bench/results $(NAMES)

physics: sim ## 10,000 random jobs for every profile against what no disk breaks; SEED=1
	$(DAVID) profile validate --physics-only --jobs 10000 --seed $(or $(SEED),1)

files: ## prints what each source file says of itself
	@tools/files

DRAWINGS = $(patsubst %,docs/drawings/%.svg,overview rooms tools write)
drawings: ## the drawings of docs/, from their text
	@tools/setup drawings
	$(MAKE) --no-print-directory $(DRAWINGS)

docs/drawings/%.svg: docs/drawings/%.dot
	dot -Tsvg -o $@ $<

docs/drawings/%.svg: docs/drawings/%.msc
	mscgen -T svg -i $< -o $@

setup: ## packages and Python tools; other targets do this by themselves
	@tools/setup

modules: sparse modules-6.1 modules-6.12 modules-newest modules-uml ## the module for every lab, warnings are errors

modules-6.1 modules-6.12 modules-newest: modules-%: setup ## of these, the one for a stock kernel
	@$(DAVID) lab module --kind vm --kernel $*

modules-uml: setup ## of these, the two for User Mode Linux
	@$(DAVID) lab module --kind uml --kernel 6.12
	@$(DAVID) lab module --kind uml --kernel newest

sparse: setup ## sparse over the module's sources, with each kernel's headers
	@$(DAVID) lab module --kind vm --kernel 6.1 --sparse
	@$(DAVID) lab module --kind vm --kernel 6.12 --sparse
	@$(DAVID) lab module --kind vm --kernel newest --sparse

lint: setup ## checkpatch --strict, ruff and mypy; the includes between rooms, and what documents speak of
	@tools/setup lint
	@tools/lint

unit: setup ## unit tests of the portable sources, in user space under sanitizers; TEST=rangetable
	$(MAKE) -j$(CPUS) -C tests/unit

fuzz: setup ## fuzzers of the parsers of what stands on disks, a second each; FUZZ_SECONDS=60
	$(MAKE) -j$(CPUS) -C tests/fuzz

kunit: setup ## the same as KUnit, in the uml lab; TEST=rangetable
	tests/kunit/run $(TEST)

system: setup sim ## system tests, in both labs; CASES='store.*': of these only, in the uml lab
	@$(MAKE) -s -C tools/store # in a lab nothing can be built in the tree
	$(if $(CASES),$(DAVID) lab run --kind uml --timeout 3600 -- python3 tests/system/caserun.py $(CASES),\
		$(VENV)/bin/pytest tests/system)

TRACES = $(addprefix tests/system/test_,trace*.py replay.py programs.py real_programs.py strace*.py foreign.py inputs.py compare.py)
commands: setup sim ## of the system tests those of commands, but for `traces`, which wait for no lab of pytest's
	$(VENV)/bin/pytest -m "not lab" $(filter-out $(wildcard $(TRACES)),$(wildcard tests/system/test_*.py))

traces: setup sim ## of the tests of commands those of traces: recorded, imported, replayed
	$(VENV)/bin/pytest -m "not lab" $(wildcard $(TRACES))

labs: setup sim ## of the system tests those whose lab pytest starts, three at a time
	DAVID_LABS=3 $(VENV)/bin/pytest -m lab tests/system

stock: setup sim ## all that concerns Debian's stock kernels 6.1, 6.12 and newest, in the vm lab; 6.12 with one CPU
	DAVID_STOCK=1 $(VENV)/bin/pytest tests/system/test_device.py tests/system/test_filesystems.py -k "vm- or one_cpu"

powercut: setup ## power cuts at thousands of places, hours; then bugs planted to be found by that
	DAVID_SCALE=full $(DAVID) lab run --kind uml --memory 4G --timeout 20000 -- python3 tests/system/caserun.py 'powercut.*'
	DAVID_SCALE=full $(DAVID) lab run --kind uml --memory 4G --timeout 20000 -- python3 tests/system/caserun.py 'poolcuts.*' 'fullmirror.*'
	DAVID_PLANT=1 DAVID_SCALE=full $(DAVID) lab run --kind uml --timeout 1000 -- python3 tests/system/caserun.py --planted

POOL_SEEDS ?= 1-10
pool-cuts: setup ## power cuts of a pool that three file systems share, 100 of each life: POOL_SEEDS=1-10, a life each; then bugs to be found
	@$(MAKE) -s -C tools/store
	$(DAVID) lab run --kind uml --memory 1500M --timeout 20000 -- python3 tests/system/poolcuts.py --seeds $(POOL_SEEDS)
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --memory 1500M --timeout 7200 -- \
		python3 tests/system/caserun.py poolcuts.what_a_pool_with_file_systems_loses_is_found
	DAVID_SCALE=full $(DAVID) lab run --kind uml --memory 1500M --timeout 7200 -- \
		python3 tests/system/caserun.py packing.every_flushed_block_survives_a_power_cut_while_it_is_packed

ZONE_SEEDS ?= 200-203
zone-cuts: setup ## power cuts of btrfs (or ZONE_FS=f2fs) on zones (or ZONE_ON="zones disk plain"), 50 of each life: ZONE_SEEDS=200-203
	$(DAVID) lab run --kind uml --memory 1500M --timeout 7200 -- python3 tests/system/zonecuts.py --seeds $(ZONE_SEEDS) \
		--fs $(or $(ZONE_FS),btrfs) --on $(or $(ZONE_ON),zones)

ZONE_CASES = zoned.* zoneddisks.* zonedgroup.* zonedfs.*
zones-planted: setup ## the bugs that tests of zones have to find, one planted in each; `make unit` has those of the model
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --memory 2G --timeout 3600 -- python3 tests/system/caserun.py \
		--planted $(ZONE_CASES:%='%')
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --virtual-time --memory 2G --timeout 1200 -- \
		python3 tests/system/caserun.py --planted 'vzoned.*'

# Of ZBD_SHAPES that tests/system/fiozbd.py --help lists.
ZBD_SHAPES = capacity-conventional
FIO_VERSION = $$(dpkg-query -W -f '$${source:Version}' fio)
FIO_ZBD = $${XDG_CACHE_HOME:-$$HOME/.cache}/dm-david/fio-$(FIO_VERSION)/t/zbd
zbd-test: setup ## fio's own tests of zones on a fake disk and on null_blk: ZBD_SHAPES="sequential open"; then a bug to be found
	@tools/setup zbd
	$(DAVID) lab run --kind uml --memory 2G --timeout 14400 -- python3 tests/system/fiozbd.py \
		--tests "$(FIO_ZBD)" --shapes $(ZBD_SHAPES)
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --memory 2G --timeout 3600 -- python3 tests/system/fiozbd.py \
		--tests "$(FIO_ZBD)" --planted

zones-large: setup ## file systems on drives with zones as large as they are sold, some minutes each
	$(DAVID) lab run --kind uml --memory 9G --timeout 7200 -- python3 tests/system/caserun.py 'zonedlarge.*'

zones-xfs: setup ## xfs on zones, also of 4 TB, on the newest kernel, with xfsprogs of Debian's newest suite in a directory of their own; then bugs to be found
	tests/system/newerprograms.py
	$(DAVID) lab run --kind uml --kernel newest --memory 4G --timeout 3600 -- python3 tests/system/caserun.py 'zonedxfs.*'
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --kernel newest --memory 4G --timeout 3600 -- \
		python3 tests/system/caserun.py --planted 'zonedxfs.*'

check-debug: setup sim ## the uml lab's system tests on a kernel with KASAN, lockdep and kmemleak
	DAVID_DEBUG=1 $(VENV)/bin/pytest \
		$(patsubst %,tests/system/test_%.py,device filesystems trials selfid)

HUNTED = ext2 ext2-1k ext2-crash ext4-nojournal ext4-nojournal-old ext4-nojournal-resize ext4-nojournal-bigalloc \
	 ext4-data ext4-data-crash ext3-data ext4-verity ext4-features
HUNTED_SELFID = btrfs btrfs-4k btrfs-64k btrfs-mixed btrfs-crash btrfs-resize xfs xfs-crash \
		xfs-dir8k xfs-dir64k xfs-quota
hunt: setup ## recorded lives classified from many beginnings and cut at many ends; SECONDS=600
	@mkdir -p build/hunt
	$(MAKE) -s -C tools/classify
	$(DAVID) lab run --kind uml --memory 1G --timeout 3600 --rw build/hunt -- \
		python3 tests/system/stream_record.py build/hunt $(HUNTED)
	python3 tests/system/stream_hunt.py --seconds $(or $(SECONDS),600) build/hunt $(HUNTED)
	$(DAVID) lab run --kind uml --memory 4G --timeout 3600 --rw build/hunt -- \
		python3 tests/system/selfid_record.py --directory build/hunt --keep $(HUNTED_SELFID)
	python3 tests/system/selfid_hunt.py --seconds $(or $(SECONDS),600) build/hunt
	$(MAKE) -s -C tools/classify PROGRAM=david-classify-planted CFLAGS='-O2 -g -DCLASSIFIER_PLANT'
	CLASSIFIER_PLANT=chunks python3 tests/system/selfid_hunt.py --program build/david-classify-planted --planted \
		--seconds 60 build/hunt btrfs
	CLASSIFIER_PLANT=unheard python3 tests/system/selfid_hunt.py --program build/david-classify-planted --planted \
		--seconds 60 build/hunt xfs-dir8k

programs-hunt: setup ## random programs, recorded, replayed, compared; SECONDS=600, COUNT=10000, SEED=7, KINDS="pipe exec"
	$(MAKE) -s -C tools/trace
	$(MAKE) -s -C tools/compile
	$(MAKE) -s -C tools/replay
	python3 tests/system/programs_hunt.py --seconds $(or $(SECONDS),600) $(if $(COUNT),--count $(COUNT)) \
		$(if $(SEED),--seed $(SEED)) $(if $(KINDS),--kinds $(KINDS))

real-programs: setup ## all of tests/system/real_programs.toml whose commands are here, recorded, replayed, compared; 12 minutes; NAMES="perl git"
	$(MAKE) -s -C tools/trace
	$(MAKE) -s -C tools/compile
	$(MAKE) -s -C tools/replay
	python3 tests/system/real_programs.py $(NAMES)

trials: setup ## random lives of file systems; SEEDS=200 or 17-17, FS="ext4:implicit xfs xfs-quota"
	@mkdir -p build/trials
	@printf '%s\n' $(FS) | xargs -P 2 -I{} sh -c 'log=build/trials/$$(echo {} | tr : -).log; \
		$(DAVID) lab run --kind uml --memory 1500M --timeout 36000 -- \
		python3 tests/system/trials.py --seeds $(SEEDS) {} >$$log 2>&1; status=$$?; \
		grep -a "^trials:" $$log | grep -v ": clean ("; exit $$status'

layers: setup ## who else writes to a disk: every case of tests/system/writers.toml; CASES="mirrors.*", half an hour
	$(DAVID) lab run --kind uml --memory 5G --timeout 14400 -- python3 tests/system/caserun.py $(or $(CASES),--layers)

WAYS = uml-6.12 uml-newest vm-6.1 vm-newest
ways: setup ## which pages are dropped, through which layers: tests/system/ways.toml on four kernels; half an hour
	@mkdir -p build/ways
	@rm -f build/ways/*.json
	for lab in $(WAYS); do \
		$(DAVID) lab run --kind $${lab%%-*} --kernel $${lab#*-} --memory 4G --timeout 3600 --rw build/ways -- \
			python3 tests/system/waysrun.py try $(CURDIR)/build/ways/$$lab.json || exit; done
	tests/system/waysrun.py table $(WAYS:%=build/ways/%.json)

attack: setup sim ## composed attacks: random stacks, file systems, tools, cuts, each beside its control; SEED=1, SECONDS=600 or COUNT=50
	@mkdir -p build/attack
	@$(MAKE) -s -C tools/store
	$(DAVID) lab run --kind uml --memory 4G --timeout 100000 --rw build/attack -- \
		python3 tests/system/attackrun.py attack --save $(CURDIR)/build/attack --seed $(or $(SEED),1) \
		$(if $(COUNT),--count $(COUNT),--seconds $(or $(SECONDS),600))

attack-planted: setup sim ## the same, with bugs planted to be found by that: every row of `planted` in tests/system/attack.toml
	@$(MAKE) -s -C tools/store
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --memory 4G --timeout 20000 -- python3 tests/system/caserun.py 'attacks.*'

features-planted: setup ## the bugs that lives of file systems with features have to find, one planted in each; 10 minutes
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --memory 3G --timeout 6000 -- python3 tests/system/fsrun.py --planted

trials-references: setup ## lives the references of the lives in `make check` again, and remembers what they came to
	@mkdir -p build/trials
	$(DAVID) lab run --kind uml --memory 1500M --timeout 3600 --rw build/trials -- python3 tests/system/trials.py \
		--seeds 6 --count 60 --episodes 2 --rotate --remember build/trials/references.json
	cp build/trials/references.json tests/system/trials-references.json

races: setup ## several CPUs at once, in the uml lab of the newest kernel with 2 and 4 of them; an hour
	for cpus in 4 2; do DAVID_SCALE=full $(DAVID) lab run --kind uml --kernel newest --cpus $$cpus --memory 4G \
		--timeout 6000 -- python3 tests/system/caserun.py 'races.*' 'hangs.nobody*' || exit; done

faults: setup ## 100 runs of devices that fail and a kernel without memory, on the debug kernel; 40 minutes
	DAVID_SCALE=full $(DAVID) lab run --kind uml --debug --memory 4G --timeout 7200 -- \
		python3 tests/system/caserun.py 'faults.*' 'requestfaults.*'
	DAVID_PLANT=1 $(DAVID) lab run --kind uml --debug --timeout 1200 -- \
		python3 tests/system/caserun.py 'faults.io_under*'

guest: setup ## virtual machines with kernels of their own on the fake disk, killed and recovered; 5 to 15 minutes
	@$(DAVID) lab setup vm
	$(DAVID) lab run --kind uml --memory 3G --timeout 7200 -- python3 tests/system/caserun.py 'vmguest.*'

clean: ## remove what was built here; kernels in ~/.cache/dm-david stay
	rm -rf build
	find $(wildcard dm-david model classifier tests) \( -name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \
		-o -name '.*.cmd' -o -name modules.order \) -delete
	rm -f Module.symvers modules.order .*.cmd .module-common.o dm-david/compat/found.h

.PHONY: stock land results all help module sim programs install install-tools install-module uninstall deb rpm dist packages-test packages-lab-test image-test demo check bench validate worth left-out goals physics figure4 write-cliff overwrites written-ssds lateness cpu-share hunt programs-hunt real-programs bench-cpus bench-content bench-files setup
.PHONY: modules modules-6.1 modules-6.12 modules-newest modules-uml sparse lint unit fuzz kunit system commands traces labs
.PHONY: pool-cuts zone-cuts zones-xfs zones-planted zones-large zbd-test attack attack-planted features-planted ways files mq-orders calibrate-test trace-cost trace-test sweep-test repeat-test drawings powercut check-debug trials layers trials-references races faults guest clean
.NOTPARALLEL:

endif
