/* SPDX-License-Identifier: BSD-2-Clause */
/* libfabric.so.1, opened on first use and kept open. Included only by the transport. */
#ifndef TRN_COMM_FABRIC_LOAD_H
#define TRN_COMM_FABRIC_LOAD_H

#include <rdma/fabric.h>

#include "trn/trn.h"

/** struct trn_comm_libfabric - the functions that are not inline in its headers. */
struct trn_comm_libfabric {
	void *library;
	uint32_t version; /* API version that library and headers both know */
	uint32_t (*version_get)(void);
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info);
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
	const char *(*strerror)(int error);
};

/**
 * trn_comm_libfabric() - the library, or NULL with a sentence. Some of its providers install
 * handlers for SIGSEGV, SIGTERM and others when loaded; those of the program are put back.
 */
const struct trn_comm_libfabric *trn_comm_libfabric(void);

/**
 * trn_comm_signals_save(), trn_comm_signals_restore() - the dispositions that loading a provider
 * may change, around calls that can load one.
 */
#define TRN_COMM_SIGNALS 6
struct trn_comm_signals;
struct trn_comm_signals *trn_comm_signals_save(void);
void trn_comm_signals_restore(struct trn_comm_signals *signals);

#endif /* TRN_COMM_FABRIC_LOAD_H */
