/* SPDX-License-Identifier: MIT */
/*
 * Counts what goes wrong in the page's own scripts, and shows the count: a script of the classic
 * kind, loaded before all modules so that it sees their errors too. Tests assert that it stays 0.
 */
(function () {
	"use strict";

	let errors = 0;

	function show(text) {
		const place = document.getElementById("error-count");
		if (place) {
			place.value = errors === 1 ? "1 error in this page" : `${errors} errors in this page`;
			place.title = text;
			place.hidden = false;
		}
	}

	function add(text) {
		errors += 1;
		document.documentElement.dataset.errors = errors;
		console.error(text);
		show(text);
	}

	document.documentElement.dataset.errors = 0;
	window.addEventListener("error", (event) => {
		add(event.message || `cannot load ${event.target.src || event.target.href}`);
	}, true);
	window.addEventListener("unhandledrejection", (event) => {
		add(String(event.reason && event.reason.stack || event.reason));
	});
	document.addEventListener("securitypolicyviolation", (event) => {
		add(`refused by policy: ${event.violatedDirective} ${event.blockedURI}`);
	});
})();
