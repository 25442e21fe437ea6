/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Device model of a Trainium PCIe function, in plain C.
 *
 * The model is driven by register accesses and reaches the host through callbacks. Two shells
 * exist: the QEMU PCI device (qemu/) and the in-process device (inproc/). It knows neither the
 * driver nor the runtime.
 *
 * Threads: every function may be called from any thread unless stated. The model owns worker
 * threads; callbacks come from them and from the thread that accesses a register, never with a lock
 * held that a register access needs.
 */
#ifndef EMU_H
#define EMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_device;

/** enum emu_event_kind - what a shell may show; the arguments of each in struct emu_event. */
enum emu_event_kind {
	EMU_EVENT_DOORBELL,   /* engine, queue, direction (0 M2S, 1 S2M), descriptors */
	EMU_EVENT_SUBMISSION, /* core, new tail */
	EMU_EVENT_DMA_ERROR,  /* engine, queue, cause bits of M2S << 32 | of S2M, address */
	EMU_EVENT_RUN_END,    /* core, cookie, fault code, address */
	EMU_EVENT_INTERRUPT,  /* vector; @text "sent" or "lost" */
	EMU_EVENT_RESET,      /* value of RESET, unit map; @text "begins" or "ends" */
	EMU_EVENT_FAULT,      /* value left; @text name of the fault that acts or is set */
	EMU_EVENT_COMPLAINT,  /* enum emu_complaint; @text the sentence */
	EMU_EVENT_LINK,	      /* link, node and routing id of its neighbour; @text new state */
};

/** struct emu_event - @text lives as long as the call it is passed to. */
struct emu_event {
	enum emu_event_kind kind;
	uint64_t arg[4];
	const char *text;
};

/**
 * struct emu_host_ops - the host as the device sees it; addresses are bus addresses (host window
 * bit already stripped).
 */
struct emu_host_ops {
	/**
	 * @read, @write: DMA. Return 0, or -1 when the address is not accessible to the device
	 * (nothing transferred past the fault).
	 */
	int (*read)(void *opaque, uint64_t addr, void *buf, size_t len);
	int (*write)(void *opaque, uint64_t addr, const void *buf, size_t len);
	/**
	 * @map: direct pointer to host memory at @addr; *@len is reduced to what is contiguous.
	 * NULL: use read and write. Every map is followed by unmap with the same pointer and length
	 * from the same thread.
	 */
	void *(*map)(void *opaque, uint64_t addr, size_t *len, bool device_writes);
	void (*unmap)(void *opaque, void *ptr, size_t len, bool device_writes);
	/** @interrupt: send the MSI-X message of @vector. */
	void (*interrupt)(void *opaque, unsigned int vector);
	/** @clock_ns: monotonic time for notifications and the device clock. */
	uint64_t (*clock_ns)(void *opaque);
	/**
	 * @thread_start, @thread_stop: called on each worker thread (QEMU registers it with RCU);
	 * may be NULL.
	 */
	void (*thread_start)(void *opaque);
	void (*thread_stop)(void *opaque);
	/** @event: something worth showing happened; may be NULL. Must not block. */
	void (*event)(void *opaque, const struct emu_event *event);
	/** @removed: the device was taken out by the fault "removal"; may be NULL. Must not block.
	 */
	void (*removed)(void *opaque);
};

/** struct emu_config - what to build; size-first. Zero means the default of the product. */
struct emu_config {
	size_t size;
	const char *arch;    /* "trn1" (default), "inf2", "trn2" */
	uint32_t routing_id; /* 0..63 */
	uint64_t serial;     /* 0: derived from the routing id */
	/* per stack, 0: real size; else the real size, or a power of two from 64 MiB to below it */
	uint64_t hbm_bytes;
	uint32_t disable_features; /* TRN_FEATURE_* not announced and not present */
	/*
	 * Links, see Documentation/open-extension.md. Strings are copied.
	 * @fabric: devices of this process with the same name are wired; NULL: with none
	 * @name: what messages call the device, NULL: made up
	 * @node, @nodes: place in an UltraServer of 2 or 4 nodes; 0: a single node
	 * @link_dir: folder where devices of other processes are met; NULL: none
	 */
	const char *fabric;
	const char *name;
	uint32_t node, nodes;
	const char *link_dir;
	/*
	 * Time mode, see Documentation/time-mode.md.
	 * @time_mode: charge published costs; the device clock is virtual
	 * @trace: file for a trace, written when the device ends; NULL: none
	 * @trace_events: how many events the trace keeps; 0: a million
	 */
	bool time_mode;
	const char *trace;
	uint64_t trace_events;
};

/** enum emu_complaint - what a guest did wrong; counted per kind, never fatal. */
enum emu_complaint {
	EMU_COMPLAINT_NONE,
	EMU_COMPLAINT_ACCESS_SIZE,	/* register access not 32-bit or misaligned */
	EMU_COMPLAINT_UNKNOWN_REGISTER, /* access to an address the map does not define */
	EMU_COMPLAINT_READ_ONLY,
	/* doorbell of a queue that is not enabled or has no ring */
	EMU_COMPLAINT_DOORBELL_DISABLED,
	EMU_COMPLAINT_DOORBELL_OVERRUN, /* more descriptors than the ring holds */
	EMU_COMPLAINT_RING_SIZE,
	EMU_COMPLAINT_RING_ALIGN,
	/* reserved bit set, FIRST/LAST wrong, unsupported operation */
	EMU_COMPLAINT_DESC_RESERVED,
	/* descriptor pointer decodes to nothing or is refused by the host */
	EMU_COMPLAINT_DESC_ADDRESS,
	EMU_COMPLAINT_DESC_LENGTH,  /* packet lengths of the two directions differ */
	EMU_COMPLAINT_FWIO_REQUEST, /* bad size, CRC, sequence 0 */
	EMU_COMPLAINT_NQ_SIZE,
	EMU_COMPLAINT_NQ_ADDRESS,
	EMU_COMPLAINT_SQ_CONFIG,
	EMU_COMPLAINT_SQ_REQUEST,
	EMU_COMPLAINT_REGISTER_DMA_LOOP, /* DMA into doorbells nested too deep */
	EMU_COMPLAINT_COUNT,
};

