# SPDX-License-Identifier: GPL-2.0
ifneq ($(KERNELRELEASE),)

# Kbuild's part: called with M= set to this directory, or to a copy of it.
obj-m += dm-david/
ifdef CONFIG_KUNIT
obj-m += $(if $(wildcard $(src)/tests/kunit/Kbuild $(src)/tests/kunit/Makefile),tests/kunit/)
endif

else

help:
	@echo later

endif
