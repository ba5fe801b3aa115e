/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A list of the host's requests, first in, first out, linked by struct disk_request's next.
 *
 * A request is in one list at a time. Portable, any context; the caller keeps others out.
 */
#ifndef DAVID_MODEL_REQUEST_LIST_H
#define DAVID_MODEL_REQUEST_LIST_H

#include "disk.h"

/* Zeroed: empty. */
struct request_list {
	struct disk_request *first, *last;
};

static inline void request_list_append(struct request_list *list, struct disk_request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

/* Takes the first request out of @list, which is not empty. */
static inline struct disk_request *request_list_pop(struct request_list *list)
{
	struct disk_request *request = list->first;

	list->first = request->next;
	if (!list->first)
		list->last = NULL;
	return request;
}

static inline void request_list_push(struct request_list *list, struct disk_request *request)
{
	request->next = list->first;
	list->first = request;
	if (!list->last)
		list->last = request;
}

/* Take @request, which is in @list, out of it. */
static inline void request_list_remove(struct request_list *list, struct disk_request *request)
{
	struct disk_request **at = &list->first, *before = NULL;

	while (*at != request) {
		before = *at;
		at = &before->next;
	}
	*at = request->next;
	if (list->last == request)
		list->last = before;
}

/* All of @more go behind those of @list. */
static inline void request_list_splice(struct request_list *list, struct request_list *more)
{
	if (!more->first)
		return;
	if (list->last)
		list->last->next = more->first;
	else
		list->first = more->first;
	list->last = more->last;
	*more = (struct request_list){ };
}

#endif
