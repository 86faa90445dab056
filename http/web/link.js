/* SPDX-License-Identifier: MIT */
/*
 * The address of the page names what it shows, so that it can be sent to someone, and so that the
 * browser's "back" undoes what one did: #play=e2e4,c7c5&player=Carlsen, #game=17&ply=20,
 * #tab=bands&from=80&to=81.5. What is after the '#' stays in the browser.
 */

function read(hash) {
	return Object.fromEntries(new URLSearchParams(hash.slice(1)));
}

/* Slashes and commas need no escape after a '#', and links are read by people. */
function write(values) {
	const text = Object.entries(values).filter(([, value]) => value !== "" && value !== undefined)
		.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
	return "#" + text.replace(/%2F/g, "/").replace(/%2C/g, ",");
}

/* A click that is to stay in this window. */
function isPlain(event) {
	return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}

export class Link {
	/*
	 * `page.values()`: what is shown; `page.show(values)`: shows that; `page.lasting()`: what of it
	 * stays when a link of the page is followed.
	 */
	constructor(page) {
		this.page = page;
		this.loads = 0;
		this.done = "";
		addEventListener("hashchange", () => this.load());
		document.addEventListener("click", (event) => this.clicked(event));
	}

	/*
	 * Makes the address say what is shown. "step": in place of what it said; otherwise "back"
	 * returns to that, and more of the same, as each letter that is typed into a field, is one.
	 */
	update(what) {
		const hash = write(this.page.values());
		if (this.loading || hash === location.hash || hash === "#" && location.hash === "") {
			return;
		}
		const replace = what === "step" || what !== "new" && what === this.done;
		this.done = what === "step" ? this.done : what;
		history[replace ? "replaceState" : "pushState"](null, "", hash);
	}

	clicked(event) {
		const link = event.target.closest?.("a[href^='#']");
		if (link && isPlain(event)) {
			event.preventDefault();
			history.pushState(null, "",
				write({ ...read(link.getAttribute("href")), ...this.page.lasting() }));
			scrollTo(0, 0);
			this.load();
		}
	}

	/* Shows what the address names; a later call ends an earlier one. */
	async load() {
		const mine = ++this.loads;
		this.loading = true;
		this.done = "";
		try {
			await this.page.show(read(location.hash), () => mine !== this.loads);
		} finally {
			this.loading = mine !== this.loads;
		}
		this.update("step");
	}
}
