// SPDX-License-Identifier: BSD-2-Clause
/*
 * Double-precision reference. Plain loops over [batch, features] matrices; the embedding is a table
 * look-up here. Parameters are addressed in the device's layout (model.h), so nothing is converted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "reference.h"

#define COLS DEMO_COLUMNS
#define H    DEMO_HIDDEN
#define V    DEMO_BYTES
#define D    DEMO_DIM

/* The inner loops are compiled for wider vectors too and chosen at run time. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && \
	defined(__GNUC__) && !defined(__clang__)
#define FAST __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define FAST
#endif

struct demo_reference {
	uint32_t batch;
	uint64_t step;
	double *p, *g, *m, *v;		     /* [128, COLS] */
	double *x, *dx;			     /* [batch, 512], feature order of the device */
	double *a1, *h1, *e1, *a2, *h2, *e2; /* [batch, 128] */
	double *z;			     /* [batch, 256] */
	double *memory;
};

struct demo_reference *demo_reference_create(const float *params, uint32_t batch)
{
	struct demo_reference *r = calloc(1, sizeof(*r));
	size_t per = 2 * DEMO_FEATURES + 6 * H + V, i;
	double *at;

	if (!r)
		return NULL;
	r->memory = calloc(4 * DEMO_PARAMETERS + batch * per, sizeof(double));
	if (!r->memory) {
		free(r);
		return NULL;
	}
	at = r->memory;
	r->batch = batch;
	r->p = at;
	r->g = at += DEMO_PARAMETERS;
	r->m = at += DEMO_PARAMETERS;
	r->v = at += DEMO_PARAMETERS;
	r->x = at += DEMO_PARAMETERS;
	r->dx = at += (size_t)batch * DEMO_FEATURES;
	r->a1 = at += (size_t)batch * DEMO_FEATURES;
	r->h1 = at += (size_t)batch * H;
	r->e1 = at += (size_t)batch * H;
	r->a2 = at += (size_t)batch * H;
	r->h2 = at += (size_t)batch * H;
	r->e2 = at += (size_t)batch * H;
	r->z = at + (size_t)batch * H;
	for (i = 0; i < DEMO_PARAMETERS; i++)
		r->p[i] = params[i];
	return r;
}

void demo_reference_free(struct demo_reference *ref)
{
	if (ref)
		free(ref->memory);
	free(ref);
}

const double *demo_reference_params(const struct demo_reference *ref)
{
	return ref->p;
}

const double *demo_reference_grad(const struct demo_reference *ref)
{
	return ref->g;
}

/* out[b][n] += sum_k in[b][k] w[k][n]; four rows of the batch share each row of w. */
FAST static void forward(double *out, size_t on, const double *in, size_t in_n, const double *w,
			 size_t wn, uint32_t batch, int k_count, int n_count)
{
	uint32_t b;
	int k, n;

	for (b = 0; b + 4 <= batch; b += 4) {
		double *o0 = out + b * on, *o1 = o0 + on, *o2 = o1 + on, *o3 = o2 + on;

		for (k = 0; k < k_count; k++) {
			const double *row = w + (size_t)k * wn;
			double i0 = in[b * in_n + k], i1 = in[(b + 1) * in_n + k];
			double i2 = in[(b + 2) * in_n + k], i3 = in[(b + 3) * in_n + k];

			for (n = 0; n < n_count; n++) {
				o0[n] += i0 * row[n];
				o1[n] += i1 * row[n];
				o2[n] += i2 * row[n];
				o3[n] += i3 * row[n];
			}
		}
	}
	for (; b < batch; b++) {
		for (k = 0; k < k_count; k++) {
			for (n = 0; n < n_count; n++)
				out[b * on + n] += in[b * in_n + k] * w[(size_t)k * wn + n];
		}
	}
}

