#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
cat <<'EOF'
Build
  make                 zram.ko for the running kernel
  make KVER=6.1        for Debian 12's kernel          (also 6.12)
  make KVER=7          for User Mode Linux, the newest kernel
  make KDIR=FOLDER     for the kernel with these headers
  make ZRAM_KUNIT=1    with the KUnit suites inside (and KVER=7 to run them)
  make install         to /lib/modules (DESTDIR=FOLDER in front)
  make dkms-install    have DKMS build it for every kernel
  make clean           remove all that was built

Use on this machine, as root
  make load            load the codec libraries and the module
  make unload          remove the module

Try and test, in virtual machines
  make demo            compressed swap and a scratch file system, five minutes
  make check           all tests; ends with "N passed, N failed"
  make check-kunit     KUnit suites: User Mode Linux, KASAN, lockdep
  make check-6.1       functional tests on Debian 12's kernel
  make check-uml       functional tests on the debug kernel, with a leak scan
  make check-6.12      some functional tests on 6.12
  make check-builds    all kernels, no warning allowed
     TESTS=PATTERN     only the functional tests whose names match
     TEST_SEED=N       the random numbers of an earlier run
  make mutants         break the driver on purpose: the tests must notice
  make lint            checkpatch, sparse, shellcheck, W=1, house rules

Measure, this driver and the kernel's own in turn, in virtual machines
  make bench           the next five; pages and pictures to docs/benchmarks
  make bench-streams   fio: streams per CPU, lists of 4 and 8
  make bench-teardown  set-up and reset, hot_add and hot_remove
  make bench-scale     file operations and git diff, 1 to 64 at once
  make bench-walker    swap: time per page, and where it goes
  make bench-allocator fs_mark and a kernel build; locks of the allocator
  make bench-driver    time per page, both drivers and the bare codec
  make bench-instructions   the same in instructions, on an emulated processor
  make bench-exit      processes that exit with all their memory in swap
     QUICK=1           some minutes each, to build/bench only
     ROUNDS=N ...      scales: scripts/bench/NAME.sh begins with them all
     CORPUS=packages   data from Debian packages, not from this memory

Set-up, done by the above as needed
  make setup           install missing Debian packages
  make kernels         fetch and build the test kernels, to ~/.cache/zram-oot
  make format          clang-format with the kernel's style
EOF
