# SPDX-License-Identifier: BSD-2-Clause
"""A machine without a guest: QEMU with the trainium device, driven through its qtest socket.

The test is the guest: it programs the PCI Express root port, the BARs, the device's queues. Register offsets come from the
project's headers, printed by a C program that is compiled for it.
"""
import base64
import json
import os
import shlex
import socket
import struct
import subprocess
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
TIMEOUT = int(os.environ.get("QTEST_TIMEOUT", 60))
ECAM = 0xb0000000
BAR0, BAR2, BAR4 = 0x40000000, 0x80000000, 0x800000000
PORT_SLOT = 4
COMMAND_MEMORY, COMMAND_MASTER = 2, 4


class Headers:
    """Values of macro expressions of include/trainium."""

    def __init__(self, names):
        lines = "".join(f'printf("%llu\\n", (unsigned long long)({n}));' for n in names)
        code = '#include <stdio.h>\n' + "".join(
            f'#include "trainium/{h}.h"\n' for h in ("map", "regs", "desc", "ext", "isa", "notify"))
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "values.c")
            with open(source, "w") as f:
                f.write(code + "int main(void) { " + lines + " return 0; }\n")
            subprocess.run(["gcc", "-I", os.path.join(ROOT, "include"), "-o", folder + "/values", source], check=True)
            out = subprocess.run([folder + "/values"], check=True, capture_output=True, text=True).stdout
        self.value = dict(zip(names, map(int, out.split())))

    def __getitem__(self, name):
        return self.value[name]


