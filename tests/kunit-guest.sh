#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loading the module runs its KUnit suites; their results go to the log.
set -eu

# Only pages that may be migrated are freed with their locks, on which the cases
# that migrate pages rely.
insmod "$ZRAM_KO" num_devices=0 page_migration=1
cat /sys/kernel/debug/kunit/*/results >/run/vm/kunit.tap
rmmod zram
