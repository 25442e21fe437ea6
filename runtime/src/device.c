// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opening and closing devices.
 *
 * Locking: none of its own; a device is published to its opener only when it is complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "memory.h"

enum trn_status trn_device_check(const struct trn_device *device, const char *what)
{
	if (!device)
		return trn_error_set(TRN_ERR_INVALID, "%s: device is NULL", what);
	if (device->fork_token != trn_fork_token())
		return trn_error_set(TRN_ERR_FORKED,
				     "%s: %s was opened before fork(): open it again in the child",
				     what, device->spec);
	return TRN_OK;
}

enum trn_status trn_options_get(const void *options, void *out, size_t known, const char *what)
{
	const uint8_t *bytes = options;
	size_t size, i;

	memset(out, 0, known);
	if (!options)
		return TRN_OK;
	memcpy(&size, options, sizeof(size));
	if (size < sizeof(size) || size > 4096)
		return trn_error_set(
			TRN_ERR_INVALID,
			"%s: the options say their size is %zu; initialise them with TRN_OPTIONS()",
			what, size);
	for (i = known; i < size; i++)
		if (bytes[i])
			return trn_error_set(TRN_ERR_INVALID,
					     "%s: the options set a member (byte %zu) that libtrn "
					     "%s does not know",
					     what, i, trn_version());
	memcpy(out, options, size < known ? size : known);
	return TRN_OK;
}

/* The words for a failed open, where the backend had none of its own. */
static enum trn_status open_failed(const char *spec, int error)
{
	enum trn_status status;

	switch (-error) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		status = TRN_ERR_NO_DEVICE;
		break;
	case EACCES:
	case EPERM:
		status = TRN_ERR_PERMISSION;
		break;
	case EPROTO:
		status = TRN_ERR_DRIVER;
		break;
	default:
		status = trn_status_from_errno(error);
	}
	if (*trn_error_text())
		return status;
	return trn_error_set(status, "cannot open device %s: %s", spec, strerror(-error));
}

static enum trn_status device_query(struct trn_device *device)
{
	struct drm_trainium_query query = {
		.what = DRM_TRAINIUM_QUERY_DEVICE,
		.size = sizeof(device->info),
		.data = (uintptr_t)&device->info,
	};
	int error = device->ops->query(device->backend, &query);

	if (error)
		return trn_error_set(error == -ENOTTY || error == -EINVAL
					     ? TRN_ERR_DRIVER
					     : trn_status_from_errno(error),
				     "%s: the driver does not say what the device is: %s",
				     device->spec, strerror(-error));
	if (!device->info.stacks || device->info.stacks >= TRN_HEAP_POOLS_MAX ||
	    device->info.cores > 32)
		return trn_error_set(TRN_ERR_DRIVER,
				     "%s: the driver speaks of %u HBM stacks and %u cores, which "
				     "this library cannot believe",
				     device->spec, device->info.stacks, device->info.cores);
	return TRN_OK;
}

static struct trn_device *device_new(void)
{
	struct trn_device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;
	pthread_mutex_init(&device->lock, NULL);
	pthread_mutex_init(&device->grow_lock, NULL);
	pthread_cond_init(&device->queue_put, NULL);
	trn_list_init(&device->queues);
	trn_list_init(&device->memories);
	atomic_init(&device->generation, 1);
	return device;
}

static void device_free(struct trn_device *device)
{
	pthread_cond_destroy(&device->queue_put);
	pthread_mutex_destroy(&device->grow_lock);
	pthread_mutex_destroy(&device->lock);
	free(device);
}

enum trn_status trn_device_open_with(const struct trn_backend_ops *ops, const char *spec,
				     const char *name, struct trn_device **out)
{
	struct trn_device *device = device_new();
	enum trn_status result;
	int error;

	if (!device)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no memory to open %s", name);
	device->ops = ops;
	device->fork_token = trn_fork_token_make();
	snprintf(device->spec, sizeof(device->spec), "%s", name);
	trn_error_clear();
	error = ops->open(spec, &device->backend, device->node);
	if (error) {
		result = open_failed(name, error);
		device_free(device);
		return result;
	}
	result = device_query(device);
	if (!result)
		result = trn_memory_setup(device);
	if (result) {
		ops->close(device->backend);
		device_free(device);
		return result;
	}
	*out = device;
	return TRN_OK;
}

enum trn_status trn_device_open(const char *spec, struct trn_device **device)
{
	struct trn_device_info first;
	enum trn_status result;
	size_t count = 1;

	if (!device)
		return trn_error_set(TRN_ERR_INVALID, "trn_device_open: device is NULL");
	*device = NULL;
	if (!spec)
		spec = getenv("TRN_DEVICE");
	if (spec && !strncmp(spec, "emu:", 4))
		return trn_device_open_with(&trn_backend_emu, spec + 4, spec, device);
	if (spec && *spec)
		return trn_device_open_with(&trn_backend_drm, spec, spec, device);
	memset(&first, 0, sizeof(first));
	first.size = sizeof(first);
	trn_error_clear();
	if (trn_backend_drm.list(&first, &count) || !count)
		return trn_error_set(TRN_ERR_NO_DEVICE,
				     "no Trainium device here: no /dev/accel/accel* or "
				     "/dev/dri/renderD* is served by the trainium "
				     "driver (`trn doctor` says why); TRN_DEVICE=emu:trn1 runs on "
				     "the emulated device in this process");
	result = trn_device_open_with(&trn_backend_drm, first.spec, first.spec, device);
	return result;
}

void trn_device_close(struct trn_device *device)
{
	if (!device || trn_device_check(device, "trn_device_close"))
		return;
	for (;;) {
		struct trn_queue *queue;

		pthread_mutex_lock(&device->lock);
		if (trn_list_empty(&device->queues)) {
			pthread_mutex_unlock(&device->lock);
			break;
		}
		queue = trn_list_entry(device->queues.prev, struct trn_queue, link);
		pthread_mutex_unlock(&device->lock);
		trn_queue_destroy(queue);
	}
	trn_memory_teardown(device);
	device->ops->close(device->backend);
	device_free(device);
}
