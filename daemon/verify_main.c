/* SPDX-License-Identifier: MIT */
/*
 * The verification itself. It prints for two readers: a person who calls chistored --verify, and
 * the daemon that started it and passes the lines on.
 */
#include "daemon/ops/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/num.h"
#include "base/signals.h"
#include "store/store.h"

static void print_report(void *context, const char *text)
{
	(void)context;
	puts(text);
}

static void print_result(const struct chi_verify_result *result)
{
	printf("verified positions=%" PRIu64 " known=%" PRIu64 " errors=%" PRIu64 "\n",
	       result->positions, result->known, result->errors);
}

int chi_verify_main(const struct chi_config *config)
{
	struct chi_store_options options = {.mode = CHI_STORE_READ, .map_bytes = config->map_bytes};
	struct chi_verify_result result = {0};
	struct chi_fault fault = {0};
	struct chi_store *store = NULL;
	/* Every line at once: what was found must be out before a damaged page ends this. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	int status = chi_store_open(config->verify_path, &options, &store, &fault);
	if (status < 0) {
		printf("cannot open store '%s' (%s)\n", config->verify_path, fault.text);
		if (status == -CHI_ECORRUPT) {
			print_result(&(struct chi_verify_result){.errors = 1});
		}
		return 3;
	}
	status = chi_store_verify(store, print_report, NULL, &result);
	chi_store_close(store);
	if (status < 0 && status != -CHI_ECORRUPT) {
		printf("cannot verify store '%s' (%s)\n", config->verify_path,
		       chi_strerror(status));
		return 3;
	}
	print_result(&result);
	return fflush(stdout) == 0 && status == CHI_OK ? 0 : 3;
}

/* What a child that did not come to its end leaves: what it had found. Killed from outside, it may
 * have found nothing, which is no verdict. */
static int judge_unfinished(int number, uint64_t found, char text[CHI_VERDICT_SIZE])
{
	if (chi_signal_is_crash(number)) {
		snprintf(text, CHI_VERDICT_SIZE,
			 "a damaged page stopped the verification (signal %d, %s)", number,
			 strsignal(number));
		return -CHI_ECORRUPT;
	}
	snprintf(text, CHI_VERDICT_SIZE,
		 "the verification was killed by signal %d (%s) before its end", number,
		 strsignal(number));
	return found > 0 ? -CHI_ECORRUPT : -CHI_EINTERNAL;
}

int chi_verify_verdict(int how, const struct chi_verify_result *result, uint64_t found,
		       char text[CHI_VERDICT_SIZE])
{
	text[0] = '\0';
	if (how >= 0 && WIFSIGNALED(how)) {
		return judge_unfinished(WTERMSIG(how), found, text);
	}
	if (how < 0 || result == NULL) {
		snprintf(text, CHI_VERDICT_SIZE, "the verification could not be done");
		return -CHI_EINTERNAL;
	}
	if (result->errors > 0 || WEXITSTATUS(how) != 0) {
		snprintf(text, CHI_VERDICT_SIZE, "the store is damaged in %" PRIu64 " places",
			 result->errors);
		return -CHI_ECORRUPT;
	}
	return CHI_OK;
}

/* "NAME=NUMBER" at *at, which moves behind it and the space that follows. */
static bool take_number(const char **at, const char *end, const char *name, uint64_t *out)
{
	size_t n = strlen(name);
	if ((size_t)(end - *at) <= n || memcmp(*at, name, n) != 0) {
		return false;
	}
	const char *digits = *at + n;
	const char *space = memchr(digits, ' ', (size_t)(end - digits));
	const char *stop = space != NULL ? space : end;
	*at = space != NULL ? space + 1 : end;
	return chi_num_u64(digits, (size_t)(stop - digits), UINT64_MAX, out) == CHI_OK;
}

bool chi_verify_parse(const char *line, size_t len, struct chi_verify_result *out)
{
	static const char head[] = "verified ";
	struct chi_verify_result result = {0};
	const char *at = line + sizeof(head) - 1;
	const char *end = line + len;
	if (len < sizeof(head) || memcmp(line, head, sizeof(head) - 1) != 0 ||
	    !take_number(&at, end, "positions=", &result.positions) ||
	    !take_number(&at, end, "known=", &result.known) ||
	    !take_number(&at, end, "errors=", &result.errors) || at != end) {
		return false;
	}
	*out = result;
	return true;
}
