// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Submission queue and notification queue of a core (open extension). Requests go out through one
 * ring in host memory, their ends come back through another; both indices run freely.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "internal.h"

#define CORE_SQ_BYTES		(TRNHW_SQ_ENTRIES * sizeof(struct trn_run_request))
#define CORE_NQ_BYTES		(TRNHW_NQ_ENTRIES * sizeof(struct trn_notification))
#define CORE_NQ_REPORT		(TRNHW_NQ_ENTRIES / 4)
#define CORE_STOP_MS		100

static u32 core_reg(const struct trnhw_core *core, u32 reg)
{
	return core->hw->arch->tpb(core->index) + TRN_TPB_CORE + reg;
}

static u32 core_nq_reg(const struct trnhw_core *core, u32 reg)
{
	return core->hw->arch->nc_notific(core->index) + TRN_NQ_SLOT(TRN_NOTIFY_SLOT_CORE) + reg;
}

static void core_free(struct trnhw_core *core)
{
	if (core->sq)
		dma_free_coherent(core->hw->dev, CORE_SQ_BYTES, core->sq, core->sq_dma);
	if (core->nq)
		dma_free_coherent(core->hw->dev, CORE_NQ_BYTES, core->nq, core->nq_dma);
	core->sq = NULL;
	core->nq = NULL;
}

int trnhw_core_init(struct trnhw_core *core, struct trnhw *hw, unsigned int index)
{
	const u32 needed = TRN_FEATURE_CORES | TRN_FEATURE_NOTIFY;

	memset(core, 0, sizeof(*core));
	if (index >= hw->arch->cores)
		return -EINVAL;
	if ((hw->features & needed) != needed)
		return -EOPNOTSUPP;
	core->hw = hw;
	core->index = index;
	core->sq = dma_alloc_coherent(hw->dev, CORE_SQ_BYTES, &core->sq_dma, GFP_KERNEL);
	core->nq = dma_alloc_coherent(hw->dev, CORE_NQ_BYTES, &core->nq_dma, GFP_KERNEL);
	if (!core->sq || !core->nq) {
		core_free(core);
		return -ENOMEM;
	}
	if (!trnhw_host_address(hw, core->sq_dma + CORE_SQ_BYTES - 1) ||
	    !trnhw_host_address(hw, core->nq_dma + CORE_NQ_BYTES - 1)) {
		dev_err(hw->dev, "queues of core %u at bus address %#llx are out of reach\n",
			index, (unsigned long long)core->sq_dma);
		core_free(core);
		return -EIO;
	}
	return 0;
}

void trnhw_core_fini(struct trnhw_core *core)
{
	if (!core->sq)
		return;
	if (core->running)
		trnhw_core_stop(core);
	core_free(core);
}

static void core_nq_set(const struct trnhw_core *core, u64 base, u32 size)
{
	trnhw_write(core->hw, core_nq_reg(core, TRN_NQ_BASE_HIGH), upper_32_bits(base));
	trnhw_write(core->hw, core_nq_reg(core, TRN_NQ_BASE_LOW), lower_32_bits(base));
	trnhw_write(core->hw, core_nq_reg(core, TRN_NQ_SIZE), size);
}

