/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Meeting of the ranks: every rank connects to rank 0 and says who it is and what it was told; rank
 * 0 answers with the list of all when the last has come. Garbage, silence and half a hello on the
 * port cost that connection alone, after one second.
 */
#ifndef TRN_COMM_BOOTSTRAP_H
#define TRN_COMM_BOOTSTRAP_H

#include "comm/socket.h"
#include "comm/stream.h"

/** struct trn_comm_meeting - what to agree on (in), and who came (out). */
struct trn_comm_meeting {
	const char *root; /* text of the address, for sentences */
	struct trn_comm_address address;
	struct trn_comm_hello hello; /* ours */
	uint64_t timeout_ns;

	struct trn_comm_peer *peers;	 /* ours to free with trn_comm_meeting_clear(), by rank */
	struct trn_comm_stream *streams; /* rank 0: by rank, [0] closed; others: one, to rank 0 */
	uint32_t stream_count;
	char local_host[64]; /* numeric address that routes to rank 0; "" at a lone rank 0 */
};

/** trn_comm_hello_fill() - who this process is; strings are cut to fit. */
void trn_comm_hello_fill(struct trn_comm_hello *hello, uint32_t rank, uint32_t ranks,
			 const char *provider, const char *job);
/** trn_comm_peer_name() - "rank 3 (host b12, pid 4242)" into @text. */
const char *trn_comm_peer_name(const struct trn_comm_peer *peer, char *text, size_t size);

/**
 * trn_comm_meet() - blocking, bounded by @timeout_ns. On failure nothing stays open, and every rank
 * that has joined gets the same sentence. Return: TRN_OK; TRN_ERR_COMM names the ranks that are
 * missing, dead or in disagreement; TRN_ERR_IO, TRN_ERR_NO_HOST_MEMORY.
 */
enum trn_status trn_comm_meet(struct trn_comm_meeting *meeting);
/** trn_comm_meeting_clear() - close and free what is out. */
void trn_comm_meeting_clear(struct trn_comm_meeting *meeting);

#endif /* TRN_COMM_BOOTSTRAP_H */