class Machine:
    """QEMU and the two sockets to it."""

    def __init__(self, qemu, devices, accel="qtest", extra=(), environment=None):
        self.folder = tempfile.TemporaryDirectory()
        path = self.folder.name
        server = socket.socket(socket.AF_UNIX)
        server.bind(path + "/qtest")
        server.listen(1)
        server.settimeout(TIMEOUT)
        argv = shlex.split(os.environ.get("QEMU_WRAPPER", "")) + [
            qemu, "-L", os.path.join(os.path.dirname(qemu), "share"), "-machine", "q35", "-m", "256M", "-accel", accel,
            "-nodefaults", "-display", "none", "-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off",
            "-qtest", f"unix:{path}/qtest", "-qtest-log", "/dev/null", "-qmp", f"unix:{path}/qmp,server=on,wait=off",
            "-device", f"pcie-root-port,id=rp0,addr={PORT_SLOT},chassis=1,slot=1"]
        for device in devices:
            argv += ["-device", device]
        self.log = open(path + "/stderr", "w+")
        self.process = subprocess.Popen(argv + list(extra), stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env=os.environ | (environment or {}))
        try:
            self.qtest, _ = server.accept()
            self.qtest.settimeout(TIMEOUT)
            self.qtest_lines = self.qtest.makefile("rb")
            self.qmp_connect(path + "/qmp")
        except (OSError, ValueError) as error:
            raise RuntimeError(f"QEMU does not come up ({error}): {self.kill()[:2000]}") from error
        finally:
            server.close()

    def qmp_connect(self, path):
        self.qmp = socket.socket(socket.AF_UNIX)
        self.qmp.settimeout(TIMEOUT)
        self.qmp.connect(path)
        self.qmp_lines = self.qmp.makefile("rb")
        self.events = []
        json.loads(self.qmp_lines.readline())
        self.command("qmp_capabilities")

    def kill(self):
        """Ends QEMU at once, or finds it dead; returns what it printed."""
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.seek(0)
        return self.log.read()

    def close(self):
        """Ends QEMU; returns what it printed."""
        if self.process.poll() is None:
            try:
                self.command("quit")
            except (OSError, ValueError, RuntimeError):
                pass
        status = self.process.wait(TIMEOUT)
        self.log.seek(0)
        text = self.log.read()
        self.qmp.close()
        self.qtest.close()
        self.log.close()
        self.folder.cleanup()
        if status:
            raise RuntimeError(f"QEMU ended with status {status}: {text[-2000:]}")
        return text

    # QMP

    def command(self, name, **arguments):
        message = {"execute": name}
        if arguments:
            message["arguments"] = {k.replace("_", "-"): v for k, v in arguments.items()}
        self.qmp.sendall(json.dumps(message).encode() + b"\n")
        while True:
            answer = json.loads(self.qmp_lines.readline())
            if "event" in answer:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(answer["error"]["desc"])
            else:
                return answer["return"]

    def hmp(self, line):
        return self.command("human-monitor-command", command_line=line)

    def event_wait(self, name, seconds=10):
        end = time.monotonic() + seconds
        while True:
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    return event
            if time.monotonic() > end:
                raise RuntimeError(f"no event {name}")
            self.qmp.settimeout(max(end - time.monotonic(), 0.01))
            answer = json.loads(self.qmp_lines.readline())
            self.qmp.settimeout(TIMEOUT)
            self.events.append(answer)

    def get(self, name, device="trn0"):
        return self.command("qom-get", path="/machine/peripheral/" + device, property=name)

    def set(self, name, value, device="trn0"):
        self.command("qom-set", path="/machine/peripheral/" + device, property=name, value=value)

    # qtest

    def ask(self, line):
        self.qtest.sendall(line.encode() + b"\n")
        while True:
            words = self.qtest_lines.readline().decode().split()
            if not words:
                raise RuntimeError("QEMU is gone")
            if words[0] == "IRQ":
                continue
            if words[0] != "OK":
                raise RuntimeError(" ".join(words))
            return words[1:]

    def read(self, address, size=4):
        return int(self.ask(f"read{ {1: 'b', 2: 'w', 4: 'l', 8: 'q'}[size]} 0x{address:x}")[0], 0)

    def write(self, address, value, size=4):
        self.ask(f"write{ {1: 'b', 2: 'w', 4: 'l', 8: 'q'}[size]} 0x{address:x} 0x{value:x}")

    def ram_write(self, address, data):
        self.ask(f"b64write 0x{address:x} 0x{len(data):x} {base64.b64encode(data).decode()}")

    def ram_read(self, address, size):
        return base64.b64decode(self.ask(f"b64read 0x{address:x} 0x{size:x}")[0])

    # Configuration space through ECAM, which every machine reset switches off.

    def ecam_on(self):
        self.ask("outl 0xcf8 0x80000064")
        self.ask("outl 0xcfc 0x0")
        self.ask("outl 0xcf8 0x80000060")
        self.ask(f"outl 0xcfc 0x{ECAM | 1:x}")

    @staticmethod
    def config(bus, slot, register):
        return ECAM + (bus << 20) + (slot << 15) + register

    def capability(self, bus, slot, number):
        at = self.read(self.config(bus, slot, 0x34), 1)
        while at:
            if self.read(self.config(bus, slot, at), 1) == number:
                return at
            at = self.read(self.config(bus, slot, at + 1), 1)
        raise RuntimeError(f"no capability {number}")


