// SPDX-License-Identifier: BSD-2-Clause
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "json.h"
#include "probe.h"
#include "text.h"
#include "tool.h"

#define FINDINGS_MAX (PROBE_FUNCTIONS_MAX * 3 + 16)
#define LOCKED_BYTES (1ull << 30) /* of user memory under copy at once: enough for most */

static const char help[] =
	"usage: trn doctor [--json] [--device SPEC] [--root DIR]\n\n"
	"Looks at the kernel, the PCI bus, the module, the device nodes and the libraries, and "
	"says what\n"
	"is missing and which command fixes it. Status 0 when a device can be used.\n\n"
	"  --root DIR      look at a copy of another machine's /sys, /proc, /dev and "
	"/lib/modules\n" TOOL_COMMON_HELP;

enum verdict {
	VERDICT_OK,
	VERDICT_NOTE,
	VERDICT_PROBLEM
};

struct finding {
	const char *name;
	enum verdict verdict;
	char text[256];
	char fix[256]; /* command, "" none needed */
};

struct doctor {
	struct tool *tool;
	struct probe probe;
	struct finding *finding; /* FINDINGS_MAX */
	size_t count;
	bool usable; /* a device was opened, or would be */
};

/* Add a finding; the returned one takes a fix. */
static struct finding *__attribute__((format(printf, 4, 5)))
find(struct doctor *doctor, const char *name, enum verdict verdict, const char *format, ...)
{
	struct finding *finding = &doctor->finding[doctor->count];
	va_list args;

	if (doctor->count + 1 < FINDINGS_MAX)
		doctor->count++;
	finding->name = name;
	finding->verdict = verdict;
	finding->fix[0] = '\0';
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
	return finding;
}

static void __attribute__((format(printf, 2, 3)))
fix(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->fix, sizeof(finding->fix), format, args);
	va_end(args);
}

static void check_kernel(struct doctor *doctor)
{
	const struct probe *probe = &doctor->probe;
	unsigned int version = probe->major * 1000 + probe->minor;

	if (version >= 6001)
		find(doctor, "kernel", VERDICT_OK, "Linux %s, device nodes are %s", probe->release,
		     version >= 6002 ? "/dev/accel/accelN" : "render nodes /dev/dri/renderDN");
	else
		fix(find(doctor, "kernel", probe->functions ? VERDICT_PROBLEM : VERDICT_NOTE,
			 "Linux %s is too old for the module, which needs 6.1",
			 probe->release[0] ? probe->release : "(unknown)"),
		    "apt-get install linux-image-amd64 && reboot");
}

static void check_bus(struct doctor *doctor)
{
	const struct probe *probe = &doctor->probe;
	size_t i, with_iommu = 0;

	if (!probe->functions) {
		find(doctor, "PCI device",
		     doctor->tool->device || getenv("TRN_DEVICE") ? VERDICT_NOTE : VERDICT_PROBLEM,
		     probe->has_pci ? "no Trainium or Inferentia on the PCI bus"
				    : "this machine shows no PCI bus");
		return;
	}
	for (i = 0; i < probe->functions; i++) {
		find(doctor, "PCI device", VERDICT_OK, "%s at %s", probe->function[i].product,
		     probe->function[i].pci);
		with_iommu += probe->function[i].iommu;
	}
	if (with_iommu == probe->functions)
		find(doctor, "IOMMU", VERDICT_OK,
		     "on: a device reaches only the memory it was given");
	else
		fix(find(doctor, "IOMMU", VERDICT_NOTE,
			 "off for %zu of %zu devices: the driver's checks alone "
			 "keep a device from other memory",
			 probe->functions - with_iommu, probe->functions),
		    "add intel_iommu=on to GRUB_CMDLINE_LINUX in /etc/default/grub, update-grub, "
		    "reboot");
}

static void check_module(struct doctor *doctor)
{
	const struct probe *probe = &doctor->probe;
	enum verdict verdict = probe->functions ? VERDICT_PROBLEM : VERDICT_NOTE;

	if (probe->module_loaded)
		find(doctor, "module", VERDICT_OK, "trainium is loaded");
	else if (probe->module_installed)
		fix(find(doctor, "module", verdict, "trainium is installed and not loaded"),
		    "modprobe trainium");
	else
		fix(find(doctor, "module", verdict,
			 "trainium is neither loaded nor installed for Linux %s", probe->release),
		    "make module && insmod build/kernel/$(uname -r)/trainium.ko");
}

