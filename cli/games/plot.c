/* SPDX-License-Identifier: MIT */
/*
 * gnuplot reads its commands from a pipe, and what it draws from a block of data in them. Texts of
 * a store lose every character that its language obeys.
 */
#include "cli/games/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* Labels beyond that would lie over each other. */
#define LABELS_MAX 40

/* A label of at most 30 bytes, cut between characters. */
static void put_label(FILE *file, const char *text)
{
	size_t len = strlen(text);
	if (len > 30) {
		len = 30;
		while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) {
			len--;
		}
	}
	for (size_t i = 0; i < len; i++) {
		bool obeyed = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ||
			      strchr("\"'`\\@$#{}^_&~%", text[i]) != NULL;
		(void)putc(obeyed ? ' ' : text[i], file);
	}
}

/* In single quotes nothing but a quote is obeyed. */
static void put_path(FILE *file, const char *path)
{
	(void)putc('\'', file);
	for (; *path != '\0'; path++) {
		if (*path == '\'') {
			(void)putc('\'', file);
		}
		(void)putc(*path, file);
	}
	(void)putc('\'', file);
}

static void put_bars(FILE *file, const struct plot *plot)
{
	size_t every = (plot->n + LABELS_MAX - 1) / LABELS_MAX;
	fprintf(file, "$bars << EOD\n");
	for (size_t i = 0; i < plot->n; i++) {
		const struct plot_bar *bar = &plot->bars[i];
		(void)putc('"', file);
		if (i % every == 0) {
			put_label(file, bar->label);
		}
		fprintf(file, "\"\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", bar->parts[0],
			bar->parts[1], bar->parts[2]);
	}
	fprintf(file, "EOD\n");
}

/* In rows, the first on top. */
static void put_points(FILE *file, const struct plot *plot)
{
	fprintf(file, "$points << EOD\n");
	for (size_t i = 0; i < plot->n; i++) {
		const struct plot_point *point = &plot->points[i];
		(void)putc('"', file);
		put_label(file, point->label);
		fprintf(file, "\"\t%zu\t%.2f\t%.2f\t%.2f\t%.2f\n", i + 1, point->score, point->low,
			point->high, point->beside);
	}
	fprintf(file,
		"EOD\nset xlabel \"%s\"\nset yrange [%zu.5:0.5]\nset grid x\nset key below\n"
		"plot $points using 3:2:4:5:ytic(1) with xerrorbars pt 7 title \"%s\","
		" '' using 6:2 with points pt 4 title \"%s\"\n",
		plot->unit, plot->n, plot->score, plot->beside);
}

static void put_histogram(FILE *file, const struct plot *plot)
{
	fprintf(file, "set xtics nomirror%s\n",
		strcmp(plot->path, "-") == 0 ? "" : " rotate by -60");
	put_bars(file, plot);
	fprintf(file,
		"set ylabel \"%s\"\nset yrange [0:*]\nset style data histograms\n"
		"set style histogram rowstacked\nset style fill solid 0.8 border\n"
		"set boxwidth 0.8\n",
		plot->unit);
	if (plot->whole) {
		fprintf(file, "plot $bars using 2:xtic(1) notitle\n");
	} else {
		fprintf(file, "plot $bars using 2:xtic(1) title \"White wins\" lc rgb \"#d8c9a8\","
			      " '' using 3 title \"drawn\" lc rgb \"#909090\","
			      " '' using 4 title \"Black wins\" lc rgb \"#303030\"\n");
	}
}

static void put_commands(FILE *file, const struct plot *plot)
{
	if (strcmp(plot->path, "-") == 0) {
		fprintf(file, "set terminal dumb 100 32\n");
	} else {
		fprintf(file, "set terminal pngcairo size 1280,720\nset output ");
		put_path(file, plot->path);
		(void)putc('\n', file);
	}
	fprintf(file, "set datafile separator \"\\t\"\nset title \"%s\" noenhanced\n", plot->title);
	if (plot->points != NULL) {
		put_points(file, plot);
	} else {
		put_histogram(file, plot);
	}
}

int plot_draw(const struct plot *plot)
{
	/* A child that is not there shows in its exit status, not in a signal. */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	(void)fflush(stdout);
	FILE *file = popen("command -v gnuplot >/dev/null || exit 127; exec gnuplot", "w");
	int status = -1;
	if (file != NULL) {
		put_commands(file, plot);
		status = pclose(file);
	}
	(void)signal(SIGPIPE, before);
	if (status == 0) {
		return EXIT_DONE;
	}
	if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		cli_message("--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
	} else {
		cli_message("gnuplot could not draw to '%s'", plot->path);
	}
	return EXIT_STORE;
}
