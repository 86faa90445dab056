/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/fault.h"
#include "base/library.h"
#include "tests/base/cases.h"

#define CALLS(CALL) CALL(strlen) CALL(labs)

static struct {
	CALLS(CHI_LIBRARY_MEMBER)
} calls;

static const char *const names[] = {CALLS(CHI_LIBRARY_NAME)};
static const char *const later[] = {"strlen", "strlen_of_later"};

static struct chi_library make(const char *file, const char *const *of)
{
	return (struct chi_library){file, "text needs lengths (package len1)", of, 2, &calls,
				    false};
}

CASE(each_name_leads_to_its_function)
{
	struct chi_library library = make("libc.so.6", names);
	struct chi_fault fault = {0};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(chi_library_load(&library, &fault), CHI_OK);
		assert_int_equal(calls.strlen("four"), 4);
		assert_int_equal(calls.labs(-5), 5);
	}
}

CASE(a_library_that_is_missing_is_named)
{
	struct chi_library library = make("libnowhere.so.7", names);
	struct chi_fault fault = {0};
	/* It may be installed meanwhile. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(chi_library_load(&library, &fault), -CHI_EUNSUPPORTED);
		assert_non_null(strstr(fault.text, "text needs lengths (package len1)"));
		assert_non_null(strstr(fault.text, "libnowhere.so.7"));
	}
	library.file = "libc.so.6";
	assert_int_equal(chi_library_load(&library, &fault), CHI_OK);
}

CASE(a_library_without_a_function_is_too_old)
{
	struct chi_library library = make("libc.so.6", later);
	struct chi_fault fault = {0};
	assert_int_equal(chi_library_load(&library, &fault), -CHI_EUNSUPPORTED);
	assert_string_equal(fault.text,
			    "text needs lengths (package len1): libc.so.6 is too old, it "
			    "has no strlen_of_later");
	assert_false(library.loaded);
}
