# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What a driver's device takes of the machine's memory: sourced by
# driver-guest.sh, after guest-lib.sh.
#
#   memory_before                 before the device is set up
#   memory_after ours lz4         leaves a result
#
# mm_stat tells of the pages of the pool only. The rest is looked up where the
# kernel keeps account of it, the same for both drivers, as the difference of
# both moments:
#
#   slab     pages of the kmalloc caches, of zsmalloc's own (slab_nomerge keeps
#            others out of these), and of kmallocs too large for a cache
#   objects  bytes of the objects in them: more than the pages where objects
#            went to places that others had left; the larger one counts
#   table    /proc/vmallocinfo: what the two modules have there, above all the
#            table of slots
#   free     for comparison, by how much the machine's free memory fell; pages
#            that a CPU has in hand are free
#
# Other users of the same caches come and go meanwhile.
#
# shellcheck disable=SC2034 # BEFORE and AFTER are read by name

declare -A BEFORE AFTER

# Pages that nobody needs are given back, and counters of single CPUs added up.
settle_memory() {
	local cache

	for cache in /sys/kernel/slab/{kmalloc-,zs}*/shrink; do
		[ ! -e "$cache" ] || echo 1 >"$cache" || fail "cannot shrink $cache"
	done
	echo 1 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/stat_refresh
}

# Words NAME=BYTES
read_memory() {
	awk '
	FILENAME ~ /slabinfo/ && $NF ~ /^[0-9]+$/ {
		pages = $(NF - 1) * $6
		all += pages
		if ($1 ~ /^(kmalloc-|zs)/) {
			slab += pages
			objects += $2 * $4
		}
	}
	FILENAME ~ /vmallocinfo/ && /\[(zram|zsmalloc)\]/ {
		match($0, /pages=[0-9]+/)
		table += substr($0, RSTART + 6, RLENGTH - 6)
	}
	FILENAME ~ /vmstat/ && /^nr_slab_(un)?reclaimable / { counted += $2 }
	FILENAME ~ /vmstat/ && /^nr_free_pages / { free += $2 }
	FILENAME ~ /zoneinfo/ && $1 == "count:" { free += $2 }
	END {
		print "slab=" (slab + counted - all) * 4096
		print "objects=" objects + (counted - all) * 4096
		print "table=" table * 4096
		print "free=" free * 4096
	}' /proc/slabinfo /proc/vmallocinfo /proc/vmstat /proc/zoneinfo
}

look_at_memory() { # BEFORE | AFTER
	local -n into=$1
	local word

	settle_memory
	for word in $(read_memory); do
		into[${word%%=*}]=${word#*=}
	done
}

memory_before() {
	look_at_memory BEFORE
}

grown() { # NAME
	echo $((AFTER[$1] - BEFORE[$1]))
}

memory_after() { # ours | theirs, ALGORITHM
	local pool slab objects table

	look_at_memory AFTER
	pool=$(mm_stat 3) slab=$(grown slab)
	objects=$(grown objects) table=$(grown table)
	((objects > 0 && table > 0)) || fail "$1 takes no memory beside its pool"
	result test=memory config="$1" alg="$2" unit=bytes \
		value=$((pool + (slab > objects ? slab : objects) + table)) \
		pool="$pool" slab="$slab" objects="$objects" table="$table" \
		free=$((-$(grown free))) \
		compressed="$(mm_stat 2)" stored="$(mm_stat 1)"
}
