// SPDX-License-Identifier: GPL-2.0
/*
 * sysput FILE VALUE: write VALUE and a newline to FILE in one write(2) and
 * print "OK" or the name of the error. "-n" before FILE leaves the newline
 * out, "-x COUNT" repeats VALUE COUNT times first.
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
	size_t len = 0, times = 1, newline = 1, unit;
	char *buf;
	ssize_t n;
	int opt, fd;

	while ((opt = getopt(argc, argv, "+nx:")) > 0) {
		if (opt == 'n')
			newline = 0;
		else if (opt == 'x')
			times = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	if (argc - optind != 2)
		return 2;
	unit = strlen(argv[optind + 1]);
	buf = malloc(unit * times + 1);
	if (!buf)
		return 2;
	for (; times; times--, len += unit)
		memcpy(buf + len, argv[optind + 1], unit);
	if (newline)
		buf[len++] = '\n';

	fd = open(argv[optind], O_WRONLY);
	if (fd < 0)
		return report(errno);
	n = write(fd, buf, len);
	if (n < 0)
		return report(errno);
	return report(n == (ssize_t)len ? 0 : EIO);
}
