# SPDX-License-Identifier: BSD-2-Clause
"""Life of the device in QEMU, with the test as the guest: what an administrator, a machine and a hostile guest can do to it
in each of its states, while the process stays healthy and loses nothing.

Usage: qemu_lifecycle.py PATH-OF-QEMU [PATTERN]
PATTERN: only cases whose name contains it. QEMU_WRAPPER="valgrind …" runs QEMU under something else.
"""
import os
import random
import signal
import struct
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import qtest

ONES = 0xffffffff
TRN0 = "trainium,id=trn0,bus=rp0,hbm-size=64M"
failures = 0


def case(name, function, *arguments):
    """Runs one case with a machine of its own."""
    global failures
    if len(sys.argv) > 2 and sys.argv[2] not in name:
        return
    try:
        function(*arguments)
        print(f"ok - {name}", flush=True)
    except (RuntimeError, OSError, AssertionError, ValueError) as error:
        failures += 1
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(f"not ok - {name}\n  {type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})",
              flush=True)
        for line in getattr(error, "qemu", "").splitlines()[:20]:
            print(f"  QEMU: {line}", flush=True)


class Rig:
    """A machine with one device, ready for work; QEMU must end well."""

    def __init__(self, device=TRN0, **options):
        self.options = options
        self.device = device

    def __enter__(self):
        self.m = qtest.Machine(sys.argv[1], [self.device], **self.options)
        try:
            self.d = qtest.Device(self.m)
            self.d.enumerate()
        except (RuntimeError, OSError) as error:
            error.qemu = self.m.kill()
            raise
        return self.m, self.d

    def __exit__(self, kind, value, trace):
        if kind:
            value.qemu = self.m.kill()
        else:
            self.output = self.m.close()


def must(condition, text):
    if not condition:
        raise RuntimeError(text)


# States a device can be in when something happens to it.

def state_reset(m, d):
    m.set("reset-slow", 600000)
    d.reset_begin()
    busy = d.r["TRN_FW_STATUS_BUSY"]
    d.wait(d.r["TRN_V2_MISC"] + d.r["TRN_MISC_FW_STATUS"], busy, busy)


def state_engine_hang(m, d):
    m.set("engine-hang", 1 + 32)
    d.dma_endless()


def state_late(m, d):
    m.set("completion-late", 600000)
    d.queue_open()
    d.post([(d.host + d.DATA + 0x50040, d.host + d.DATA + 0x50000, 4)])


STATES = {
    "before a driver": lambda m, d: None,
    "driver idle": lambda m, d: d.copy_works(),
    "DMA running": lambda m, d: d.dma_endless(),
    "core running": lambda m, d: d.run_hanging(),
    "reset running": state_reset,
    "engine hanging": state_engine_hang,
    "completion late": state_late,
    "registers all ones": lambda m, d: m.set("regs-all-ones", 1),
    "pulled out": lambda m, d: m.set("removal", 1),
}
LEVELS = ("reset-slow", "engine-hang", "completion-late", "core-hang", "regs-all-ones", "removal")


# What happens. Afterwards the device is as after power-up, or just where it was.

def error_wait(m, errors):
    """Until a DMA engine latched one more than @errors."""
    end = time.monotonic() + 10
    while m.get("stat-dma-errors") == errors:
        must(time.monotonic() < end, "no error of the DMA engine")


def happens_unplug(m, d):
    d.unplug()
    must(m.read(d.cfg(0)) == ONES, "the slot still answers after the device left")
    d.plug()


def happens_system_reset(m, d):
    gone = m.get("removal")
    m.command("system_reset")
    m.event_wait("RESET")
    must(m.get("removal") == gone, "a reset of the machine brought the device back")
    faults_off(m)
    d.enumerate()


def happens_flr(m, d):
    if not m.get("removal"):
        d.flr()
    faults_off(m)
    d.bars()


def happens_bus_master_off(m, d):
    if not m.get("removal"):
        d.master(False)
        d.master(True)
    faults_off(m)
    d.bars()


def happens_stop(m, d):
    m.command("stop")
    m.command("cont")
    faults_off(m)


def happens_sigstop(m, d):
    os.kill(m.process.pid, signal.SIGSTOP)
    time.sleep(0.05)
    os.kill(m.process.pid, signal.SIGCONT)
    faults_off(m)


EVENTS = {
    "is unplugged and plugged in": happens_unplug,
    "is reset with the machine": happens_system_reset,
    "is reset by itself (FLR)": happens_flr,
    "loses bus mastering": happens_bus_master_off,
    "stops with the machine": happens_stop,
    "stops with the process": happens_sigstop,
}


