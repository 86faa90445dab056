/* SPDX-License-Identifier: MIT */
/* Completion: what a shell offers comes from the tables that parsing and the help are of. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"

/* The word, if there is one and it begins as what was typed. */
static void offer(const char *typed, const char *word, size_t len)
{
	size_t n = strlen(typed);
	if (len > 0 && len >= n && strncmp(word, typed, n) == 0) {
		printf("%.*s\n", (int)len, word);
	}
}

static void offer_options(const char *typed, const struct cli_option *option)
{
	for (; option != NULL && option->name != NULL; option++) {
		char text[64];
		int len = snprintf(text, sizeof(text), "--%s", option->name);
		offer(typed, text, (size_t)len);
	}
}

/* The words that begin the parts of "create NAME|list|drop NAME"; NAME is none. */
static void offer_parts(const char *typed, const char *parts)
{
	for (const char *at = parts; at != NULL; at = strchr(at, '|'), at += at != NULL) {
		size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz");
		offer(typed, at, at[len] == '\0' || strchr(" |", at[len]) != NULL ? len : 0);
	}
}

/* What takes files is called so in the help. */
static bool takes_files(const char *text)
{
	static const char *const names[] = {"FILE", "DEST", "DIR", "DUMP", "GAMES.pgn", "OTHER"};
	for (size_t i = 0; i < CHI_COUNT(names); i++) {
		if (strstr(text, names[i]) != NULL) {
			return true;
		}
	}
	return false;
}

static void offer_value(const char *typed, const struct cli_option *option)
{
	/* Of other readers the list ends in NULL. */
	size_t n = option->read == option_word ? option->max : SIZE_MAX;
	for (size_t i = 0; option->words != NULL && i < n; i++) {
		if (option->words[i] != NULL) {
			offer(typed, option->words[i], strlen(option->words[i]));
		} else if (n == SIZE_MAX) {
			break;
		}
	}
	if (strcmp(option->arg, "ADDRESS") == 0) {
		printf(":addresses\n");
	} else if (takes_files(option->arg)) {
		printf(":files\n");
	} else if (option->words == NULL) {
		offer_parts(typed, option->arg);
	}
}

void complete_words(struct cli *cli, int n, char **words)
{
	const struct cli_option *waiting = NULL;
	int arguments = 0;
	cli->state = cli; /* nothing is put there */
	for (int i = 0; i + 1 < n; i++) {
		bool is_value = waiting != NULL && (waiting->arg[0] != '[' || words[i][0] != '-');
		waiting = is_value ? NULL : options_waiting(cli, words[i]);
		if (is_value || words[i][0] == '-') {
			continue;
		}
		if (cli->command == NULL && strcmp(words[i], "help") != 0) {
			cli->command = command_find(words[i]);
		} else {
			arguments++;
		}
	}
	const char *typed = n > 0 ? words[n - 1] : "";
	if (waiting != NULL && (waiting->arg[0] != '[' || typed[0] != '-')) {
		offer_value(typed, waiting);
	} else if (typed[0] == '-') {
		offer_options(typed, cli->command != NULL ? cli->command->options : NULL);
		offer_options(typed, global_options);
	} else if (cli->command == NULL) {
		for (size_t i = 0; commands[i] != NULL; i++) {
			offer(typed, commands[i]->name, strlen(commands[i]->name));
		}
	} else if (takes_files(cli->command->arguments)) {
		printf(":files\n");
	} else if (arguments == 0) {
		offer_parts(typed, cli->command->arguments);
	}
}
