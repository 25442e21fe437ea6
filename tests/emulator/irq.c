// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Interrupt vectors of the open extension: a mask and a pending bit each.
 *
 * Locking: irq->lock guards both bits; the message itself is sent without it.
 */
#include "device.h"

void emu_irq_init(struct emu_device *device)
{
	pthread_mutex_init(&device->irq.lock, NULL);
	device->irq.count = 0;
	if (device->features & TRN_FEATURE_MSIX)
		device->irq.count = 1 + device->product->cores + device->product->h2t_engines;
	emu_irq_power_up(device);
}

void emu_irq_destroy(struct emu_device *device)
{
	pthread_mutex_destroy(&device->irq.lock);
}

void emu_irq_power_up(struct emu_device *device)
{
	struct emu_irq *irq = &device->irq;
	unsigned int v;

	pthread_mutex_lock(&irq->lock);
	for (v = 0; v < EMU_MAX_VECTORS; v++) {
		irq->masked[v] = true;
		irq->pending[v] = false;
	}
	pthread_mutex_unlock(&irq->lock);
}

/* Lock held. Return: the vector's message may be sent now; pending is then clear. */
static bool irq_take(struct emu_device *device, unsigned int vector)
{
	struct emu_irq *irq = &device->irq;

	if (!irq->pending[vector] || irq->masked[vector] || !atomic_load(&device->bus_master) ||
	    emu_device_removed(device))
		return false;
	irq->pending[vector] = false;
	return true;
}

static void irq_send(struct emu_device *device, unsigned int vector)
{
	bool lost = emu_fault_take(device, EMU_FAULT_IRQ_LOST);
	const struct emu_event event = { .kind = EMU_EVENT_INTERRUPT,
					 .arg = { vector },
					 .text = lost ? "lost" : "sent" };

	emu_event(device, &event);
	if (lost)
		return;
	emu_stat_add(device, EMU_STAT_INTERRUPTS, 1);
	if (device->ops->interrupt)
		device->ops->interrupt(device->opaque, vector);
}

void emu_irq_raise(struct emu_device *device, unsigned int vector)
{
	struct emu_irq *irq = &device->irq;
	bool send;

	if (vector >= irq->count || emu_fault_value(device, EMU_FAULT_REGS_ALL_ONES))
		return;
	pthread_mutex_lock(&irq->lock);
	irq->pending[vector] = true;
	send = irq_take(device, vector);
	pthread_mutex_unlock(&irq->lock);
	if (send)
		irq_send(device, vector);
}

void emu_irq_flush(struct emu_device *device)
{
	struct emu_irq *irq = &device->irq;
	unsigned int v;
	bool send;

	for (v = 0; v < irq->count; v++) {
		pthread_mutex_lock(&irq->lock);
		send = irq_take(device, v);
		pthread_mutex_unlock(&irq->lock);
		if (send)
			irq_send(device, v);
	}
}

uint32_t emu_irq_read(struct emu_device *device, unsigned int vector, bool pending)
{
	struct emu_irq *irq = &device->irq;
	uint32_t value;

	pthread_mutex_lock(&irq->lock);
	value = pending ? irq->pending[vector] : irq->masked[vector];
	pthread_mutex_unlock(&irq->lock);
	return value;
}

void emu_irq_write(struct emu_device *device, unsigned int vector, bool pending, uint32_t value)
{
	struct emu_irq *irq = &device->irq;
	bool send = false;

	pthread_mutex_lock(&irq->lock);
	if (!pending) {
		irq->masked[vector] = value & 1;
		send = irq_take(device, vector);
	} else if (value & 1) {
		irq->pending[vector] = false;
	}
	pthread_mutex_unlock(&irq->lock);
	if (send)
		irq_send(device, vector);
}