class Process:
    """What the kernel knows of QEMU's process."""

    def __init__(self, pid):
        self.pid = pid

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def mappings(self):
        """Large ones: HBM, registers, stacks of threads."""
        count = 0
        with open(f"/proc/{self.pid}/maps") as f:
            for line in f:
                first, last = (int(x, 16) for x in line.split()[0].split("-"))
                count += last - first >= 1 << 20
        return count

    def resident(self):
        with open(f"/proc/{self.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


NAMES = """TRN_V2_H2T_UDMA(0) TRN_UDMA_M2S TRN_UDMA_S2M TRN_UDMA_QUEUE(0) TRN_UDMA_QUEUE(1) TRN_Q_CFG TRN_Q_CFG_ENABLE
TRN_Q_CFG_RESET_VALUE TRN_Q_BASE_LOW TRN_Q_BASE_HIGH TRN_Q_LENGTH TRN_Q_TAIL_INC TRN_Q_HEAD TRN_Q_INDEX_MASK
TRN_Q_M2S_SW_CTRL TRN_Q_S2M_SW_CTRL TRN_Q_SW_CTRL_RESET TRN_V2_HOST_BASE TRN_DESC_FIRST TRN_DESC_LAST TRN_DESC_INT
TRN_DESC_RING_ID_SHIFT TRN_META_PLAIN TRN_V2_MISC TRN_MISC_DEVICE_ID TRN_MISC_RESET TRN_MISC_TRIGGER TRN_MISC_FW_STATUS
TRN_RESET_DEVICE TRN_FW_STATUS_BUSY TRN_V2_TPB(0) TRN_TPB_CORE TRN_CORE_SQ_BASE_LOW TRN_CORE_SQ_BASE_HIGH TRN_CORE_SQ_SIZE
TRN_CORE_SQ_TAIL TRN_CORE_SQ_CONTROL TRN_SQ_ENABLE TRN_CORE_STATUS TRN_CORE_STATUS_RUNNING TRN_PROGRAM_TABLE_MAGIC
TRN_ENGINE_SP TRN_OP_HALT TRN_INSN_SIZE TRN_ACCESS_READ TRN_ACCESS_EXEC TRN_EXT_IRQ_MASK(0) TRN_EXT_MSIX_TABLE TRN_EXT_ID
TRN_EXT_ID_VALUE TRN_M2S_CHANGE_STATE TRN_UDMA_CHANGE_NORMAL TRN_EXT_COMPLAINTS TRN_VECTOR_H2T(2,0) TRN_V2_BAR0_SIZE
TRN_EXT_BAR_SIZE TRN_EXT_LINK_COUNT TRN_EXT_LINK(0) TRN_LINK_STRIDE TRN_LINK_STATE TRN_LINK_STATE_UP TRN_LINK_PEER
TRN_LINK_PEER_ROUTING_ID TRN_LINK_WINDOW_HIGH""".split()


class Device:
    """A driver of a trn1 device, no longer than the tests need: behind the root port, or where it is told."""

    RING, DATA = 0x2000000, 0x4000000
    ENTRIES = 1024
    BUS = 1

    def __init__(self, machine, bus=BUS, device=0, bar0=BAR0, bar2=BAR2, bar4=BAR4):
        self.m = machine
        self.place = bus, device
        self.bar0, self.bar2, self.bar4 = bar0, bar2, bar4
        self.r = Headers(NAMES)
        self.udma = self.r["TRN_V2_H2T_UDMA(0)"]
        self.host = self.r["TRN_V2_HOST_BASE"]

    # Machine

    def enumerate(self, bar0=BAR0, bar4=BAR4):
        """Bridge and BARs as firmware would set them; bus mastering on."""
        m = self.m
        m.ecam_on()
        port = lambda register: m.config(0, PORT_SLOT, register)
        m.write(port(0x18), 0x00010100)
        m.write(port(0x20), 0x9ff04000 if bar0 == BAR0 else 0xaff06000)
        m.write(port(0x24), 0xfff1 << 16 | 0x0001)
        m.write(port(0x28), 0x8)
        m.write(port(0x2c), 0x1f)
        m.write(port(4), COMMAND_MEMORY | COMMAND_MASTER, 2)
        # Slot power on.
        self.slot = m.capability(0, PORT_SLOT, 0x10) + 0x18
        m.write(port(self.slot), 0x0100, 2)
        self.bars(bar0, bar4)

    def cfg(self, register):
        return self.m.config(*self.place, register)

    def bars(self, bar0=None, bar4=None):
        m = self.m
        self.bar0, self.bar4 = bar0 or self.bar0, bar4 or self.bar4
        m.write(self.cfg(4), 0, 2)
        for register, value in ((0x10, self.bar0), (0x18, self.bar2), (0x20, self.bar4)):
            m.write(self.cfg(register), value & 0xffffffff)
            m.write(self.cfg(register + 4), value >> 32)
        m.write(self.cfg(4), COMMAND_MEMORY | COMMAND_MASTER, 2)

    def master(self, on):
        self.m.write(self.cfg(4), COMMAND_MEMORY | (COMMAND_MASTER if on else 0), 2)

    def flr(self):
        self.m.write(self.cfg(self.m.capability(*self.place, 0x10) + 8), 0x8000, 2)

    def unplug(self):
        """Asks for it as an administrator does, and does the guest's part."""
        self.m.command("device_del", id="trn0")
        self.m.write(self.m.config(0, PORT_SLOT, self.slot), 0x0700, 2)
        self.m.event_wait("DEVICE_DELETED")

    def plug(self, options=""):
        for value in self.options(options):
            self.m.command("device_add", **value)
        self.enumerate()

    @staticmethod
    def options(more):
        yield {"driver": "trainium", "id": "trn0", "bus": "rp0", "hbm_size": 64 << 20, **dict(
            (k, int(v)) for k, v in (x.split("=") for x in more.split(",") if x))}

    # Registers

    def get(self, register):
        return self.m.read(self.bar0 + register)

    def put(self, register, value):
        self.m.write(self.bar0 + register, value)

    def wait(self, register, mask, value, seconds=TIMEOUT):
        end = time.monotonic() + seconds
        while self.get(register) & mask != value:
            if time.monotonic() > end:
                raise RuntimeError(f"BAR0 0x{register:x} is 0x{self.get(register):x}, not 0x{value:x}")

    # DMA

    def queue(self, direction, register):
        return self.udma + self.r["TRN_UDMA_S2M" if direction else "TRN_UDMA_M2S"] + self.r["TRN_UDMA_QUEUE(0)"] + \
            self.r[register]

    def queue_open(self, ring=None):
        r = self.r
        for direction in (0, 1):
            base = self.host + (ring or self.RING) + direction * self.ENTRIES * 16
            self.put(self.queue(direction, "TRN_Q_CFG"), r["TRN_Q_CFG_RESET_VALUE"])
            self.put(self.queue(direction, "TRN_Q_S2M_SW_CTRL" if direction else "TRN_Q_M2S_SW_CTRL"),
                     r["TRN_Q_SW_CTRL_RESET"])
            self.put(self.queue(direction, "TRN_Q_BASE_LOW"), base & 0xffffffff)
            self.put(self.queue(direction, "TRN_Q_BASE_HIGH"), base >> 32)
            self.put(self.queue(direction, "TRN_Q_LENGTH"), self.ENTRIES)
            self.put(self.queue(direction, "TRN_Q_CFG"), r["TRN_Q_CFG_RESET_VALUE"] | r["TRN_Q_CFG_ENABLE"])
        self.put(self.udma + r["TRN_UDMA_M2S"] + r["TRN_M2S_CHANGE_STATE"], r["TRN_UDMA_CHANGE_NORMAL"])
        self.put(self.udma + r["TRN_UDMA_S2M"] + r["TRN_M2S_CHANGE_STATE"], r["TRN_UDMA_CHANGE_NORMAL"])
        self.next = 0
        self.ring = ring or self.RING

    def post(self, copies, interrupt=False):
        """@copies: (destination, source, bytes) in device addresses, at most the rest of the ring."""
        r = self.r
        ring_id = (1 + self.next // self.ENTRIES) & 3
        flags = r["TRN_DESC_FIRST"] | r["TRN_DESC_LAST"] | ring_id << r["TRN_DESC_RING_ID_SHIFT"]
        at = self.next % self.ENTRIES
        m2s = b"".join(struct.pack("<IIQ", size & 0xffff | flags | (r["TRN_DESC_INT"] if interrupt else 0),
                                   r["TRN_META_PLAIN"], src) for _, src, size in copies)
        s2m = b"".join(struct.pack("<IIQ", size & 0xffff | ring_id << r["TRN_DESC_RING_ID_SHIFT"], 0, dst)
                       for dst, _, size in copies)
        self.m.ram_write(self.ring + at * 16, m2s)
        self.m.ram_write(self.ring + (self.ENTRIES + at) * 16, s2m)
        self.next += len(copies)
        self.put(self.queue(1, "TRN_Q_TAIL_INC"), len(copies))
        self.put(self.queue(0, "TRN_Q_TAIL_INC"), len(copies))

    def drain(self, seconds=TIMEOUT):
        self.wait(self.queue(0, "TRN_Q_HEAD"), self.r["TRN_Q_INDEX_MASK"], self.next % self.ENTRIES, seconds)

    def copy_works(self):
        """Guest memory to HBM and back; raises when a byte differs."""
        self.queue_open()
        data = os.urandom(5000)
        self.m.ram_write(self.DATA, data)
        self.m.ram_write(self.DATA + 0x10000, bytes(5000))
        self.post([(0x1000000, self.host + self.DATA, 5000), (self.host + self.DATA + 0x10000, 0x1000000, 5000)])
        self.drain()
        if self.m.ram_read(self.DATA + 0x10000, 5000) != data:
            raise RuntimeError("a copy to HBM and back changed the data")
        if self.m.ram_read(self.bar4 + 0x1000000, 64) != data[:64]:
            raise RuntimeError("BAR4 does not show what was copied")

    def dma_endless(self):
        """Work for long enough: 1000 copies of 64 KiB."""
        self.queue_open()
        self.post([(0x1000000, self.host + self.DATA, 0x10000)] * 1000)

    def run_hanging(self):
        """A run that never ends by itself, with the fault core-hang."""
        r, m = self.r, self.m
        self.m.set("core-hang", 1 + r["TRN_ENGINE_SP"])
        program, image, windows = 0x2000000, 0x2001000, 0x2000800
        m.ram_write(self.bar4 + program, struct.pack("<IIIIQ", r["TRN_PROGRAM_TABLE_MAGIC"], 1, r["TRN_ENGINE_SP"], 1, image))
        m.ram_write(self.bar4 + image, bytes([r["TRN_OP_HALT"], r["TRN_ENGINE_SP"]]).ljust(r["TRN_INSN_SIZE"], b"\0"))
        m.ram_write(self.bar4 + windows, struct.pack("<QQIIQ", 0, 64 << 20, r["TRN_ACCESS_READ"] | r["TRN_ACCESS_EXEC"], 0, 0))
        m.ram_write(self.RING, struct.pack("<QQIIQIIQQQ", program, 0, 0, 0, windows, 1, 0, 1, 0, 0))
        core = r["TRN_V2_TPB(0)"] + r["TRN_TPB_CORE"]
        self.put(core + r["TRN_CORE_SQ_BASE_LOW"], (self.host + self.RING) & 0xffffffff)
        self.put(core + r["TRN_CORE_SQ_BASE_HIGH"], (self.host + self.RING) >> 32)
        self.put(core + r["TRN_CORE_SQ_SIZE"], 16)
        self.put(core + r["TRN_CORE_SQ_CONTROL"], r["TRN_SQ_ENABLE"])
        self.put(core + r["TRN_CORE_SQ_TAIL"], 1)
        self.wait(core + r["TRN_CORE_STATUS"], 0xffffffff, r["TRN_CORE_STATUS_RUNNING"])

    def link_window(self, routing_id):
        """Device address under which the neighbour with this routing id is seen; the link must be up."""
        r, m = self.r, self.m
        for link in range(m.read(self.bar2 + r["TRN_EXT_LINK_COUNT"])):
            at = self.bar2 + r["TRN_EXT_LINK(0)"] + link * r["TRN_LINK_STRIDE"]
            if m.read(at + r["TRN_LINK_STATE"]) == r["TRN_LINK_STATE_UP"] and \
                    m.read(at + r["TRN_LINK_PEER"]) & r["TRN_LINK_PEER_ROUTING_ID"] == routing_id:
                return m.read(at + r["TRN_LINK_WINDOW_HIGH"]) << 32
        raise RuntimeError(f"no link to the device with routing id {routing_id} is up")

    def reset_begin(self):
        self.put(self.r["TRN_V2_MISC"] + self.r["TRN_MISC_RESET"], self.r["TRN_RESET_DEVICE"])
        self.put(self.r["TRN_V2_MISC"] + self.r["TRN_MISC_TRIGGER"], 1)
