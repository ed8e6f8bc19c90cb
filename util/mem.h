/*
 * Allocation that cannot fail, growing arrays, and strings.  If there is no
 * memory left pmon prints one line and exits with status 125.
 */
#ifndef UTIL_MEM_H
#define UTIL_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Keep memory that is freed, some hundred megabytes at most, to use it again: to
 * get pages from the kernel costs more than to fill them.
 */
void mem_keep(void);

/* All that these return is the caller's, who frees it with free(). */

/* Memory of `size` bytes, all 0. */
void *mem_alloc(size_t size);
/*
 * The same of pages that take no room until they are touched; to be released
 * with mem_unmap, which accepts NULL.
 */
void *mem_map(size_t size);
void mem_unmap(void *p, size_t size);
/* p (NULL: none yet) with room for `count` elements of `size` bytes. */
void *mem_grow(void *p, size_t count, size_t size);
/* n numbers, all of this value; n may be 0. */
uint32_t *mem_numbers(size_t n, uint32_t value);
/* A copy of s, or of its first n bytes at most. */
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
/* The text that printf would print. */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The part behind the text and `between`, if there is text, which is freed. */
char *mem_append(char *text, const char *between, const char *part);
/* "TEXT, PART", or PART if the text is empty; frees the text. */
char *mem_join(char *text, const char *part);

/*
 * Append one element to the array `vec` of `n` elements, which is owned by
 * the caller and released with free().  Evaluates to a pointer to the new,
 * uninitialised element.  The capacity is n rounded up to a power of two, so
 * it need not be stored.
 */
#define vec_push(vec, n) \
	((vec) = vec_room((vec), (n), sizeof(*(vec))), &(vec)[(n)++])

/* The same in front of the element of index i, or behind the last if i is n. */
#define vec_insert(vec, n, i) \
	(vec_push((vec), (n)), \
	 memmove(&(vec)[(i) + 1], &(vec)[i], ((n)-1 - (i)) * sizeof(*(vec))), \
	 &(vec)[i])

/* An empty array for vec_push with room for n elements, which is not 0. */
void *vec_make(size_t n, size_t size);

/* A larger array in place of vec, which n elements fill; for vec_room. */
void *vec_grow(void *vec, size_t n, size_t size);

/* vec, or a larger array in its place if n elements fill it; for vec_push. */
static inline void *
vec_room(void *vec, size_t n, size_t size)
{
	/* Full only when n is 0 or a power of two. */
	return n & (n - 1) ? vec : vec_grow(vec, n, size);
}

#endif