def faults_off(m):
    for name in LEVELS:
        m.set(name, 0)


def life(state, event):
    with Rig() as (m, d):
        process = qtest.Process(m.process.pid)
        threads = process.threads()
        STATES[state](m, d)
        EVENTS[event](m, d)
        if m.read(d.cfg(4), 2) & qtest.COMMAND_MASTER == 0:
            d.bars()
        d.copy_works()
        must(m.hmp("info trainium").startswith("trn0: trn1"), "the monitor lost the device")
        end = time.monotonic() + 10
        while process.threads() != threads and time.monotonic() < end:
            time.sleep(0.05)
        must(process.threads() == threads, f"{process.threads()} threads, {threads} before")


def no_more_than(process, before, early, late):
    """Threads and mappings of QEMU come down to what they were; a device ends a moment after it was unplugged."""
    end = time.monotonic() + 10
    while True:
        after = process.threads(), process.mappings()
        if after[0] <= before[0] and after[1] <= before[1]:
            return
        must(time.monotonic() < end, f"threads and mappings {before} after {early}, {after} after {late}")
        time.sleep(0.1)


# AddressSanitizer keeps freed memory for a while otherwise, which would count.
FREED_AT_ONCE = {"ASAN_OPTIONS": ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=0")))}


def nothing_is_lost():
    with Rig(environment=FREED_AT_ONCE) as (m, d):
        process = qtest.Process(m.process.pid)
        for cycle in range(25):
            d.dma_endless() if cycle % 2 else d.run_hanging()
            d.unplug()
            if cycle == 5:
                before = process.threads(), process.mappings()
                resident = process.resident()
            if cycle != 24:
                d.plug()
        no_more_than(process, before, "6 devices", "25")
        must(process.resident() < resident + 8192, f"{resident} KiB resident after 6 devices, {process.resident()} after 25")


def refused_and_gone():
    """A refusal that comes after the model was made takes the model back."""
    with Rig(environment=FREED_AT_ONCE) as (m, d):
        d.unplug()
        process = qtest.Process(m.process.pid)
        for cycle in range(12):
            try:
                m.command("device_add", driver="trainium", id="trn0", bus="rp0", hbm_size=64 << 20, engine_hang=99)
                raise AssertionError("engine-hang=99 was taken")
            except RuntimeError as error:
                must("engine-hang=99 is refused" in str(error), str(error))
            if cycle == 1:
                time.sleep(0.2)
                before = process.threads(), process.mappings()
        no_more_than(process, before, "2 refusals", "12")
        d.plug()
        d.copy_works()


def routing_id_free_again():
    with Rig() as (m, d):
        d.unplug()
        m.command("device_add", driver="trainium", id="other", bus="rp0", routing_id=0, hbm_size=64 << 20)
        must("other: trn1, routing id 0" in m.hmp("info trainium"), "the second device did not come up")


def bus_master_off_stops_dma():
    with Rig() as (m, d):
        d.copy_works()
        m.ram_write(d.DATA + 0x20000, b"untouched")
        d.master(False)
        d.post([(d.host + d.DATA + 0x20000, 0x1000000, 9)])
        time.sleep(0.1)
        must(m.ram_read(d.DATA + 0x20000, 9) == b"untouched", "a device that is no bus master wrote to memory")
        d.master(True)
        d.copy_works()


def pulled_out():
    with Rig() as (m, d):
        d.copy_works()
        m.set("removal", 1 + 2)
        must(d.get(d.r["TRN_V2_MISC"]) != ONES, "gone too early")
        must(m.read(d.bar2) == d.r["TRN_EXT_ID_VALUE"], "gone too early")
        must(d.get(d.r["TRN_V2_MISC"]) == ONES, "BAR0 is still there")
        must(m.read(d.cfg(0)) == ONES, "configuration space is still there")
        must(m.read(d.cfg(4), 2) == 0xffff, "configuration space is still there in words")
        must(m.read(d.bar4, 8) == (1 << 64) - 1, "BAR4 is still there")
        m.write(d.bar4, 1)
        m.write(d.cfg(4), 0, 2)
        m.set("removal", 0)
        must(m.read(d.cfg(0)) & 0xffff == 0x1d0f, "configuration space did not come back")
        must(m.read(d.cfg(4), 2) & 6 == 0, "the command register survived")
        d.bars()
        d.copy_works()


def msix_setup(m, d, vector):
    """Message of @vector: a word in guest memory."""
    m.write(d.bar2 + d.r["TRN_EXT_MSIX_TABLE"] + 16 * vector, d.DATA + 0x30000)
    m.write(d.bar2 + d.r["TRN_EXT_MSIX_TABLE"] + 16 * vector + 4, 0)
    m.write(d.bar2 + d.r["TRN_EXT_MSIX_TABLE"] + 16 * vector + 8, 0x1234)
    m.write(d.bar2 + d.r["TRN_EXT_MSIX_TABLE"] + 16 * vector + 12, 0)
    m.write(d.bar2 + d.r["TRN_EXT_IRQ_MASK(0)"] + 8 * vector, 0)
    at = m.capability(d.BUS, 0, 0x11)
    m.write(d.cfg(at + 2), 0x8000, 2)
    return at


def message_wait(m, d):
    end = time.monotonic() + 10
    while m.read(d.DATA + 0x30000) != 0x1234:
        must(time.monotonic() < end, "no interrupt message")
    m.write(d.DATA + 0x30000, 0)


def interrupts_come():
    with Rig() as (m, d):
        d.queue_open()
        vector = d.r["TRN_VECTOR_H2T(2,0)"]
        at = msix_setup(m, d, vector)
        d.post([(0x1000000, d.host + d.DATA, 64)], interrupt=True)
        message_wait(m, d)
        # Masked as a function: kept, and sent when unmasked.
        m.write(d.cfg(at + 2), 0xc000, 2)
        d.post([(0x1000000, d.host + d.DATA, 64)], interrupt=True)
        d.drain()
        time.sleep(0.05)
        must(m.read(d.DATA + 0x30000) == 0, "a masked interrupt was sent")
        m.write(d.cfg(at + 2), 0x8000, 2)
        message_wait(m, d)


def moved_while_dma_runs():
    with Rig() as (m, d):
        d.copy_works()
        msix_setup(m, d, d.r["TRN_VECTOR_H2T(2,0)"])
        d.dma_endless()
        for i in range(40):
            d.bars(bar0=qtest.BAR0, bar4=qtest.BAR4 + (i % 8 << 28))
            m.write(d.cfg(m.capability(d.BUS, 0, 0x11) + 2), 0x8000 if i % 2 else 0xc000, 2)
        # Bus mastering was off at times, which aborts what is under way.
        d.bars()
        d.flr()
        d.bars()
        d.copy_works()


def wrong_access_sizes():
    with Rig() as (m, d):
        before = m.get("complaints")
        for size in (1, 2, 8):
            for offset in (0, 1, 2, 3, 5):
                for base in (d.bar0 + d.r["TRN_V2_MISC"], d.bar2, d.bar0 + d.udma, d.bar4):
                    m.read(base + offset, size)
                    m.write(base + offset, 0x5a5a5a5a, size)
        must(m.get("complaints-access-size") > before, "wrong sizes are not counted")
        must(m.get("complaint-text") != "", "the last mistake has no words")
        m.read(d.bar0 + d.r["TRN_V2_BAR0_SIZE"] - 8, 8)
        m.read(d.bar2 + d.r["TRN_EXT_BAR_SIZE"] - 8, 8)
        d.flr()
        d.bars()
        d.copy_works()


def hostile_writes(seed):
    rng = random.Random(seed)
    with Rig() as (m, d):
        for step in range(3000):
            # Otherwise nothing is reached any more after the first write to a BAR.
            if step % 40 == 0:
                d.bars()
            kind = rng.randrange(5)
            size = rng.choice((1, 2, 4))
            if kind == 0:
                m.write(d.cfg(rng.randrange(0, 0x1000 - size)), rng.getrandbits(8 * size), size)
            elif kind == 1:
                m.write(d.bar0 + d.udma + rng.randrange(0, 0x40000, 4), rng.getrandbits(32))
            elif kind == 2:
                m.write(d.bar2 + rng.randrange(0, 0x10000 - size), rng.getrandbits(8 * size), size)
            elif kind == 3:
                m.write(d.bar0 + rng.randrange(0, d.r["TRN_V2_BAR0_SIZE"] - size), rng.getrandbits(8 * size), size)
            else:
                m.read(d.cfg(rng.randrange(0, 0x1000 - size)), size)
        # A function-level reset may be hidden, the machine's is not.
        m.command("system_reset")
        m.event_wait("RESET")
        d.enumerate()
        d.copy_works()


def reports_mistakes():
    rig = Rig(TRN0 + ",report-mistakes=on")
    with rig as (m, d):
        d.put(d.r["TRN_V2_MISC"] + d.r["TRN_MISC_DEVICE_ID"], 7)
        for _ in range(1100):
            m.write(d.bar2, 0)
    lines = rig.output.count("guest mistake read-only: ")
    must("guest mistake read-only: MISC RAM 0x024 belongs to the firmware" in rig.output, rig.output[-500:])
    must(lines == 1000, f"{lines} lines for 1101 mistakes, 1000 expected")
    must("1000 guest mistakes shown, the others are only counted" in rig.output, rig.output[-500:])


def traces_work():
    rig = Rig(extra=("-trace", "trainium_*", "-d", "guest_errors"))
    with rig as (m, d):
        d.copy_works()
        m.set("fw-silent", 3)
        d.run_hanging()
        d.reset_begin()
        d.wait(d.r["TRN_V2_MISC"] + d.r["TRN_MISC_RESET"], ONES, 0)
        d.put(d.r["TRN_V2_MISC"] + d.r["TRN_MISC_DEVICE_ID"], 7)
        m.set("irq-spurious", 1)
        d.queue_open()
        d.post([(0x1000000, d.host + (1 << 40), 64)])
        error_wait(m, 0)
        d.flr()
        m.set("removal", 1)
    for event in ("read dev 0 BAR0", "write dev 0 BAR0", "bus_master dev 0 on 1", "doorbell dev 0 engine 32 queue 0 M2S: 2",
                  "submission dev 0 core 0: tail 1", "reset dev 0 kind 1", "fault dev 0 fw-silent: 3 left",
                  "mistake dev 0 read-only", "dma_error dev 0 engine 32", "machine_reset dev 0", "removal dev 0 is gone"):
        must("trainium_" + event in rig.output, f"no trace of: {event}")
    must("trainium 0: guest mistake read-only: " in rig.output, "no line in the log for a mistake")


def traces_in_the_log():
    rig = Rig(extra=("-d", "trace:trainium_doorbell"))
    with rig as (m, d):
        d.copy_works()
    must(rig.output.count("trainium_doorbell dev 0 engine 32") == 2, rig.output[-500:])
    must("trainium_write" not in rig.output, "an event that nobody asked for")


def statistics_count():
    with Rig() as (m, d):
        d.copy_works()
        must(m.get("stat-descriptors") == 4, f"{m.get('stat-descriptors')} descriptors, 4 expected")
        must(m.get("stat-dma-bytes") == 10000, f"{m.get('stat-dma-bytes')} bytes, 10000 expected")
        must(m.get("stat-doorbells") == 2, f"{m.get('stat-doorbells')} doorbells, 2 expected")
        d.flr()
        must(m.get("stat-descriptors") == 4, "a reset cleared the statistics")


# An IOMMU in front of the device. Its tables are in guest memory; the pages of the rings are mapped, others are not.

class Iommu:
    REGISTERS, TABLES = 0xfed90000, 0x6000000

    def __init__(self, m):
        self.m = m
        self.free = self.TABLES
        self.root, self.context, self.top = self.page(), self.page(), self.page()
        # Every function of buses 0 and 1 sees the same pages.
        for bus in (0, 1):
            m.ram_write(self.root + 16 * bus, struct.pack("<QQ", self.context | 1, 0))
        m.ram_write(self.context, struct.pack("<QQ", self.top | 1, 2 | 1 << 8) * 256)

    def page(self):
        self.m.ram_write(self.free, bytes(4096))
        self.free += 4096
        return self.free - 4096

    def map(self, iova, physical, size):
        for offset in range(0, size, 4096):
            table = self.top
            for shift in (39, 30, 21):
                at = table + 8 * (iova + offset >> shift & 511)
                entry = self.m.read(at, 8)
                if not entry:
                    entry = self.page() | 3
                    self.m.write(at, entry, 8)
                table = entry & ~4095
            self.m.write(table + 8 * (iova + offset >> 12 & 511), physical + offset | 3, 8)

    def enable(self, interrupts):
        m = self.m
        m.write(self.REGISTERS + 0x20, self.root, 8)
        m.write(self.REGISTERS + 0x18, 1 << 30)
        m.write(self.REGISTERS + 0x18, 1 << 31)
        must(m.read(self.REGISTERS + 0x1c) >> 31, "the IOMMU does not translate")
        if interrupts:
            m.write(self.REGISTERS + 0x3c, 0x41)
            m.write(self.REGISTERS + 0x40, 0xfee00000)
            m.write(self.REGISTERS + 0x38, 0)

    def faults(self):
        return self.m.read(self.REGISTERS + 0x34) & 3


def behind_an_iommu(event):
    ring, data, beyond = 0x100000000, 0x200000000, 0x300000000
    with Rig(accel="tcg", extra=("-S", "-device", "intel-iommu,intremap=off,aw-bits=48")) as (m, d):
        iommu = Iommu(m)
        iommu.map(ring, d.RING, 2 * d.ENTRIES * 16)
        iommu.map(data, d.DATA, 0x40000)
        iommu.enable(interrupts=True)
        text = os.urandom(20000)
        m.ram_write(d.DATA, text)
        d.queue_open()
        host = d.host
        # Rings are written where they are and announced where the device sees them.
        for direction in (0, 1):
            base = host + ring + direction * d.ENTRIES * 16
            d.put(d.queue(direction, "TRN_Q_BASE_LOW"), base & ONES)
            d.put(d.queue(direction, "TRN_Q_BASE_HIGH"), base >> 32)
        d.post([(0x1000000, host + data, 20000), (host + data + 0x20000, 0x1000000, 20000)])
        d.drain()
        must(m.ram_read(d.DATA + 0x20000, 20000) == text, "a copy through the IOMMU changed the data")
        must(not iommu.faults(), "the IOMMU saw a wrong access")
        # An address without a mapping: refused, reported by an interrupt of the IOMMU, and nothing else happens.
        errors = m.get("stat-dma-errors")
        d.post([(host + beyond, 0x1000000, 20000)] * 3)
        error_wait(m, errors)
        must(iommu.faults(), "the IOMMU saw nothing wrong")
        EVENTS[event](m, d)
        must(m.get("stat-resets") >= 1, "the device is gone")


def neighbour_is_inside():
    """A device is reset and unplugged while its neighbour, whose memory is behind an IOMMU, writes to it over a link."""
    ring, data = 0x100000000, 0x200000000
    other = "trainium,id=other,bus=pcie.0,addr=5,routing-id=1,hbm-size=64M"
    with Rig(accel="tcg", extra=("-S", "-device", "intel-iommu,intremap=off,aw-bits=48", "-device", other)) as (m, d):
        iommu = Iommu(m)
        iommu.map(ring, d.RING, 2 * d.ENTRIES * 16)
        iommu.map(data, d.DATA, 0x40000)
        iommu.enable(interrupts=True)
        second = qtest.Device(m, bus=0, device=5, bar0=0x2000000000, bar2=0x2040000000, bar4=0x2080000000)
        second.bars()
        window = second.link_window(0)
        for event in [lambda: (d.flr(), d.bars())] * 20 + [d.unplug]:
            second.flr()
            second.bars()
            second.queue_open()
            for direction in (0, 1):
                base = second.host + ring + direction * d.ENTRIES * 16
                second.put(second.queue(direction, "TRN_Q_BASE_LOW"), base & ONES)
                second.put(second.queue(direction, "TRN_Q_BASE_HIGH"), base >> 32)
            moved = m.get("stat-descriptors", "other")
            second.post([(window + 0x1000000, second.host + data, 0x1000)] * 1000)
            end = time.monotonic() + 10
            while m.get("stat-descriptors", "other") == moved:
                must(time.monotonic() < end, "nothing goes over the link")
            event()
        must("other: trn1, routing id 1" in m.hmp("info trainium"), "the neighbour is lost")


def main():
    for event in EVENTS:
        for state in STATES:
            case(f"{state}: the device {event}", life, state, event)
    case("25 devices come and go and leave nothing", nothing_is_lost)
    case("a device that is refused leaves nothing", refused_and_gone)
    case("the routing id of a device that left is free", routing_id_free_again)
    case("a device that is no bus master does no DMA", bus_master_off_stops_dma)
    case("a device that is pulled out reads all ones, in all its spaces", pulled_out)
    case("interrupt messages, and a function mask", interrupts_come)
    case("BARs move and interrupts are masked while DMA runs", moved_while_dma_runs)
    case("accesses of 1, 2, 8 bytes and across words", wrong_access_sizes)
    seed = int(os.environ.get("TRN_FUZZ_SEED", random.randrange(1 << 32)))
    case(f"random writes of configuration space and BARs (TRN_FUZZ_SEED={seed})", hostile_writes, seed)
    case("mistakes are reported, the first 1000", reports_mistakes)
    case("trace events", traces_work)
    case("trace events in the log, one kind of them", traces_in_the_log)
    case("statistics", statistics_count)
    for event in ("is reset by itself (FLR)", "is reset with the machine", "is unplugged and plugged in"):
        case(f"behind an IOMMU: only mapped pages; then the device {event}", behind_an_iommu, event)
    case("a device goes while its neighbour is inside of it, behind an IOMMU", neighbour_is_inside)
    sys.exit(1 if failures else 0)


main()
