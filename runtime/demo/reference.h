/* SPDX-License-Identifier: BSD-2-Clause */
/* The same training in double precision on the host; its own arithmetic, not the device's. */
#ifndef DEMO_REFERENCE_H
#define DEMO_REFERENCE_H

#include <stdint.h>
#include "model.h"

/** struct demo_hyper - Adam's settings. */
struct demo_hyper {
	double lr, beta1, beta2, epsilon;
};

struct demo_reference;

/** demo_reference_create() - @params: the starting values the device gets. NULL: no memory. */
struct demo_reference *demo_reference_create(const float *params, uint32_t batch);
void demo_reference_free(struct demo_reference *ref);
/** demo_reference_step() - one step on @samples [batch, 17]; returns the loss before the update. */
double demo_reference_step(struct demo_reference *ref, const uint8_t *samples,
			   const struct demo_hyper *hyper);
/** demo_reference_params() - current parameters, laid out as the device's. */
const double *demo_reference_params(const struct demo_reference *ref);
/** demo_reference_grad() - gradient of the last step, laid out as the device's. */
const double *demo_reference_grad(const struct demo_reference *ref);

#endif /* DEMO_REFERENCE_H */
