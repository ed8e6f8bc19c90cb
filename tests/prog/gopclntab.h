/*
 * Functions in assembler, and Go's table of them, .gopclntab, of the labels
 * `table`, `entries` and `names`: as Go 1.20 has it, or as FORMAT says.
 */
#ifdef STRIPPED
#define FUNC(name) .globl name; .hidden name; .type name, @object; name
#else
#define FUNC(name) .globl name; .type name, @function; name
#endif
#define END(name) name##_end: .size name, . - name

#if !defined(FORMAT)
#define FORMAT 20
#endif
#if FORMAT == 2
#define MAGIC 0xfffffffb
#define HEADER .quad 4
#elif FORMAT == 16
#define MAGIC 0xfffffffa
#define HEADER .quad 4, 0, names - table, 0, 0, names - table, entries - table
#elif FORMAT == 18
#define MAGIC 0xfffffff0
#else
#define MAGIC 0xfffffff1
#endif
#ifndef START
#define START text
#endif
#if FORMAT < 18
#define ADDRESS(a) .quad a
#define OFFSET .quad
#else
#define HEADER .quad 4, 0, START, names - table, 0, 0, names - table, entries - table
#define ADDRESS(a) .long a - text
#define OFFSET .long
#endif
#if FORMAT == 2
#define BASE table
#define NAME(n) n - table
#else
#define BASE entries
#define NAME(n) n - names
#endif
#define ENTRY(f) ADDRESS(f); OFFSET f##_func - BASE
#define TOLD(f, name, pad) f##_func: ADDRESS(f); .long NAME(name), 0, pad, NAME(f##_pcs)
#define PCS(f) f##_pcs: .uleb128 2, f##_end - f, 0
