#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# needs: cpus=2 mem=1G uml=yes qemu=yes timeout=180
#
# fio writes, reads back and verifies checksums: sizes, depth and content mixed.

# shellcheck source=tests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
begin num_devices=1

size=$((8 * TEST_SCALE))

# job NAME OPTION...
job() {
	local name=$1

	shift
	check "fio: $name" fio --name="$name" --filename=/dev/zram0 --thread \
		--size=${size}M --randseed="$TEST_SEED" --verify=crc32c \
		--verify_fatal=1 --do_verify=1 --direct=1 --minimal \
		--output=/dev/null "$@"
}

for algorithm in $(algorithms zram0); do
	setup zram0 $((size * 2))M "$algorithm"
	job "$algorithm-sequential" --rw=write --bs=128k --ioengine=psync \
		--refill_buffers --buffer_compress_percentage=60
	job "$algorithm-random" --rw=randwrite --bsrange=4k-64k --blockalign=4k \
		--ioengine=libaio --iodepth=16 --refill_buffers \
		--buffer_compress_percentage=30 --buffer_compress_chunk=4k
	at_least "$algorithm: data is stored" "$(orig_data zram0)" $((size * 524288))
	is "$algorithm: no failed write" "$(failed_writes zram0)" 0
	reset zram0
done

setup zram0 $((size * 2))M
job "four-jobs" --rw=randwrite --bs=4k --ioengine=psync --numjobs=4 \
	--size=$((size / 4))M --offset_increment=$((size / 4))M --refill_buffers \
	--buffer_compress_percentage=50
job "write-and-trim" --rw=randtrimwrite --bs=4k --ioengine=psync --size=4M
job "page-cache" --rw=randrw --bsrange=512-32k --bs_unaligned --direct=0 \
	--ioengine=psync --fsync_on_close=1 --refill_buffers --size=4M

finish