/**
 * emu_device_create() - build a device in its power-up state.
 * @error: receives a sentence that names the property and the limit when creation fails.
 * Return: 0 or a negative errno.
 */
int emu_device_create(const struct emu_config *config, const struct emu_host_ops *ops, void *opaque,
		      struct emu_device **device, char *error, size_t error_size);
/**
 * emu_device_destroy() - stops all workers (callbacks may still come until it returns), frees
 * everything.
 */
void emu_device_destroy(struct emu_device *device);

/** emu_device_bar_size() - bytes of PCI BAR 0, 2, 4; 0 when absent. */
uint64_t emu_device_bar_size(const struct emu_device *device, unsigned int bar);
/**
 * emu_device_read(), emu_device_write() - register access through BAR 0 or 2 (2: extension
 * registers; the MSI-X table is the shell's).
 */
uint32_t emu_device_read(struct emu_device *device, unsigned int bar, uint64_t offset,
			 unsigned int size);
void emu_device_write(struct emu_device *device, unsigned int bar, uint64_t offset, uint32_t value,
		      unsigned int size);
/**
 * emu_device_hbm() - BAR4 content: one pointer for the whole BAR, sparse. @size: of the BAR, a
 * power of two; stack h lies at h * (@size / number of stacks). What is behind a stack up to the
 * next one must not be touched: emu_device_hbm_stack() tells how much there is.
 */
void *emu_device_hbm(struct emu_device *device, uint64_t *size);
/**
 * emu_device_hbm_stack() - where in BAR4 stack @stack lies and how many bytes are backed.
 * Return: false when there is no such stack.
 */
bool emu_device_hbm_stack(const struct emu_device *device, unsigned int stack, uint64_t *offset,
			  uint64_t *size);

/**
 * emu_device_pci_config() - fills the 4 KiB config image: identity, BAR types, extended capability.
 * BAR values are the shell's.
 */
void emu_device_pci_config(const struct emu_device *device, uint8_t config[4096]);
unsigned int emu_device_vectors(const struct emu_device *device);

/**
 * emu_device_bus_master() - false: no DMA and no interrupt leaves the device until true again.
 * Initially true.
 */
void emu_device_bus_master(struct emu_device *device, bool enabled);
/**
 * emu_device_reset() - power-on or function reset by the machine: all state but HBM contents to
 * power-up. Waits for workers.
 */
void emu_device_reset(struct emu_device *device);
/** struct emu_link_info - a link; @state in words; node and routing id of the neighbour by the
 * wiring. */
struct emu_link_info {
	const char *state;
	bool wired;
	uint32_t node, routing_id, errors;
};

/** emu_device_link() - Return: false when there is no such link. */
bool emu_device_link(struct emu_device *device, unsigned int link, struct emu_link_info *info);

/**
 * emu_device_disconnect() - leaves the fabric for good, so that its place is free (the machine
 * unplugs the function). Neighbours find their links unconnected.
 */
void emu_device_disconnect(struct emu_device *device);
/**
 * emu_device_quiesce() - wait until no queue and no core has work that can proceed now. Return: 0
 * or -ETIMEDOUT after @timeout_ms.
 */
int emu_device_quiesce(struct emu_device *device, unsigned int timeout_ms);

/**
 * emu_device_trace_write() - the trace so far into the file of the configuration, which is written
 * once more when the device ends. Return: 0, -ENOENT without a trace, -EIO when the file cannot be
 * written, -ENOMEM.
 */
int emu_device_trace_write(struct emu_device *device);

/** emu_device_complaints() - guest mistakes of one kind, or of all with EMU_COMPLAINT_NONE. */
uint64_t emu_device_complaints(const struct emu_device *device, enum emu_complaint kind);
const char *emu_complaint_name(enum emu_complaint kind);
/** emu_device_complaint_text() - the last mistake in words, for assertion messages. */
void emu_device_complaint_text(struct emu_device *device, char *text, size_t size);

/**
 * emu_device_fault_set() - switch a fault on demand; names as in the QEMU properties, by count.
 * Return: 0, -ENOENT for an unknown name, -ERANGE for a value out of range, -ENOTSUP when the
 * device lacks the feature the fault is about.
 */
int emu_device_fault_set(struct emu_device *device, const char *name, uint64_t value);
/** emu_device_fault_get() - present value: occurrences left of a counted fault, level of the
 * others. 0 or -ENOENT. */
int emu_device_fault_get(struct emu_device *device, const char *name, uint64_t *value);
/** emu_fault_name() - names in order, NULL at the end; *@help a line on each. */
const char *emu_fault_name(unsigned int index, const char **help);
/** emu_device_fault_range() - the values fault @name takes, in words, for messages. */
void emu_device_fault_range(const struct emu_device *device, const char *name, char *text,
			    size_t size);
/** emu_device_removed() - the fault "removal" has taken the device out. */
bool emu_device_removed(struct emu_device *device);

/** emu_stat_name() - names of the statistics in order, NULL at the end; *@help a line on each. */
const char *emu_stat_name(unsigned int index, const char **help);
/** emu_device_stat() - since creation; resets do not clear it. */
uint64_t emu_device_stat(const struct emu_device *device, unsigned int index);

#endif /* EMU_H */
