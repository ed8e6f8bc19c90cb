/*
 * Makes JSON values as reports use them.  json_*.c and json.c are the only
 * users of json-c.
 */
#include "report/export/json_value.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/printable.h"

enum {
	JSON_FORM = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
	ADDR_MAX = 20
};

void
json_text_put(struct json_object *into, const char *key, const char *s)
{
	char *text = text_utf8(s);

	json_object_object_add(into, key, json_object_new_string(text));
	free(text);
}

void
json_number_put(struct json_object *into, const char *key, uint64_t n)
{
	json_object_object_add(into, key, json_object_new_uint64(n));
}

void
json_addr_put(struct json_object *into, const char *key, uint64_t addr)
{
	char text[ADDR_MAX];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	json_object_object_add(into, key, json_object_new_string(text));
}

void
json_figure_put(struct json_object *into, const char *key,
		const struct figure *figure)
{
	if (!figure->why) {
		json_number_put(into, key, figure->n);
		return;
	}
	json_object_object_add(into, key, NULL);
	json_text_put(into, "why", figure->why);
}

struct json_object *
json_array_put(struct json_object *into, const char *key)
{
	struct json_object *array = json_object_new_array();

	json_object_object_add(into, key, array);
	return array;
}

struct json_object *
json_element_put(struct json_object *array)
{
	struct json_object *element = json_object_new_object();

	json_object_array_add(array, element);
	return element;
}

void
json_element_write(FILE *out, struct json_object *object, bool *first)
{
	fputs(*first ? "\n" : ",\n", out);
	fputs(json_object_to_json_string_ext(object, JSON_FORM), out);
	json_object_put(object);
	*first = false;
}

void
json_member_write(FILE *out, const char *key, struct json_object *value)
{
	fprintf(out, "\"%s\":%s,\n", key,
		json_object_to_json_string_ext(value, JSON_FORM));
	json_object_put(value);
}
