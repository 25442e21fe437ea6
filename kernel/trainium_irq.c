// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: one MSI-X vector per core and per host copy engine, threaded.
 *
 * The hard handler masks the vector and wakes who waits, who looks himself; the thread drains what
 * the vector announces for those who do not, then unmasks it, whereupon the device sends again if
 * something came in between. What has no vector is polled by
 * whoever waits; who waits for an interrupt looks himself now and then, so a lost one costs time
 * and no more.
 *
 * No locks of its own.
 */
#include <linux/interrupt.h>
#include <linux/slab.h>

#include "trainium_device.h"

static irqreturn_t trainium_irq_hard(int line, void *data)
{
	struct trainium_irq *irq = data;
	unsigned int i;

	trnhw_irq_mask(&irq->tdev->hw, irq->vector);
	if (irq->core) {
		atomic_inc(&irq->core->events);
		wake_up_all(&irq->core->wait);
	}
	for (i = 0; i < irq->copyqs; i++) {
		atomic_inc(&irq->copyq[i].events);
		wake_up_all(&irq->copyq[i].wait);
	}
	return IRQ_WAKE_THREAD;
}

static irqreturn_t trainium_irq_thread(int line, void *data)
{
	struct trainium_irq *irq = data;
	unsigned int i;

	atomic64_inc(&irq->count);
	if (irq->core)
		trainium_core_drain(irq->core);
	for (i = 0; i < irq->copyqs; i++)
		trainium_copyq_drain(&irq->copyq[i]);
	if (!trainium_device_removing(irq->tdev))
		trnhw_irq_unmask(&irq->tdev->hw, irq->vector);
	return IRQ_HANDLED;
}

/*
 * What vector @v announces: core n at 1 + n, then the host copy engines in order, each with the
 * queues of all the cores it serves.
 */
static void trainium_irq_assign(struct trainium_device *tdev, unsigned int v)
{
	const struct trnhw_arch *arch = tdev->hw.arch;
	struct trainium_irq *irq = &tdev->irq[v];
	unsigned int n;

	irq->tdev = tdev;
	irq->vector = v;
	irq->line = -1;
	for (n = 0; n < arch->cores; n++) {
		unsigned int k = arch->h2t_engine(n) - arch->h2t_engine(0);

		if (v == TRN_VECTOR_CORE(n) && tdev->core[n].usable)
			irq->core = &tdev->core[n];
		if (v != TRN_VECTOR_H2T(arch->cores, k))
			continue;
		if (!irq->copyqs++)
			irq->copyq = &tdev->copyq[n];
	}
}

static int trainium_irq_request(struct trainium_device *tdev, unsigned int v)
{
	struct trainium_irq *irq = &tdev->irq[v];
	unsigned int i;
	char *name;
	int line, err;

	if (!irq->core && !irq->copyq)
		return 0;
	line = pci_irq_vector(tdev->pdev, v);
	if (line < 0)
		return line;
	name = devm_kasprintf(tdev->drm.dev, GFP_KERNEL, "trainium-%s%u@%s",
			      irq->core ? "core" : "copy",
			      irq->core ? irq->core->index : irq->copyq->core,
			      pci_name(tdev->pdev));
	if (!name)
		return -ENOMEM;
	err = request_threaded_irq(line, trainium_irq_hard, trainium_irq_thread, 0, name, irq);
	if (err)
		return err;
	irq->line = line;
	if (irq->core)
		irq->core->irq = true;
	for (i = 0; i < irq->copyqs; i++)
		irq->copyq[i].irq = true;
	trnhw_irq_unmask(&tdev->hw, v);
	return 0;
}

/* The processors have a limited number, which many devices use up. How many it got, or -ENOMEM. */
static int trainium_irq_request_all(struct trainium_device *tdev)
{
	unsigned int v, refused = 0;
	int err, why = 0, got = 0;

	for (v = 0; v < tdev->irq_count; v++) {
		err = trainium_irq_request(tdev, v);
		if (err == -ENOMEM)
			return err;
		if (err) {
			refused++;
			why = err;
		} else {
			got += tdev->irq[v].line >= 0;
		}
	}
	if (refused)
		dev_warn(tdev->drm.dev, "%u interrupts refused (%d); polling in their place\n",
			 refused, why);
	return got;
}

/**
 * trainium_irq_init() - set up the vectors there are.
 * @tdev: device; cores and copy queues are set up
 *
 * Return: 0, also when there are no interrupts at all: then everything is polled. -ENOMEM.
 */
int trainium_irq_init(struct trainium_device *tdev)
{
	unsigned int want = tdev->hw.vectors;
	unsigned int v;
	int got, err;

	if (!(tdev->hw.features & TRN_FEATURE_MSIX) || !want)
		return 0;
	/* A vector without a message cannot be served by another: all that fit, the rest polls. */
	got = pci_alloc_irq_vectors(tdev->pdev, 1, want, PCI_IRQ_MSIX);
	if (got <= 0) {
		dev_info(tdev->drm.dev, "no interrupt vectors (%d); polling for completions\n",
			 got);
		return 0;
	}
	tdev->irq = kcalloc(got, sizeof(*tdev->irq), GFP_KERNEL);
	if (!tdev->irq) {
		pci_free_irq_vectors(tdev->pdev);
		return -ENOMEM;
	}
	tdev->irq_count = got;
	for (v = 0; v < tdev->irq_count; v++)
		trainium_irq_assign(tdev, v);
	err = trainium_irq_request_all(tdev);
	/* Also when there is not one: what is not asked for is polled. */
	if (err <= 0)
		trainium_irq_fini(tdev);
	return min(err, 0);
}

/** trainium_irq_fini() - no handler runs after this; completions are polled. */
void trainium_irq_fini(struct trainium_device *tdev)
{
	unsigned int v, i;

	if (!tdev->irq)
		return;
	for (v = 0; v < tdev->irq_count; v++) {
		struct trainium_irq *irq = &tdev->irq[v];

		if (irq->line < 0)
			continue;
		trnhw_irq_mask(&tdev->hw, v);
		free_irq(irq->line, irq);
		if (irq->core)
			irq->core->irq = false;
		for (i = 0; i < irq->copyqs; i++)
			irq->copyq[i].irq = false;
	}
	pci_free_irq_vectors(tdev->pdev);
	kfree(tdev->irq);
	tdev->irq = NULL;
	tdev->irq_count = 0;
}