/* A group to join, or, where the node is root's alone, a rule that gives it one. */
static void check_permission(struct doctor *doctor, const struct probe_function *function)
{
	bool accel = strstr(function->node, "/accel") != NULL;
	struct finding *finding = find(doctor, "node", VERDICT_PROBLEM,
				       "you may not open %s, which belongs to group \"%s\"",
				       function->node, function->group);

	if (function->group[0] && strcmp(function->group, "root"))
		fix(finding, "usermod -aG %s $USER, then log in again", function->group);
	else
		fix(finding,
		    "echo 'SUBSYSTEM==\"%s\", GROUP=\"render\", MODE=\"0660\"' "
		    ">/etc/udev/rules.d/60-trainium.rules && udevadm control --reload && "
		    "udevadm trigger && usermod -aG render $USER, then log in again",
		    accel ? "accel" : "drm");
}

static void check_function(struct doctor *doctor, const struct probe_function *function)
{
	if (!doctor->probe.module_loaded)
		return;
	if (!function->driver[0]) {
		fix(find(doctor, "driver", VERDICT_PROBLEM,
			 "%s has no driver: the module refused it", function->pci),
		    "dmesg | grep trainium");
		return;
	}
	if (strcmp(function->driver, "trainium") != 0) {
		fix(find(doctor, "driver", VERDICT_PROBLEM, "%s is held by driver \"%s\"",
			 function->pci, function->driver),
		    "echo %s > /sys/bus/pci/drivers/%s/unbind; echo %s > "
		    "/sys/bus/pci/drivers/trainium/bind",
		    function->pci, function->driver, function->pci);
		return;
	}
	find(doctor, "driver", VERDICT_OK, "%s is driven by trainium", function->pci);
	if (!function->node[0] || !function->node_exists) {
		fix(find(doctor, "node", VERDICT_PROBLEM, "%s has no device node%s%s",
			 function->pci, function->node[0] ? " at " : "", function->node),
		    "udevadm trigger; in a container, add --device %s",
		    function->node[0] ? function->node : "/dev/accel");
	} else if (!function->node_open) {
		check_permission(doctor, function);
	} else {
		find(doctor, "node", VERDICT_OK, "%s can be opened", function->node);
		doctor->usable = true;
	}
}

/* Copies from and to user memory lock its pages, which the kernel counts for who is not root. */
static void check_locked_memory(struct doctor *doctor)
{
	struct rlimit limit;
	char text[TEXT_CELL];

	if (!doctor->probe.functions || geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= LOCKED_BYTES)
		return;
	fix(find(doctor, "locked", VERDICT_NOTE,
		 "you may lock %s of memory; larger copies to and from a card fail",
		 text_bytes(limit.rlim_cur, text)),
	    "echo '* - memlock unlimited' >/etc/security/limits.d/trainium.conf, then log in "
	    "again");
}

static void check_libfabric(struct doctor *doctor)
{
	void *library;

	/* One of its providers would replace our signal handlers. */
	setenv("IPATH_NO_BACKTRACE", "1", 0);
	library = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		find(doctor, "libfabric", VERDICT_OK, "found; communicators of several ranks work");
	else
		fix(find(doctor, "libfabric", VERDICT_NOTE,
			 "not found; only communicators of one rank work"),
		    "apt-get install libfabric1");
}

/* What counts in the end: does the device open? */
static void check_open(struct doctor *doctor)
{
	const char *variable = getenv("TRN_DEVICE");
	struct trn_device_info info = { .size = sizeof(info) };
	struct trn_device *device;
	enum trn_status status;

	if (!doctor->tool->device && !(variable && variable[0])) {
		if (!doctor->probe.functions)
			fix(find(doctor, "TRN_DEVICE", VERDICT_NOTE,
				 "not set; without a card, a device inside the process can be "
				 "used"),
			    "export TRN_DEVICE=emu:trn1");
		else
			find(doctor, "TRN_DEVICE", VERDICT_OK,
			     "not set: the first device of the machine is "
			     "used");
	}
	doctor->usable = false;
	status = trn_device_open(doctor->tool->device, &device);
	if (!status) {
		status = trn_device_get_info(device, &info);
		trn_device_close(device);
	}
	if (status) {
		find(doctor, "open", VERDICT_PROBLEM, "%.250s", trn_error_text());
		return;
	}
	find(doctor, "open", VERDICT_OK, "%s opens: %s, %u cores, programs %s", info.spec,
	     info.product, info.cores, info.can_run ? "can run" : "cannot run");
	doctor->usable = true;
}

