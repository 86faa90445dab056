/* SPDX-License-Identifier: MIT */
/* Reaches formats/source.h with the bytes of a file, plain or packed, as lines. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/source.h"
#include "tests/fuzz/fuzz.h"

#define LINE_MAX_LEN 256

/* A few bytes may unpack to gigabytes. */
#define LINES_MOST 1000

static char path[32];

/* A file of no directory, for what wants a path. */
static void put_file(const uint8_t *data, size_t size)
{
	static int fd = -1;
	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		REQUIRE(fd >= 0);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	REQUIRE(ftruncate(fd, 0) == 0);
	REQUIRE(pwrite(fd, data, size, 0) == (ssize_t)size);
}

static void read_lines(size_t size)
{
	const struct chi_source_options options = {.line_max = LINE_MAX_LEN};
	struct chi_source *source = NULL;
	struct chi_fault fault = {.text = ""};
	const char *line = NULL;
	size_t len = 0;
	REQUIRE(chi_source_open(path, &options, &source, &fault) == CHI_OK);
	REQUIRE(chi_source_bytes_total(source) == size);
	for (uint64_t i = 1; i <= LINES_MOST; i++) {
		int status = chi_source_line(source, &line, &len, &fault);
		if (status == CHI_NONE) {
			break;
		}
		REQUIRE(chi_source_line_number(source) == i);
		if (status == CHI_OK) {
			REQUIRE(len <= LINE_MAX_LEN && memchr(line, '\n', len) == NULL);
		} else {
			REQUIRE(fault.text[0] != '\0');
		}
		if (status < 0 && status != -CHI_ETOOBIG) {
			break;
		}
	}
	REQUIRE(chi_source_bytes_read(source) <= size);
	chi_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	put_file(data, size);
	read_lines(size);
	return 0;
}
