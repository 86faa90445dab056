/* SPDX-License-Identifier: MIT */
/* A directory without a store is no failure here. */
#include "client/cli/in/made_store.h"

/* CHI_OK also if there is none, which only a directory can say. */
static int open_store(struct cli *cli)
{
	struct chi_options options;
	struct chi_fault fault = {.text = ""};
	cli_options(cli, true, &options);
	int status = chi_open(cli->address, &options, &cli->client, &fault);
	return status == -CHI_ENOSTORE && !cli_is_remote(cli) ? EXIT_DONE
							      : cli_fault(status, &fault);
}

int made_store_open(struct cli *cli, enum chi_statistic *statistic)
{
	struct chi_info info;
	if (!cli_has_address(cli)) {
		return EXIT_USAGE;
	}
	int code = cli->client == NULL ? open_store(cli) : EXIT_DONE;
	if (code != EXIT_DONE) {
		return code;
	}
	if (cli->client == NULL) {
		*statistic = *statistic != 0 ? *statistic : CHI_STATISTIC_CONTROL;
		return EXIT_DONE;
	}
	int status = chi_get_info(cli->client, &info);
	if (status != CHI_OK) {
		return cli_fail(cli->client, status);
	}
	if (*statistic != 0 && *statistic != info.statistic) {
		return cli_usage(cli, "--statistic: this store holds the %s statistic, not %s",
				 chi_statistic_name(info.statistic),
				 chi_statistic_name((int)*statistic));
	}
	*statistic = (enum chi_statistic)info.statistic;
	return EXIT_DONE;
}

int made_store_need(struct cli *cli, enum chi_statistic statistic)
{
	struct chi_fault fault = {.text = ""};
	if (cli->client != NULL) {
		return EXIT_DONE;
	}
	int code = cli_fault(chi_create(cli->address, statistic, CHI_KEEP_GAMES, &fault), &fault);
	return code == EXIT_DONE ? cli_open(cli, true, &cli->client) : code;
}
