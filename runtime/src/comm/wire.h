/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of the control plane. Byte order is that of the machine: all supported hosts are little
 * endian, and a foreign order fails the check of the magic.
 */
#ifndef TRN_COMM_WIRE_H
#define TRN_COMM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define TRN_COMM_MAGIC	    0x434e5254u /* "TRNC" */
#define TRN_COMM_PROTOCOL   1
#define TRN_COMM_TEXT_MAX   480
#define TRN_COMM_GATHER_MAX 1024 /* bytes a rank can put into a gather */
#define TRN_COMM_RANKS_MAX  4096

enum trn_comm_message_type {
	TRN_COMM_HELLO = 1, /* to rank 0: struct trn_comm_hello */
	TRN_COMM_JOINED,    /* to a member: struct trn_comm_peer of rank 0 */
	TRN_COMM_WELCOME,   /* to a member: struct trn_comm_peer of every rank */
	TRN_COMM_ABORT,	    /* both ways: struct trn_comm_abort */
	TRN_COMM_GATHER,    /* to rank 0: the rank's bytes */
	TRN_COMM_GATHERED,  /* to a member: bytes of every rank, in rank order */
	TRN_COMM_BYE,	    /* both ways: struct trn_comm_bye */
	TRN_COMM_ALL_BYE,   /* to a member: everybody has said good-bye */
	TRN_COMM_PING,	    /* both ways, each second: keeps TCP_USER_TIMEOUT at work */
};

/** struct trn_comm_message - head of every message; @bytes follow. */
struct trn_comm_message {
	uint32_t magic;
	uint16_t protocol;
	uint16_t type;
	uint32_t bytes;
	uint32_t reserved;
};

/** struct trn_comm_peer - who a rank is. @host_id: equal for processes that see each other's pids.
 */
struct trn_comm_peer {
	uint32_t rank;
	int32_t pid;
	uint64_t host_id;
	char host[64];
};

/** struct trn_comm_hello - what must agree, and who speaks. @job: hash of TRN_COMM_JOB. */
struct trn_comm_hello {
	uint64_t job;
	uint32_t ranks;
	uint32_t reserved;
	char provider[32];
	struct trn_comm_peer peer;
};

struct trn_comm_abort {
	uint32_t status;  /* enum trn_status */
	uint32_t culprit; /* rank */
	char text[TRN_COMM_TEXT_MAX];
};

struct trn_comm_bye {
	uint32_t rank;
	uint32_t reserved;
	uint64_t operations; /* begun before leaving */
};

#endif /* TRN_COMM_WIRE_H */