/* gw[k][n] += sum_b in[b][k] dout[b][n]. */
FAST static void weight_gradient(double *gw, size_t wn, const double *in, size_t in_n,
				 const double *dout, size_t on, uint32_t batch, int k_count,
				 int n_count)
{
	uint32_t b;
	int k, n;

	for (k = 0; k + 4 <= k_count; k += 4) {
		double *g0 = gw + (size_t)k * wn, *g1 = g0 + wn, *g2 = g1 + wn, *g3 = g2 + wn;

		for (b = 0; b < batch; b++) {
			const double *row = dout + b * on, *i = in + b * in_n + k;

			for (n = 0; n < n_count; n++) {
				g0[n] += i[0] * row[n];
				g1[n] += i[1] * row[n];
				g2[n] += i[2] * row[n];
				g3[n] += i[3] * row[n];
			}
		}
	}
}

/* din[b][k] = sum_n dout[b][n] w[k][n]. */
FAST static void input_gradient(double *din, size_t in_n, const double *dout, size_t on,
				const double *w, size_t wn, uint32_t batch, int k_count,
				int n_count)
{
	uint32_t b;
	int k, n;

	for (b = 0; b < batch; b++) {
		const double *row = dout + b * on;

		for (k = 0; k < k_count; k++) {
			const double *wk = w + (size_t)k * wn;
			double s[8] = { 0 };
			int j;

			for (n = 0; n < n_count; n += 8) {
				for (j = 0; j < 8; j++)
					s[j] += row[n + j] * wk[n + j];
			}
			din[b * in_n + k] =
				((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
		}
	}
}

static const double *table_row(const double *p, unsigned int byte)
{
	return p + (size_t)(byte % DEMO_ROWS) * COLS + DEMO_COL_E + byte / DEMO_ROWS * D;
}

/* Where number 0 of context byte i lies among the features. */
static size_t feature(int i)
{
	return (size_t)(i % DEMO_TILES) * DEMO_ROWS + (size_t)(i / DEMO_TILES) * D;
}

static void bias(double *out, const double *p, int column, uint32_t batch)
{
	uint32_t b;
	int n;

	for (b = 0; b < batch; b++) {
		for (n = 0; n < H; n++)
			out[b * H + n] = p[(size_t)n * COLS + column];
	}
}

/* h = gelu(a); a becomes the derivative. */
static void gelu(double *h, double *a, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		double x = a[i], cdf = 0.5 * (1 + erf(x * 0.70710678118654752440));

		h[i] = x * cdf;
		a[i] = cdf + x * exp(-0.5 * x * x) * 0.39894228040143267794;
	}
}

static void run_forward(struct demo_reference *r, const uint8_t *samples)
{
	uint32_t b;
	int i, t;

	for (b = 0; b < r->batch; b++) {
		for (i = 0; i < DEMO_CONTEXT; i++)
			memcpy(r->x + (size_t)b * DEMO_FEATURES + feature(i),
			       table_row(r->p, samples[b * DEMO_SAMPLE + i]), D * sizeof(double));
	}
	bias(r->a1, r->p, DEMO_COL_B1, r->batch);
	for (t = 0; t < DEMO_TILES; t++)
		forward(r->a1, H, r->x + t * DEMO_ROWS, DEMO_FEATURES, r->p + DEMO_COL_W1 + t * H,
			COLS, r->batch, DEMO_ROWS, H);
	gelu(r->h1, r->a1, (size_t)r->batch * H);
	bias(r->a2, r->p, DEMO_COL_B2, r->batch);
	forward(r->a2, H, r->h1, H, r->p + DEMO_COL_W2, COLS, r->batch, H, H);
	gelu(r->h2, r->a2, (size_t)r->batch * H);
	memset(r->z, 0, (size_t)r->batch * V * sizeof(double));
	forward(r->z, V, r->h2, H, r->p + DEMO_COL_W3, COLS, r->batch, H, V);
}

/* Loss; z becomes its gradient. */
static double run_loss(struct demo_reference *r, const uint8_t *samples)
{
	double total = 0;
	uint32_t b;
	int n;

	for (b = 0; b < r->batch; b++) {
		double *z = r->z + (size_t)b * V, peak = z[0], mass = 0;
		int target = samples[b * DEMO_SAMPLE + DEMO_CONTEXT];

		for (n = 1; n < V; n++)
			peak = fmax(peak, z[n]);
		for (n = 0; n < V; n++)
			mass += exp(z[n] - peak);
		total += log(mass) - (z[target] - peak);
		for (n = 0; n < V; n++)
			z[n] = (exp(z[n] - peak) / mass - (n == target)) / r->batch;
	}
	return total / r->batch;
}

static void multiply(double *a, const double *b, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		a[i] *= b[i];
}

static void bias_gradient(double *g, int column, const double *d, uint32_t batch)
{
	uint32_t b;
	int n;

	for (b = 0; b < batch; b++) {
		for (n = 0; n < H; n++)
			g[(size_t)n * COLS + column] += d[b * H + n];
	}
}

static void run_backward(struct demo_reference *r, const uint8_t *samples)
{
	uint32_t b;
	int i, t, e;

	memset(r->g, 0, DEMO_PARAMETERS * sizeof(double));
	weight_gradient(r->g + DEMO_COL_W3, COLS, r->h2, H, r->z, V, r->batch, H, V);
	input_gradient(r->e2, H, r->z, V, r->p + DEMO_COL_W3, COLS, r->batch, H, V);
	multiply(r->e2, r->a2, (size_t)r->batch * H);
	bias_gradient(r->g, DEMO_COL_B2, r->e2, r->batch);
	weight_gradient(r->g + DEMO_COL_W2, COLS, r->h1, H, r->e2, H, r->batch, H, H);
	input_gradient(r->e1, H, r->e2, H, r->p + DEMO_COL_W2, COLS, r->batch, H, H);
	multiply(r->e1, r->a1, (size_t)r->batch * H);
	bias_gradient(r->g, DEMO_COL_B1, r->e1, r->batch);
	for (t = 0; t < DEMO_TILES; t++) {
		weight_gradient(r->g + DEMO_COL_W1 + t * H, COLS, r->x + t * DEMO_ROWS,
				DEMO_FEATURES, r->e1, H, r->batch, DEMO_ROWS, H);
		input_gradient(r->dx + t * DEMO_ROWS, DEMO_FEATURES, r->e1, H,
			       r->p + DEMO_COL_W1 + t * H, COLS, r->batch, DEMO_ROWS, H);
	}
	for (b = 0; b < r->batch; b++) {
		for (i = 0; i < DEMO_CONTEXT; i++) {
			double *row = r->g + (table_row(r->p, samples[b * DEMO_SAMPLE + i]) - r->p);

			for (e = 0; e < D; e++)
				row[e] += r->dx[(size_t)b * DEMO_FEATURES + feature(i) + e];
		}
	}
}

FAST static void adam(struct demo_reference *r, const struct demo_hyper *h)
{
	double c1 = 1 - pow(h->beta1, (double)r->step), c2 = 1 - pow(h->beta2, (double)r->step);
	size_t i;

	for (i = 0; i < DEMO_PARAMETERS; i++) {
		r->m[i] = h->beta1 * r->m[i] + (1 - h->beta1) * r->g[i];
		r->v[i] = h->beta2 * r->v[i] + (1 - h->beta2) * r->g[i] * r->g[i];
		r->p[i] -= h->lr * (r->m[i] / c1) / (sqrt(r->v[i] / c2) + h->epsilon);
	}
}

double demo_reference_step(struct demo_reference *ref, const uint8_t *samples,
			   const struct demo_hyper *hyper)
{
	double loss;

	ref->step++;
	run_forward(ref, samples);
	loss = run_loss(ref, samples);
	run_backward(ref, samples);
	adam(ref, hyper);
	return loss;
}
