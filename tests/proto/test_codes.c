/* SPDX-License-Identifier: MIT */
/* Status to wire code and back, over every status and every code there can be. */
#include <string.h>

#include "proto/msg.h"
#include "proto/pbc.h"
#include "tests/base/cases.h"

/* What the wire cannot say: the code sent, and what that comes back as. */
static int lossy_status(int error)
{
	switch (error) {
	case CHI_ENETFS:
	case CHI_EFORK:
	case CHI_ECONNECT:
		return -CHI_EINTERNAL;
	default:
		return -error;
	}
}

CASE(every_status_has_a_code)
{
	for (int error = 1; error < CHI_ERROR_COUNT; error++) {
		int code = chi_status_to_code(-error);
		assert_non_null(protobuf_c_enum_descriptor_get_value(
			&chistore__v1__code__descriptor, code));
		assert_true(code >= 10);
		assert_int_equal(chi_status_from_code(code), lossy_status(error));
	}
	assert_int_equal(chi_status_to_code(CHI_OK), CHISTORE__V1__CODE__OK);
	assert_int_equal(chi_status_to_code(CHI_NONE), CHISTORE__V1__CODE__NOT_FOUND);
	assert_int_equal(chi_status_from_code(CHISTORE__V1__CODE__OK), CHI_OK);
	assert_int_equal(chi_status_from_code(CHISTORE__V1__CODE__NOT_FOUND), CHI_NONE);
	assert_int_equal(chi_status_to_code(-CHI_ERROR_COUNT), CHISTORE__V1__CODE__INTERNAL);
}

/* Every code of the proto file is known, and goes back to itself but for UNKNOWN_OPERATION, which
 * a response carries in a field of its own. */
CASE(every_code_has_a_status)
{
	const ProtobufCEnumDescriptor *codes = &chistore__v1__code__descriptor;
	for (unsigned i = 0; i < codes->n_values; i++) {
		int code = codes->values[i].value;
		int status = chi_status_from_code(code);
		if (code == CHISTORE__V1__CODE__UNKNOWN_OPERATION) {
			assert_int_equal(status, -CHI_EUNSUPPORTED);
		} else {
			assert_int_equal(chi_status_to_code(status), code);
		}
	}
}

CASE(later_codes_fall_into_their_class)
{
	assert_int_equal(chi_status_from_code(9), -CHI_EPROTO);
	assert_int_equal(chi_status_from_code(29), -CHI_EINVAL);
	assert_int_equal(chi_status_from_code(39), -CHI_EBUSY);
	assert_int_equal(chi_status_from_code(49), -CHI_EACCES);
	assert_int_equal(chi_status_from_code(59), -CHI_EINTERNAL);
	assert_int_equal(chi_status_from_code(60), -CHI_EPROTO);
	assert_int_equal(chi_status_from_code(-1), -CHI_EPROTO);
	assert_int_equal(chi_status_from_code(INT32_MIN), -CHI_EPROTO);
}

/* The field of each operation is where the proto file has it. */
CASE(operations_have_their_fields)
{
	for (int op = CHI_OP_HELLO; op < CHI_OP_COUNT_OF_OPS; op++) {
		const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
			&chistore__v1__request__descriptor, CHI_OP_FIELD(op));
		assert_non_null(field);
		assert_string_equal(field->name, chi_op_name((enum chi_op)op));
		field = protobuf_c_message_descriptor_get_field(&chistore__v1__response__descriptor,
								CHI_OP_FIELD(op));
		if (field != NULL) {
			assert_string_equal(field->name, chi_op_name((enum chi_op)op));
		}
	}
	assert_string_equal(chi_op_name(CHI_OP_COUNT_OF_OPS), "unknown");
	assert_string_equal(chi_op_name((enum chi_op) - 1), "unknown");
}

/* Our enumerators go over the wire as their numbers. */
CASE(enumerators_agree)
{
	assert_int_equal(CHI_STATISTIC_EXTERNAL, CHISTORE__V1__STATISTIC__EXTERNAL);
	assert_int_equal(CHI_STATISTIC_CONTROL, CHISTORE__V1__STATISTIC__CONTROL);
	assert_int_equal(CHI_STATISTIC_OUTCOME, CHISTORE__V1__STATISTIC__OUTCOME);
	assert_int_equal(CHI_STATISTIC_SCORE, CHISTORE__V1__STATISTIC__SCORE);
	assert_int_equal(CHI_STATISTIC_EVAL, CHISTORE__V1__STATISTIC__EVAL);
	assert_int_equal(CHI_SIDE_WHITE, CHISTORE__V1__SIDE__WHITE_TO_MOVE);
	assert_int_equal(CHI_SIDE_BLACK, CHISTORE__V1__SIDE__BLACK_TO_MOVE);
	assert_int_equal(CHI_ORDER_STRENGTH, CHISTORE__V1__ORDER__BY_STRENGTH);
	assert_int_equal(CHI_ORDER_POSITION, CHISTORE__V1__ORDER__BY_POSITION);
	assert_int_equal(CHI_WANT_KEYS, CHISTORE__V1__WANT__KEYS);
	assert_int_equal(CHI_WANT_COUNTS, CHISTORE__V1__WANT__COUNTS);
	assert_int_equal(CHI_WANT_RECORDS, CHISTORE__V1__WANT__RECORDS);
	assert_int_equal(CHI_SYNC, CHISTORE__V1__DURABILITY__SYNC);
	assert_int_equal(CHI_ASYNC, CHISTORE__V1__DURABILITY__ASYNC);
}
