/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `trn doctor` finds on a machine: PCI functions, module, nodes. Reads sysfs, /proc and /dev
 * below a root directory, so that a copy of another machine's can be looked at.
 */
#ifndef TRN_TOOL_PROBE_H
#define TRN_TOOL_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#define PROBE_FUNCTIONS_MAX 64

/** struct probe_function - one Trainium or Inferentia function on the PCI bus. */
struct probe_function {
	char pci[16];
	const char *product;
	char driver[32]; /* bound to it, "" none */
	char node[48];	 /* "/dev/accel/accel0", "" none */
	bool node_exists;
	bool node_open; /* this user may read and write it */
	char group[32]; /* of the node, "" unknown */
	bool iommu;
};

/** struct probe - the machine. */
struct probe {
	const char *root; /* "" for this machine */
	bool has_pci;	  /* there is a PCI bus to look at */
	struct probe_function function[PROBE_FUNCTIONS_MAX];
	size_t functions;
	bool module_loaded;
	bool module_installed; /* where modprobe finds it */
	char release[65];      /* of the kernel */
	unsigned int major, minor;
};

/** probe_machine() - fill @probe; @root is "" or a directory without a slash at its end. */
void probe_machine(struct probe *probe, const char *root);

#endif /* TRN_TOOL_PROBE_H */
