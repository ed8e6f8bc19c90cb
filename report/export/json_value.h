/*
 * Values of JSON as reports want them.
 */
#ifndef REPORT_EXPORT_JSON_VALUE_H
#define REPORT_EXPORT_JSON_VALUE_H

#include <json-c/json.h>

#include "report/table.h"

/* Add a member to an object.  Texts are made UTF-8 first. */
void json_text_put(struct json_object *into, const char *key, const char *s);
void json_number_put(struct json_object *into, const char *key, uint64_t n);
/* Hexadecimal, as most readers have 53 bits for a number. */
void json_addr_put(struct json_object *into, const char *key, uint64_t addr);
/* null and the reason, as "why", if it is not known. */
void json_figure_put(struct json_object *into, const char *key,
		     const struct figure *figure);
struct json_object *json_array_put(struct json_object *into, const char *key);

/* Add an object to an array. */
struct json_object *json_element_put(struct json_object *array);

/*
 * Write an object, which is released, as an element of an array that is being
 * written, or as a member; *first: none came before.
 */
void json_element_write(FILE *out, struct json_object *object, bool *first);
void json_member_write(FILE *out, const char *key, struct json_object *value);

#endif
