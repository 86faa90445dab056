/* SPDX-License-Identifier: MIT */
/*
 * A budget that many share: of what is limited a peer (service/net/peer.h) may hold as much as is
 * still free. One that takes all it can so has half, two have a third each, and there is always
 * something left for the next. One that holds nothing may take in any case, so that no one is kept
 * out by what others hold; beyond the budget there is therefore at most what each peer takes at
 * once.
 *
 * Not shared between threads, but under a lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CHI_SHARES 4096

struct chi_shares {
	uint64_t most;
	uint64_t used;
	uint64_t held[CHI_SHARES]; /* by the peer's number */
};

static inline uint64_t *chi_share_of(struct chi_shares *shares, uint32_t peer)
{
	return &shares->held[(peer ^ peer >> 16) % CHI_SHARES];
}

/* Whether the peer may take so much more. */
static inline bool chi_shares_may(struct chi_shares *shares, uint32_t peer, uint64_t n)
{
	uint64_t held = *chi_share_of(shares, peer);
	uint64_t left = shares->used < shares->most ? shares->most - shares->used : 0;
	return held == 0 || (held <= left && n <= left - held);
}

static inline void chi_shares_take(struct chi_shares *shares, uint32_t peer, uint64_t n)
{
	*chi_share_of(shares, peer) += n;
	shares->used += n;
}

static inline void chi_shares_give(struct chi_shares *shares, uint32_t peer, uint64_t n)
{
	*chi_share_of(shares, peer) -= n;
	shares->used -= n;
}
