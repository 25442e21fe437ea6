/* SPDX-License-Identifier: BSD-2-Clause */
/* Circular doubly linked list, head and links of one type. */
#ifndef TRN_LIST_H
#define TRN_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct trn_list {
	struct trn_list *prev;
	struct trn_list *next;
};

static inline void trn_list_init(struct trn_list *head)
{
	head->prev = head;
	head->next = head;
}

static inline bool trn_list_empty(const struct trn_list *head)
{
	return head->next == head;
}

static inline void trn_list_append(struct trn_list *head, struct trn_list *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

/** trn_list_remove() - leaves @link pointing at itself, so removing twice is harmless. */
static inline void trn_list_remove(struct trn_list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	trn_list_init(link);
}

#define trn_list_entry(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

#endif /* TRN_LIST_H */
