/* SPDX-License-Identifier: MIT */
/* Reaches base/num.h and the varint of base/wire.h with one text: what is accepted must print
 * back to something that is accepted as the same value. */
#include <string.h>
#include <strings.h>

#include "base/attr.h"
#include "base/num.h"
#include "base/wire.h"
#include "tests/fuzz/fuzz.h"

static void check_numbers(const char *text, size_t len)
{
	char printed[32];
	uint64_t u = 0;
	uint64_t again = 0;
	int64_t i = 0;
	if (chi_num_u64(text, len, UINT64_MAX, &u) == CHI_OK) {
		int n = snprintf(printed, sizeof(printed), "%llu", (unsigned long long)u);
		REQUIRE(chi_num_u64(printed, (size_t)n, u, &again) == CHI_OK && again == u);
		/* Whatever is a plain number is also a number with an optional sign, and a size. */
		REQUIRE(u > INT64_MAX ||
			(chi_num_i64(text, len, INT64_MAX, &i) == CHI_OK && (uint64_t)i == u));
		REQUIRE(chi_num_size(text, len, &again) == CHI_OK && again == u);
	}
	if (chi_num_i64(text, len, 1000, &i) == CHI_OK) {
		REQUIRE(i >= -1000 && i <= 1000);
	}
	if (chi_num_size(text, len, &u) == CHI_OK) {
		REQUIRE(len > 0);
	}
}

static void check_chi2(const char *text, size_t len)
{
	char printed[CHI_CHI2_TEXT_SIZE];
	uint16_t value = 0;
	uint16_t again = 0;
	if (chi_chi2_parse(text, len, &value) != CHI_OK) {
		return;
	}
	REQUIRE(value <= CHI_CHI2_MAX);
	size_t n = chi_chi2_print(value, printed);
	REQUIRE(n < sizeof(printed) && printed[n] == '\0');
	REQUIRE(chi_chi2_parse(printed, n, &again) == CHI_OK && again == value);
}

static void check_hex(const char *text, size_t len)
{
	_cleanup_(chi_freep) uint8_t *bytes = malloc(len / 2 + 1);
	_cleanup_(chi_freep) char *printed = malloc(len + 1);
	REQUIRE(bytes != NULL && printed != NULL);
	if (chi_hex_parse(text, len, bytes) == CHI_OK) {
		chi_hex_print(bytes, len / 2, printed);
		REQUIRE(strlen(printed) == len && strncasecmp(printed, text, len) == 0);
	}
}

static void check_varints(const uint8_t *data, size_t size)
{
	struct chi_reader r = chi_reader_of(data, size);
	while (chi_reader_left(&r) > 0) {
		uint8_t again[10];
		const uint8_t *start = r.at;
		uint64_t value = chi_read_varint(&r);
		if (r.bad) {
			break;
		}
		struct chi_writer w = chi_writer_of(again, sizeof(again));
		chi_write_varint(&w, value);
		REQUIRE(!w.bad && w.at - again == r.at - start);
		REQUIRE(memcmp(again, start, (size_t)(r.at - start)) == 0);
		REQUIRE(chi_varint_size(value) == (size_t)(r.at - start));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	check_numbers(text, size);
	check_chi2(text, size);
	check_hex(text, size);
	check_varints(data, size);
	/* Two well-formed halves make a well-formed whole. */
	if (chi_utf8_valid(text, size / 2) && chi_utf8_valid(text + size / 2, size - size / 2)) {
		REQUIRE(chi_utf8_valid(text, size));
	}
	return 0;
}
