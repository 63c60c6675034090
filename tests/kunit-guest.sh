#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Loading the module runs its KUnit suites; their results go to the log.
set -eu

insmod "$ZRAM_KO" num_devices=0
cat /sys/kernel/debug/kunit/*/results >/run/vm/kunit.tap
rmmod zram
