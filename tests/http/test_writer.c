/* SPDX-License-Identifier: MIT */
/* JSON as it is written, read again by another library. */
#include <string.h>

#include <jansson.h>

#include "http/net/writer.h"
#include "tests/base/cases.h"

static void assert_written(struct writer *w, const char *wanted)
{
	json_error_t error;
	assert_false(w->failed);
	assert_int_equal(w->buffer.len, strlen(wanted));
	assert_memory_equal(chi_buffer_bytes(&w->buffer), wanted, w->buffer.len);
	json_t *read = json_loadb(wanted, strlen(wanted), JSON_DECODE_ANY, &error);
	assert_non_null(read);
	json_decref(read);
	out_reset(w);
}

CASE(test_values)
{
	struct writer w;
	out_init(&w, 1000);
	out_object(&w, NULL);
	out_number(&w, "n", INT64_MAX);
	out_integer(&w, "i", -5);
	out_array(&w, "a");
	out_end(&w, ']');
	out_array(&w, "b");
	out_bool(&w, NULL, true);
	out_null(&w, NULL);
	out_object(&w, NULL);
	out_end(&w, '}');
	out_end(&w, ']');
	out_text(&w, "t", NULL);
	out_end(&w, '}');
	assert_written(&w, "{\"n\":9223372036854775807,\"i\":-5,\"a\":[],\"b\":[true,null,{}],"
			   "\"t\":null}");
	out_deinit(&w);
}

CASE(test_reals)
{
	struct writer w;
	out_init(&w, 1000);
	out_array(&w, NULL);
	out_real(&w, NULL, 76.0, 2);
	out_real(&w, NULL, 9.01, 2);
	out_real(&w, NULL, 52.5, 4);
	out_real(&w, NULL, 100, 0);
	out_end(&w, ']');
	assert_written(&w, "[76,9.01,52.5,100]");
	out_deinit(&w);
}

/* What comes from outside never ends a string, and is never text that is none. */
CASE(test_texts)
{
	struct writer w;
	out_init(&w, 1000);
	out_text(&w, NULL, "a\"b\\c\n\x01\xc3\xa9");
	assert_written(&w, "\"a\\\"b\\\\c\\u000a\\u0001\xc3\xa9\"");
	out_text(&w, NULL, "a\xff\"\x01z");
	assert_written(&w, "\"a???z\"");
	out_deinit(&w);
}

CASE(test_the_limit_stays)
{
	struct writer w;
	out_init(&w, 5);
	out_raw(&w, "123456");
	assert_true(w.failed);
	out_raw(&w, "1");
	assert_int_equal(w.buffer.len, 0);
	out_reset(&w);
	out_raw(&w, "1");
	assert_written(&w, "1");
	out_deinit(&w);
}
