/* SPDX-License-Identifier: MIT */
/* What the chess tests share: data files, positions at random, bounds from the environment. */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "chess/position.h"
#include "tests/base/cases.h"
#include "tests/base/seed.h"

#define START_FEN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

/* Sanitizers and the like cost a factor of ten to twenty. */
#if defined(__SANITIZE_ADDRESS__)
#define SLOW_BUILD 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW_BUILD 1
#endif
#endif
#ifndef SLOW_BUILD
#define SLOW_BUILD 0
#endif

/* Opens a file of CHISTORE_TEST_DATA for reading; the test fails if it is not there. */
FILE *open_data(const char *name);

/* The next line without its end, or false; longer lines than `size` fail the test. */
bool read_line(FILE *file, char *line, size_t size);

/* A number from the environment, or `fallback`. */
uint64_t number_from_env(const char *name, uint64_t fallback);

/* The position of a FEN that must be good. */
struct chi_position position_of(const char *fen);

/* A starting position of Chess960; the right castling letters are set. */
struct chi_position random_start(struct seed *seed);

/* 1..32 pieces at random squares, kings or not, rights or not: whatever a key can hold. */
struct chi_position random_placement(struct seed *seed);

/* One or the other. */
struct chi_position random_position(struct seed *seed);

/* Plays a random legal move; false if there is none. */
bool play_random(struct seed *seed, struct chi_position *position);