int trnhw_core_start(struct trnhw_core *core)
{
	struct trnhw *hw = core->hw;
	u64 sq = trnhw_host_address(hw, core->sq_dma);
	u32 id = trnhw_read(hw, core_reg(core, TRN_CORE_ID));

	if (id != TRN_CORE_ID_VALUE) {
		if (trnhw_gone(hw))
			return -ENODEV;
		dev_err(hw->dev, "core %u identifies as %#x, not %#x: reset the device\n",
			core->index, id, TRN_CORE_ID_VALUE);
		return -EIO;
	}
	/* Disable both first: their indices start at 0 with the next enable. */
	trnhw_write(hw, core_reg(core, TRN_CORE_SQ_CONTROL), 0);
	core_nq_set(core, 0, 0);
	memset(core->sq, 0, CORE_SQ_BYTES);
	memset(core->nq, 0, CORE_NQ_BYTES);	/* phase 0: nothing written yet */
	core->tail = 0;
	core->finished = 0;
	core->nq_next = 0;
	core->nq_reported = 0;

	core_nq_set(core, trnhw_host_address(hw, core->nq_dma), CORE_NQ_BYTES);
	trnhw_write(hw, core_nq_reg(core, TRN_NQ_TAIL), 0);
	trnhw_write(hw, core_reg(core, TRN_CORE_SQ_BASE_LOW), lower_32_bits(sq));
	trnhw_write(hw, core_reg(core, TRN_CORE_SQ_BASE_HIGH), upper_32_bits(sq));
	trnhw_write(hw, core_reg(core, TRN_CORE_SQ_SIZE), TRNHW_SQ_ENTRIES);
	trnhw_write(hw, core_reg(core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE);
	if (!(trnhw_read(hw, core_reg(core, TRN_CORE_SQ_CONTROL)) & TRN_SQ_ENABLE)) {
		core_nq_set(core, 0, 0);
		dev_err(hw->dev, "core %u refuses its submission queue at %#llx\n", core->index,
			(unsigned long long)sq);
		return -EIO;
	}
	core->running = true;
	return 0;
}

int trnhw_core_stop(struct trnhw_core *core)
{
	struct trnhw *hw = core->hw;
	unsigned int ms;
	int ret = -ETIMEDOUT;

	if (!core->running)
		return 0;
	core->running = false;
	trnhw_write(hw, core_reg(core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
	for (ms = 0; ms < CORE_STOP_MS; ms++) {
		u32 status = trnhw_read(hw, core_reg(core, TRN_CORE_STATUS));

		if (status == ~0u && trnhw_gone(hw)) {
			ret = -ENODEV;
			break;
		}
		if (status != TRN_CORE_STATUS_RUNNING) {
			ret = 0;
			break;
		}
		if (trnhw_pause(hw, 1)) {
			ret = -ENODEV;
			break;
		}
	}
	trnhw_write(hw, core_reg(core, TRN_CORE_SQ_CONTROL), 0);
	core_nq_set(core, 0, 0);
	/* A read pushes the writes out; entries on their way have a millisecond, as documented. */
	trnhw_read(hw, core_reg(core, TRN_CORE_STATUS));
	trnhw_pause(hw, 1);
	if (ret == -ETIMEDOUT)
		dev_err(hw->dev, "core %u still runs %u ms after an abort: reset it\n",
			core->index, CORE_STOP_MS);
	return ret;
}

int trnhw_core_submit(struct trnhw_core *core, const struct trn_run_request *request)
{
	struct trn_run_request *slot;

	if (!core->running)
		return -ENODEV;
	if (request->flags || request->reserved0 || request->reserved1[0] ||
	    request->reserved1[1] || request->window_count > TRN_WINDOWS_MAX)
		return -EINVAL;
	if (core->tail - core->finished >= TRNHW_SQ_ENTRIES)
		return -EAGAIN;
	slot = &core->sq[core->tail % TRNHW_SQ_ENTRIES];
	slot->program = trnhw_to_wire64(request->program);
	slot->args = trnhw_to_wire64(request->args);
	slot->args_size = trnhw_to_wire32(request->args_size);
	slot->flags = 0;
	slot->windows = trnhw_to_wire64(request->windows);
	slot->window_count = trnhw_to_wire32(request->window_count);
	slot->reserved0 = 0;
	slot->cookie = trnhw_to_wire64(request->cookie);
	slot->reserved1[0] = 0;
	slot->reserved1[1] = 0;
	core->tail++;
	return 0;
}

void trnhw_core_ring(struct trnhw_core *core)
{
	if (!core->running)
		return;
	mb();	/* requests before the doorbell */
	trnhw_write(core->hw, core_reg(core, TRN_CORE_SQ_TAIL), core->tail);
}

static void core_nq_report(struct trnhw_core *core)
{
	if (core->nq_reported == core->nq_next)
		return;
	core->nq_reported = core->nq_next;
	trnhw_write(core->hw, core_nq_reg(core, TRN_NQ_TAIL), core->nq_next);
}

/* The phase bit of entries of the pass @next is in: 1 in the first. */
static u8 core_nq_phase(u32 next)
{
	return next / TRNHW_NQ_ENTRIES % 2 ? 0 : TRN_NOTIFY_FLAG_PHASE;
}

static bool core_nq_take(struct trnhw_core *core, struct trn_notification *entry)
{
	const struct trn_notification *slot = &core->nq[core->nq_next % TRNHW_NQ_ENTRIES];
	u8 flags = READ_ONCE(slot->flags);

	if ((flags & TRN_NOTIFY_FLAG_PHASE) != core_nq_phase(core->nq_next))
		return false;
	dma_rmb();	/* the phase bit is written last */
	entry->type = READ_ONCE(slot->type);
	entry->engine = READ_ONCE(slot->engine);
	entry->flags = flags;
	entry->code = READ_ONCE(slot->code);
	entry->tag = trnhw_from_wire32(READ_ONCE(slot->tag));
	entry->timestamp = trnhw_from_wire64(READ_ONCE(slot->timestamp));
	entry->payload[0] = trnhw_from_wire64(READ_ONCE(slot->payload[0]));
	entry->payload[1] = trnhw_from_wire64(READ_ONCE(slot->payload[1]));
	core->nq_next++;
	if (core->nq_next - core->nq_reported >= CORE_NQ_REPORT)
		core_nq_report(core);
	return true;
}

static bool core_nq_valid(const struct trnhw_core *core, const struct trn_notification *entry)
{
	if (entry->type > TRN_NOTIFY_RUN_END || entry->engine >= TRN_ENGINE_MAX ||
	    entry->flags & ~(TRN_NOTIFY_FLAG_PHASE | TRN_NOTIFY_FLAG_OVERFLOW))
		return false;
	/* More ends than requests: the device invents them. */
	return entry->type != TRN_NOTIFY_RUN_END || core->finished != core->tail;
}

bool trnhw_core_poll(struct trnhw_core *core, struct trn_notification *entry)
{
	unsigned int i;

	if (!core->nq)
		return false;
	/* A device that writes nonsense as fast as it is read must not keep the caller here. */
	for (i = 0; i < TRNHW_NQ_ENTRIES; i++) {
		if (!core_nq_take(core, entry))
			break;
		if (core_nq_valid(core, entry)) {
			if (entry->type == TRN_NOTIFY_RUN_END)
				core->finished++;
			return true;
		}
		core->malformed++;
	}
	if (core->running)
		core_nq_report(core);
	return false;
}

u32 trnhw_core_progress(const struct trnhw_core *core)
{
	u32 head = trnhw_read(core->hw, core_reg(core, TRN_CORE_SQ_HEAD));

	/* Between what was consumed and what was submitted, whatever the device says. */
	if (head - core->finished > core->tail - core->finished)
		return core->finished;
	return head;
}

void trnhw_core_resume(struct trnhw_core *core)
{
	if (core->running)
		trnhw_write(core->hw, core_reg(core, TRN_CORE_SQ_CONTROL),
			    TRN_SQ_ENABLE | TRN_SQ_RESUME);
}
