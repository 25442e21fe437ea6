// SPDX-License-Identifier: BSD-2-Clause
/*
 * Documentation/instruction-set.md against include/trainium/isa.h and the model's opcode table:
 * every code of the header is in the document with its name, and the other way round.
 *
 * Both files are read from the source directory: $TRN_SRCDIR, or the current one.
 */
#include <ctype.h>
#include <stdio.h>
#include "core_harness.h"
#include "tests/emulator/exec.h"

#define ROWS_MAX     128
#define NAME_MAX_LEN 40

struct row {
	unsigned long code;
	char name[NAME_MAX_LEN];
	char engines[NAME_MAX_LEN];
	char from[8];
};

static FILE *open_source(const char *name)
{
	const char *dir = getenv("TRN_SRCDIR");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s: cannot be opened; set TRN_SRCDIR to the source directory",
		      path);
	return f;
}

/* Members of the enum @name, without @prefix. */
static unsigned int read_enum(const char *name, const char *prefix, struct row rows[ROWS_MAX])
{
	FILE *f = open_source("include/trainium/isa.h");
	char line[512], start[64];
	unsigned int n = 0;
	bool inside = false;

	snprintf(start, sizeof(start), "enum %s {", name);
	while (fgets(line, sizeof(line), f)) {
		char *p = line, *eq;

		if (!strncmp(line, start, strlen(start))) {
			inside = true;
			continue;
		}
		if (inside && line[0] == '}')
			break;
		while (isspace((unsigned char)*p))
			p++;
		eq = strstr(p, " = ");
		if (!inside || strncmp(p, prefix, strlen(prefix)) || !eq)
			continue;
		ck_assert_uint_lt(n, ROWS_MAX);
		*eq = 0;
		memset(&rows[n], 0, sizeof(rows[n]));
		snprintf(rows[n].name, NAME_MAX_LEN, "%s", p + strlen(prefix));
		rows[n++].code = strtoul(eq + 3, NULL, 0);
	}
	fclose(f);
	return n;
}

static void copy_cell(char *to, size_t size, const char *from, size_t len)
{
	while (len && isspace((unsigned char)*from)) {
		from++;
		len--;
	}
	while (len && isspace((unsigned char)from[len - 1]))
		len--;
	snprintf(to, size, "%.*s", (int)len, from);
}

/* Rows of the first table after the heading "### @heading". */
static unsigned int read_table(const char *heading, int base, struct row rows[ROWS_MAX])
{
	FILE *f = open_source("Documentation/instruction-set.md");
	char line[1024], start[64];
	unsigned int n = 0;
	bool inside = false;

	snprintf(start, sizeof(start), "### %s", heading);
	while (fgets(line, sizeof(line), f)) {
		char *cell[6] = { 0 }, *p = line;
		unsigned int c = 0;

		if (!strncmp(line, "##", 2)) {
			if (inside)
				break;
			inside = !strncmp(line, start, strlen(start));
			continue;
		}
		if (!inside || line[0] != '|' || !isxdigit((unsigned char)line[2]))
			continue;
		while ((p = strchr(p, '|')) && c < 6)
			cell[c++] = p++;
		if (c < 3 || !isxdigit((unsigned char)cell[0][2]) ||
		    strncmp(cell[0] + 2, "code", 4) == 0)
			continue;
		ck_assert_uint_lt(n, ROWS_MAX);
		memset(&rows[n], 0, sizeof(rows[n]));
		rows[n].code = strtoul(cell[0] + 2, NULL, base);
		copy_cell(rows[n].name, NAME_MAX_LEN, cell[1] + 1, (size_t)(cell[2] - cell[1] - 1));
		if (c > 3)
			copy_cell(rows[n].engines, NAME_MAX_LEN, cell[2] + 1,
				  (size_t)(cell[3] - cell[2] - 1));
		if (c > 4)
			copy_cell(rows[n].from, sizeof(rows[n].from), cell[3] + 1,
				  (size_t)(cell[4] - cell[3] - 1));
		n++;
	}
	fclose(f);
	return n;
}

static const struct row *find(const struct row *rows, unsigned int n, const char *name)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static const struct {
	const char *name, *prefix, *heading;
	int base;
	unsigned int at_least;
	const char *skip;
} tables[] = {
	{ "trn_opcode", "TRN_OP_", "3.1 Opcodes", 16, 55, NULL },
	{ "trn_alu", "TRN_ALU_", "3.2 ALU operators", 10, 30, NULL },
	{ "trn_act", "TRN_ACT_", "3.3 Activation functions", 10, 26, NULL },
	{ "trn_dtype", "TRN_DTYPE_", "3.4 Data types", 16, 21, "INVALID" },
};

