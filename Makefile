# SPDX-License-Identifier: GPL-2.0
#
# zram.ko: a compressed block device in RAM.
#
#   make             build zram.ko for the running kernel
#   make demo        see it work, in a virtual machine
#   make check       test it, in virtual machines
#   make help        everything else
#
# KVER=6.1, 6.12 or 7 builds for one of the kernels that the tests run on,
# KDIR=<folder> for any other.

ifneq ($(KVER),)
KDIR := $(shell scripts/kernel.sh path $(KVER))
endif
VERSION := 0.1
KDIR ?= /lib/modules/$(shell uname -r)/build

# Each kernel has a folder of its own, so that one build leaves the others be.
KREL = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
         $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
NAME = $(if $(KREL),$(KREL),unknown)$(if $(ZRAM_KUNIT),-kunit)
OUT = $(CURDIR)/build/$(NAME)
UML = $(shell grep -qs '^CONFIG_UML=y' $(KDIR)/.config && echo ARCH=um)

.PHONY: all modules clean help load unload install dkms-install demo check
.PHONY: check-kunit check-6.1 check-uml check-builds check-6.12
BENCH_TARGETS = bench-driver bench-streams bench-teardown bench-scale bench-walker \
                bench-allocator bench-instructions bench-exit
.PHONY: mutants bench $(BENCH_TARGETS) lint format kernels setup setup-bench

all: modules

modules:
	@test -e $(KDIR)/Makefile || { \
	  echo "No headers for the running kernel: install" \
	       "linux-headers-$$(uname -r), or choose a kernel with KDIR= or" \
	       "KVER= (make help)"; exit 1; }
	@scripts/mirror.sh $(OUT)
	@flock $(OUT) $(MAKE) --no-print-directory -C $(KDIR) M=$(OUT) $(UML) \
	  CONFIG_DEBUG_INFO_BTF_MODULES= $(if $(ZRAM_KUNIT),ZRAM_KUNIT=1) modules
	@$(if $(KVER)$(ZRAM_KUNIT),:,cp $(OUT)/zram.ko .)
	@echo "built $(OUT:$(CURDIR)/%=%)/zram.ko"

clean:
	rm -rf build zram.ko

help:
	@scripts/help.sh

load:
	@scripts/load.sh check_free
	@$(MAKE) --no-print-directory modules
	@scripts/load.sh load $(OUT)/zram.ko

unload:
	@scripts/load.sh unload

install: modules
	install -D -m 644 $(OUT)/zram.ko \
	  $(DESTDIR)/lib/modules/$(KREL)/updates/zram.ko
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KREL)

dkms-install:
	dkms add . && dkms install zram-oot/$(VERSION)

setup:
	@scripts/setup.sh

kernels: setup
	@scripts/kernel.sh fetch

demo: setup
	@scripts/demo.sh

check: setup
	@tests/run.sh

check-kunit check-6.1 check-uml check-builds check-6.12: setup
	@tests/run.sh $(@:check-%=%)

mutants: setup
	@tests/mutate.sh

setup-bench:
	@scripts/setup.sh bench

$(BENCH_TARGETS): setup-bench
	@scripts/bench/$(@:bench-%=%).sh

bench: setup-bench
	@scripts/bench/all.sh

lint: setup
	@scripts/lint.sh

format:
	@scripts/format.sh
