/* SPDX-License-Identifier: MIT */
/*
 * Forms as plain values and back: {name: text}, in which a field that says what it said at first is
 * left out, and a ticked box is "1". Requests and addresses are made of these.
 */

function initial(field) {
	return field.tagName === "SELECT" ? field.options[0]?.value ?? "" : field.defaultValue;
}

function valueOf(field) {
	if (field.type === "checkbox") {
		return field.checked ? "1" : "";
	}
	const value = field.value.trim();
	return value === initial(field) ? "" : value;
}

function named(form) {
	return [...form.elements].filter((field) => field.name && field.tagName !== "FIELDSET");
}

export function valuesOf(form) {
	return Object.fromEntries(named(form).map((field) => [field.name, valueOf(field)])
		.filter(([, value]) => value !== ""));
}

/* A choice that the page does not know is the server's to refuse. */
function choose(field, value) {
	if (![...field.options].some((option) => option.value === value)) {
		field.add(new Option(value, value));
	}
	field.value = value;
}

/* Fields that `values` does not name get what they said at first. */
export function fillForm(form, values) {
	for (const field of named(form)) {
		const value = values[field.name] ?? "";
		if (field.type === "checkbox") {
			field.checked = value === "1";
		} else if (field.tagName === "SELECT") {
			choose(field, value || initial(field));
		} else {
			field.value = value || initial(field);
		}
	}
}