static void print_json(const struct doctor *doctor, size_t problems)
{
	static const char *const verdicts[] = { "ok", "note", "problem" };
	struct json json = { 0 };
	size_t i;

	json_open(&json, NULL, '{');
	json_open(&json, "findings", '[');
	for (i = 0; i < doctor->count; i++) {
		json_open(&json, NULL, '{');
		json_string(&json, "name", doctor->finding[i].name);
		json_string(&json, "verdict", verdicts[doctor->finding[i].verdict]);
		json_string(&json, "text", doctor->finding[i].text);
		if (doctor->finding[i].fix[0])
			json_string(&json, "fix", doctor->finding[i].fix);
		else
			json_null(&json, "fix");
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_number(&json, "problems", problems);
	json_bool(&json, "usable", doctor->usable);
	json_close(&json, '}');
}

static void print_text(const struct doctor *doctor, size_t problems)
{
	static const char *const verdicts[] = { "ok      ", "note    ", "PROBLEM " };
	static const char *const colors[] = { TEXT_GREEN, TEXT_YELLOW, TEXT_RED };
	const struct finding *finding;
	size_t i;

	for (i = 0; i < doctor->count; i++) {
		finding = &doctor->finding[i];
		text_paint(doctor->tool->color, colors[finding->verdict],
			   verdicts[finding->verdict]);
		printf("%-11s %s\n", finding->name, finding->text);
		if (finding->fix[0])
			printf("%-20sfix: %s\n", "", finding->fix);
	}
	if (doctor->usable && !problems)
		puts("doctor: ok");
	else
		printf("doctor: %zu problem%s, %s\n", problems, problems == 1 ? "" : "s",
		       doctor->usable ? "and a device that can be used" : "no device can be used");
}

static int examine(struct doctor *doctor)
{
	size_t i, problems = 0;

	check_kernel(doctor);
	check_bus(doctor);
	check_module(doctor);
	for (i = 0; i < doctor->probe.functions; i++)
		check_function(doctor, &doctor->probe.function[i]);
	check_locked_memory(doctor);
	if (!doctor->probe.root[0]) {
		check_libfabric(doctor);
		check_open(doctor);
	}
	for (i = 0; i < doctor->count; i++)
		problems += doctor->finding[i].verdict == VERDICT_PROBLEM;
	if (doctor->tool->json)
		print_json(doctor, problems);
	else
		print_text(doctor, problems);
	return doctor->usable ? TOOL_OK : TOOL_FAILED;
}

enum {
	OPT_ROOT = TOOL_OPTION_FIRST
};

int tool_doctor(struct tool *tool, int argc, char **argv)
{
	static const struct option options[] = {
		{ "root", required_argument, NULL, OPT_ROOT },
		TOOL_COMMON_OPTIONS,
		{ 0 },
	};
	struct doctor *doctor;
	const char *root = "";
	int option, code = TOOL_OK;

	while ((option = tool_option(tool, argc, argv, options, help, &code)) != -1) {
		if (option == -2)
			return code;
		root = optarg;
		if (!root[0] || strlen(root) > 1000)
			return tool_usage(tool, "--root \"%.40s\" is not a directory", root);
	}
	if (optind < argc)
		return tool_usage(tool, "\"%s\" is one argument too many", argv[optind]);
	doctor = calloc(1, sizeof(*doctor));
	if (doctor)
		doctor->finding = calloc(FINDINGS_MAX, sizeof(*doctor->finding));
	if (!doctor || !doctor->finding) {
		free(doctor);
		return tool_fail("no host memory");
	}
	doctor->tool = tool;
	probe_machine(&doctor->probe, root);
	code = examine(doctor);
	free(doctor->finding);
	free(doctor);
	return code;
}
