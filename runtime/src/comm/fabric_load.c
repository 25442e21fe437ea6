// SPDX-License-Identifier: BSD-2-Clause
/* Locking: @load_lock protects @libfabric until it is filled; it never changes afterwards. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "comm/fabric_load.h"
#include "error.h"

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static struct trn_comm_libfabric libfabric;

static const int guarded[TRN_COMM_SIGNALS] = {
	SIGINT, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGTERM,
};

struct trn_comm_signals {
	struct sigaction old[TRN_COMM_SIGNALS];
};

struct trn_comm_signals *trn_comm_signals_save(void)
{
	struct trn_comm_signals *signals = malloc(sizeof(*signals));
	int i;

	for (i = 0; signals && i < TRN_COMM_SIGNALS; i++)
		sigaction(guarded[i], NULL, &signals->old[i]);
	return signals;
}

void trn_comm_signals_restore(struct trn_comm_signals *signals)
{
	int i;

	for (i = 0; signals && i < TRN_COMM_SIGNALS; i++)
		sigaction(guarded[i], &signals->old[i], NULL);
	free(signals);
}

/* Fill all entries; false when one is missing. */
static bool resolve(void *library)
{
	*(void **)&libfabric.version_get = dlsym(library, "fi_version");
	*(void **)&libfabric.getinfo = dlsym(library, "fi_getinfo");
	*(void **)&libfabric.freeinfo = dlsym(library, "fi_freeinfo");
	*(void **)&libfabric.dupinfo = dlsym(library, "fi_dupinfo");
	*(void **)&libfabric.fabric = dlsym(library, "fi_fabric");
	*(void **)&libfabric.strerror = dlsym(library, "fi_strerror");
	return libfabric.version_get && libfabric.getinfo && libfabric.freeinfo &&
	       libfabric.dupinfo && libfabric.fabric && libfabric.strerror;
}

static enum trn_status load(void)
{
	const uint32_t headers = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
	struct trn_comm_signals *signals = trn_comm_signals_save();
	void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);

	trn_comm_signals_restore(signals);
	if (!library)
		return trn_error_set(
			TRN_ERR_UNSUPPORTED,
			"a communicator of several ranks needs libfabric: %s; install it with "
			"`apt-get install libfabric1`",
			dlerror());
	if (!resolve(library)) {
		dlclose(library);
		return trn_error_set(
			TRN_ERR_UNSUPPORTED,
			"libfabric.so.1 lacks an entry point of version 1; install a newer one");
	}
	libfabric.version = libfabric.version_get();
	if (libfabric.version > headers)
		libfabric.version = headers;
	libfabric.library = library;
	return TRN_OK;
}

const struct trn_comm_libfabric *trn_comm_libfabric(void)
{
	enum trn_status status = TRN_OK;

	pthread_mutex_lock(&load_lock);
	if (!libfabric.library)
		status = load();
	pthread_mutex_unlock(&load_lock);
	return status ? NULL : &libfabric;
}
