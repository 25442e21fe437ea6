/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the devices of a machine sit: routing id to device index, and the neighbours of a device
 * index, as initialisers of constant tables.
 */
#ifndef TRAINIUM_TOPOLOGY_H
#define TRAINIUM_TOPOLOGY_H

#define TRN_TORUS_DEVICES		16	/* 4 x 4; more devices are more tori */
#define TRN_TORUS_LINKS			4
#define TRN_RING_DEVICES		12	/* six of them are a line */
#define TRN_RING_LINKS			2

/* device index of routing id 0 to 15; Inf2: the same number */
#define TRN_TRN1_DEVICE_INDEX		\
	{ 0, 4, 1, 5, 3, 7, 2, 6, 12, 8, 13, 9, 15, 11, 14, 10 }
#define TRN_TRN2_DEVICE_INDEX		\
	{ 0, 3, 4, 7, 12, 15, 8, 11, 1, 2, 5, 6, 13, 14, 9, 10 }

/* neighbours of device index 0 to 15: up, left, down, right */
#define TRN_TRN1_NEIGHBOURS		\
	{ { 12, 3, 4, 1 }, { 13, 0, 5, 2 }, { 14, 1, 6, 3 }, { 15, 2, 7, 0 }, \
	  { 0, 7, 8, 5 }, { 1, 4, 9, 6 }, { 2, 5, 10, 7 }, { 3, 6, 11, 4 }, \
	  { 4, 11, 12, 9 }, { 5, 8, 13, 10 }, { 6, 9, 14, 11 }, { 7, 10, 15, 8 }, \
	  { 8, 15, 0, 13 }, { 9, 12, 1, 14 }, { 10, 13, 2, 15 }, { 11, 14, 3, 12 } }
/* by the SENG whose link goes there */
#define TRN_TRN2_NEIGHBOURS		\
	{ { 12, 1, 3, 4 }, { 0, 13, 5, 2 }, { 14, 3, 1, 6 }, { 2, 15, 7, 0 }, \
	  { 8, 5, 7, 0 }, { 4, 9, 1, 6 }, { 10, 7, 5, 2 }, { 6, 11, 3, 4 }, \
	  { 4, 9, 11, 12 }, { 8, 5, 13, 10 }, { 6, 11, 9, 14 }, { 10, 7, 15, 8 }, \
	  { 0, 13, 15, 8 }, { 12, 1, 9, 14 }, { 2, 15, 13, 10 }, { 14, 3, 11, 12 } }
/* previous, next of a ring of twelve */
#define TRN_INF2_NEIGHBOURS		\
	{ { 11, 1 }, { 0, 2 }, { 1, 3 }, { 2, 4 }, { 3, 5 }, { 4, 6 }, \
	  { 5, 7 }, { 6, 8 }, { 7, 9 }, { 8, 10 }, { 9, 11 }, { 10, 0 } }

/* Links of a Trn2 to other nodes: 0 left (vertical), 1 right (horizontal). */
#define TRN_TRN2_LINK_SIDES		{ 1, 0, 0, 1 }

#endif /* TRAINIUM_TOPOLOGY_H */
