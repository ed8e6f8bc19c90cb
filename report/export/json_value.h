/*
 * JSON values as reports use them, for the files that write JSON.
 */
#ifndef REPORT_EXPORT_JSON_VALUE_H
#define REPORT_EXPORT_JSON_VALUE_H

#include <json-c/json.h>

#include "report/table.h"

/* Add a member to an object.  json_text_put converts its text to UTF-8. */
void json_text_put(struct json_object *into, const char *key, const char *s);
void json_number_put(struct json_object *into, const char *key, uint64_t n);
/* Hexadecimal strings, as most readers have only 53 bits for a number. */
void json_addr_put(struct json_object *into, const char *key, uint64_t addr);
/* The count; if it is not known null, and a member "why" with the reason. */
void json_figure_put(struct json_object *into, const char *key,
		     const struct figure *figure);
/* Add an empty array, and return it; `into` owns it. */
struct json_object *json_array_put(struct json_object *into, const char *key);

/* Add an empty object to an array, and return it; the array owns it. */
struct json_object *json_element_put(struct json_object *array);

/*
 * Write an object as an element of an array, or as a member of an object, that
 * is being written; then release it.  *first: it is the array's first element.
 */
void json_element_write(FILE *out, struct json_object *object, bool *first);
void json_member_write(FILE *out, const char *key, struct json_object *value);

#endif
