/* SPDX-License-Identifier: BSD-2-Clause */
/* Rank 0's side of the meeting; see bootstrap.h. */
#ifndef TRN_COMM_BOOTSTRAP_ROOT_H
#define TRN_COMM_BOOTSTRAP_ROOT_H

#include "comm/bootstrap.h"

/** trn_comm_meet_as_root() - gather the ranks; @peers and @streams are allocated and empty. */
enum trn_status trn_comm_meet_as_root(struct trn_comm_meeting *meeting);

#endif /* TRN_COMM_BOOTSTRAP_ROOT_H */
