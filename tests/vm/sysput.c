// SPDX-License-Identifier: GPL-2.0
/*
 * sysput FILE VALUE: write VALUE and a newline to FILE in one write(2) and
 * print "OK" or the name of the error. "-n" before FILE leaves the newline
 * out, "-f" asks the kernel to fail allocations during the write (see
 * Documentation/fault-injection).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report(int err)
{
	puts(err ? strerrorname_np(err) : "OK");
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	int newline = 1, inject = 0, faults = -1, err = 0;
	size_t len;
	char *buf;
	ssize_t n;
	int opt, fd;

	while ((opt = getopt(argc, argv, "+nf")) > 0) {
		if (opt == 'n')
			newline = 0;
		else if (opt == 'f')
			inject = 1;
		else
			return 2;
	}
	if (argc - optind != 2)
		return 2;
	len = strlen(argv[optind + 1]);
	buf = malloc(len + 1);
	if (!buf)
		return 2;
	memcpy(buf, argv[optind + 1], len);
	if (newline)
		buf[len++] = '\n';
	if (inject) {
		faults = open("/proc/self/make-it-fail", O_WRONLY);
		if (faults < 0)
			return 2;
	}

	fd = open(argv[optind], O_WRONLY);
	if (fd < 0)
		return report(errno);
	if (inject && write(faults, "1", 1) != 1)
		return 2;
	n = write(fd, buf, len);
	if (n != (ssize_t)len)
		err = n < 0 ? errno : EIO;
	while (inject && write(faults, "0", 1) != 1)
		;	/* it may fail, too */
	return report(err);
}
