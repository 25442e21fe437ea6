// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open files: the owner of everything a user creates.
 *
 * Two ends: unbind takes the hardware side away (contexts, rings, programs, cores), on close or on
 * removal of the device, whichever comes first; release frees the memory with the last reference,
 * which a shared buffer may hold for longer.
 *
 * Locking: trainium_device.files_lock for the list of open files.
 */
#include <linux/slab.h>

#include "trainium_context.h"
#include "trainium_device.h"
#include "trainium_file.h"

static void trainium_file_release(struct kref *ref)
{
	struct trainium_file *file = container_of(ref, struct trainium_file, ref);

	xa_destroy(&file->contexts);
	put_pid(file->pid);
	drm_dev_put(&file->tdev->drm);
	kfree(file);
}

/** trainium_file_get() - take a reference. */
struct trainium_file *trainium_file_get(struct trainium_file *file)
{
	kref_get(&file->ref);
	return file;
}

/** trainium_file_put() - drop a reference. */
void trainium_file_put(struct trainium_file *file)
{
	kref_put(&file->ref, trainium_file_release);
}

/** trainium_file_open() - the node is opened. */
int trainium_file_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct trainium_device *tdev = to_trainium_device(drm);
	struct trainium_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return -ENOMEM;
	kref_init(&file->ref);
	drm_dev_get(drm);
	file->tdev = tdev;
	file->pid = get_task_pid(current, PIDTYPE_TGID);
	get_task_comm(file->comm, current->group_leader);
	xa_init_flags(&file->contexts, XA_FLAGS_ALLOC1);
	drm_file->driver_priv = file;
	mutex_lock(&tdev->files_lock);
	list_add_tail(&file->node, &tdev->files);
	mutex_unlock(&tdev->files_lock);
	return 0;
}

/** trainium_file_unbind() - take everything on the device from a file; its jobs get @error. */
void trainium_file_unbind(struct trainium_file *file, int error)
{
	struct trainium_context *ctx;
	unsigned long index;

	xa_for_each(&file->contexts, index, ctx)
		if (xa_erase(&file->contexts, index) == ctx)
			trainium_context_close(ctx, error);
}

/** trainium_file_postclose() - the node is closed, however the process ended. */
void trainium_file_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct trainium_file *file = drm_file->driver_priv;
	u32 cores = atomic_read(&file->cores);
	int idx;

	/* Removal waits for this; when it has begun, it or we do it under the lock. */
	if (drm_dev_enter(drm, &idx)) {
		trainium_file_unbind(file, -ECANCELED);
		drm_dev_exit(idx);
	}
	mutex_lock(&file->tdev->files_lock);
	trainium_file_unbind(file, -ENODEV);
	list_del(&file->node);
	mutex_unlock(&file->tdev->files_lock);
	trainium_cores_settle(file->tdev, cores);
	drm_file->driver_priv = NULL;
	trainium_file_put(file);
}

/* Ends the jobs of every file, so that nobody stays in a call. */
static void trainium_files_kill(struct trainium_device *tdev)
{
	struct trainium_file *file;

	mutex_lock(&tdev->files_lock);
	list_for_each_entry(file, &tdev->files, node) {
		struct trainium_context *ctx;
		unsigned long index;

		xa_for_each(&file->contexts, index, ctx) {
			ctx = trainium_context_get(file, index);
			if (ctx) {
				trainium_context_kill(ctx, -ENODEV);
				trainium_context_put(ctx);
			}
		}
	}
	mutex_unlock(&tdev->files_lock);
}

/**
 * trainium_files_unbind() - removal: take everything on the device from every file.
 * @tdev: device, its removing set
 *
 * Ends all jobs and waits until nobody is inside the driver.
 */
void trainium_files_unbind(struct trainium_device *tdev)
{
	struct trainium_file *file;

	trainium_files_kill(tdev);
	drm_dev_unplug(&tdev->drm);
	mutex_lock(&tdev->files_lock);
	list_for_each_entry(file, &tdev->files, node)
		trainium_file_unbind(file, -ENODEV);
	mutex_unlock(&tdev->files_lock);
}