START_TEST(codes_match)
{
	static struct row code[ROWS_MAX], doc[ROWS_MAX];
	unsigned int n = read_enum(tables[_i].name, tables[_i].prefix, code),
		     m = read_table(tables[_i].heading, tables[_i].base, doc), i;

	ck_assert_uint_ge(n, tables[_i].at_least);
	for (i = 0; i < n; i++) {
		const struct row *r;

		if (tables[_i].skip && !strcmp(code[i].name, tables[_i].skip))
			continue;
		r = find(doc, m, code[i].name);
		ck_assert_msg(r != NULL, "%s is not documented", code[i].name);
		ck_assert_msg(r->code == code[i].code, "%s is %#lx, documented as %#lx",
			      code[i].name, code[i].code, r->code);
	}
	for (i = 0; i < m; i++)
		ck_assert_msg(find(code, n, doc[i].name) != NULL,
			      "%s is documented but not in isa.h", doc[i].name);
}
END_TEST

START_TEST(faults_match)
{
	static struct row code[ROWS_MAX], doc[ROWS_MAX];
	unsigned int n = read_enum("trn_fault", "TRN_FAULT_", code), i, m = 0;
	FILE *f = open_source("Documentation/instruction-set.md");
	char line[1024];
	bool inside = false;

	while (fgets(line, sizeof(line), f)) {
		char name[NAME_MAX_LEN];

		inside |= !strncmp(line, "## 6. Faults", 12);
		if (inside && sscanf(line, "| %lu | %39s |", &doc[m].code, name) == 2)
			memcpy(doc[m++].name, name, sizeof(name));
	}
	fclose(f);
	ck_assert_uint_ge(m, 10);
	for (i = 0; i < m; i++) {
		const struct row *r = find(code, n, doc[i].name);

		ck_assert_msg(r && r->code == doc[i].code, "fault %s", doc[i].name);
	}
}
END_TEST

static unsigned int engine_bit(const char *name, size_t len)
{
	static const struct {
		const char *name;
		unsigned int bits;
	} engines[] = {
		{ "PE", EMU_ENGINE_BIT(TRN_ENGINE_PE) },
		{ "ACT", EMU_ENGINE_BIT(TRN_ENGINE_ACT) },
		{ "POOL", EMU_ENGINE_BIT(TRN_ENGINE_POOL) },
		{ "DVE", EMU_ENGINE_BIT(TRN_ENGINE_DVE) },
		{ "SP", EMU_ENGINE_BIT(TRN_ENGINE_SP) },
		{ "all", EMU_ENGINES_ALL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(engines); i++)
		if (len == strlen(engines[i].name) && !strncmp(name, engines[i].name, len))
			return engines[i].bits;
	return 0;
}

/* Engines named before the first ';'. */
static unsigned int engine_bits(const char *cell)
{
	unsigned int bits = 0;

	while (*cell && *cell != ';') {
		size_t len = strcspn(cell, ",; ");

		bits |= engine_bit(cell, len);
		cell += len;
		cell += strspn(cell, ", ");
	}
	return bits;
}

/* The document's engines and first generation are those the model executes; what it calls not
 * executed is illegal everywhere. */
START_TEST(engines_match)
{
	static struct row doc[ROWS_MAX];
	unsigned int m = read_table("3.1 Opcodes", 16, doc), i, generation;

	for (i = 0; i < m; i++) {
		const struct emu_opcode *op = emu_opcode_get((unsigned int)doc[i].code);
		unsigned int from = doc[i].from[0] == 'v' ? (unsigned int)atoi(doc[i].from + 1) : 0;

		ck_assert_ptr_nonnull(op);
		if (!from) {
			for (generation = 2; generation <= 4; generation++)
				ck_assert_msg(!emu_opcode_engines(op, generation), "%s",
					      doc[i].name);
			continue;
		}
		ck_assert_str_eq(op->name, doc[i].name);
		ck_assert_msg(!emu_opcode_engines(op, from - 1), "%s before v%u", doc[i].name,
			      from);
		ck_assert_msg(emu_opcode_engines(op, from) == engine_bits(doc[i].engines),
			      "%s: engines", doc[i].name);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core documentation");

	H_LOOP(s, codes_match, ARRAY_SIZE(tables));
	H_TEST(s, faults_match);
	H_TEST(s, engines_match);
	return h_main(s);
}
