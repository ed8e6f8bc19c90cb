/*
 * Makes text that others chose harmless, and fits it into columns.  Never asks
 * the locale: assumes that the terminal understands UTF-8, and that a character
 * is one column wide.
 */
#include "report/printable.h"

#include <stdbool.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "util/mem.h"

enum { TAB = 8, GLYPH_MAX = 16 };

/* One character as it is shown. */
struct glyph {
	char bytes[GLYPH_MAX];
	size_t len;		/* of bytes */
	size_t columns;
	size_t taken;		/* bytes of the text it stands for */
};

/*
 * The length of the UTF-8 sequence of several bytes at s; 0 if it is none, or
 * not printable.
 */
static size_t
utf8_length(const unsigned char *s, size_t len)
{
	uint32_t c;
	size_t i, n;

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (len < n)
		return 0;
	c = s[0] & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff ||
	    (c >= 0xd800 && c < 0xe000))
		return 0;
	/*
	 * C1 controls, line ends, characters that turn the direction of
	 * writing, and those that XML excludes.
	 */
	if (c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f ||
	    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	    c == 0xfffe || c == 0xffff)
		return 0;
	return n;
}

static void
glyph_next(const char *text, size_t len, size_t column, struct glyph *g)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	g->taken = 1;
	if (s[0] == '\t') {
		g->len = TAB - column % TAB;
		memset(g->bytes, ' ', g->len);
	} else if (s[0] < ' ' || s[0] == 0x7f) {
		g->len = 2;
		g->bytes[0] = '^';
		g->bytes[1] = (char)(s[0] ^ 0x40);
	} else if (s[0] < 0x80) {
		g->len = 1;
		g->bytes[0] = text[0];
	} else {
		n = utf8_length(s, len);
		g->len = g->taken = n ? n : 1;
		memcpy(g->bytes, n ? text : "?", g->len);
		g->columns = 1;
		return;
	}
	g->columns = g->len;
}

size_t
text_width(const char *s, size_t len)
{
	struct glyph g;
	size_t i, column = 0;

	for (i = 0; i < len; i += g.taken) {
		glyph_next(s + i, len - i, column, &g);
		column += g.columns;
	}
	return column;
}

void
text_widen(size_t *width, const char *s, size_t max)
{
	size_t wide = text_width(s, strlen(s));

	if (wide > max)
		wide = max;
	if (wide > *width)
		*width = wide;
}

void
text_head(size_t *width, const char *heading)
{
	if (*width)
		text_widen(width, heading, WIDTH_ALL);
}

/* Whether s fits; does not read on once it is too wide. */
static bool
text_fits(const char *s, size_t len, size_t width)
{
	struct glyph g;
	size_t i, column = 0;

	for (i = 0; i < len && column <= width; i += g.taken) {
		glyph_next(s + i, len - i, column, &g);
		column += g.columns;
	}
	return column <= width;
}

size_t
text_print(FILE *out, const char *s, size_t len, size_t width)
{
	size_t i, column = 0, room = width, dots = 0;
	struct glyph g;

	if (width != WIDTH_ALL && !text_fits(s, len, width)) {
		dots = width < 3 ? width : 3;
		room = width - dots;
	}
	for (i = 0; i < len; i += g.taken) {
		glyph_next(s + i, len - i, column, &g);
		if (g.columns > room - column)
			break;
		if (g.len == 1)
			putc_unlocked(*g.bytes, out);
		else
			fwrite(g.bytes, 1, g.len, out);
		column += g.columns;
	}
	fprintf(out, "%.*s", (int)dots, "...");
	return column + dots;
}

void
text_put(FILE *out, const char *s)
{
	text_print(out, s, strlen(s), WIDTH_ALL);
}

void
text_note(FILE *out, const char *s)
{
	if (!s)
		return;
	fputs(" [", out);
	text_put(out, s);
	putc(']', out);
}

void
text_column(FILE *out, const char *s, size_t width)
{
	size_t len = strlen(s), wide = text_width(s, len), used = 0;
	struct glyph g;

	if (wide > width && width > 3) {
		while (wide > width - 3) {
			glyph_next(s, len, 0, &g);
			s += g.taken;
			len -= g.taken;
			wide -= g.columns < wide ? g.columns : wide;
		}
		fputs("...", out);
		used = 3;
	}
	used += text_print(out, s, len, width - used);
	fprintf(out, "%*s", (int)(width - used), "");
}

void
text_paragraph(FILE *out, const char *first, const char *s, size_t width)
{
	size_t indent = strlen(first), column = indent;

	if (width > COLUMNS_USUAL)
		width = COLUMNS_USUAL;

	fputs(first, out);
	while (*s) {
		size_t len = strcspn(s, " \n");
		size_t wide = text_width(s, len);

		if (column > indent && column + 1 + wide > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putc(' ', out);
			column++;
		}
		column += text_print(out, s, len, WIDTH_ALL);
		s += len;
		s += strspn(s, " \n");
	}
	putc('\n', out);
}

void
text_note_below(FILE *out, const char *s, size_t used, size_t columns)
{
	char *text = s ? mem_printf("[%s]", s) : NULL;
	size_t wide = text ? text_width(text, strlen(text)) + 1 : 0;

	if (columns > COLUMNS_USUAL)
		columns = COLUMNS_USUAL;
	if (text && (used > columns || wide > columns - used)) {
		putc('\n', out);
		text_paragraph(out, "    ", text, columns);
	} else {
		text_note(out, s);
		putc('\n', out);
	}
	free(text);
}

/* ---- numbers and colours */

static struct {
	bool commas, colours;
	enum text_colour colour;	/* of what is printed next */
} style;

void
text_style(bool commas, bool colours)
{
	style.commas = commas;
	style.colours = colours;
}

enum { COUNT_SIZE = 32 };	/* 20 digits, 6 commas */

/* Write n at the end of the buffer; returns where it begins. */
static const char *
count_put(uint64_t n, char buf[COUNT_SIZE])
{
	char *to = buf + COUNT_SIZE - 1;

	*to = '\0';
	for (size_t digits = 0; !digits || n; digits++, n /= 10) {
		if (style.commas && digits && digits % 3 == 0)
			*--to = ',';
		*--to = (char)('0' + n % 10);
	}
	return to;
}

size_t
text_digits(uint64_t n)
{
	char buf[COUNT_SIZE];

	return strlen(count_put(n, buf));
}

void
text_count(FILE *out, uint64_t n, size_t width)
{
	char buf[COUNT_SIZE];

	fprintf(out, "%*s", (int)width, count_put(n, buf));
}

void
text_change(FILE *out, uint64_t before, uint64_t now, size_t width)
{
	uint64_t change = change_size(before, now);
	size_t used = text_digits(change) + 1;

	fprintf(out, "%*s%c", used < width ? (int)(width - used) : 0, "",
		now < before ? '-' : '+');
	text_count(out, change, 0);
}

char *
text_time(uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double n = (double)ns;
	unsigned unit = 0;

	if (ns < 1000)
		return mem_printf("%" PRIu64 " ns", ns);
	while (n >= 999.5 && unit < 3) {
		n /= 1000;
		unit++;
	}
	return mem_printf("%.*f %s",
			  n < 9.995 ? 2 :
			  n < 99.95 ? 1 :
				      0,
			  n, units[unit]);
}

char *
text_number(uint64_t n, const char *what)
{
	char buf[COUNT_SIZE];

	return mem_printf("%s %s%s", count_put(n, buf), what,
			  n == 1		       ? "" :
			  strcmp(what, "process") == 0 ? "es" :
							 "s");
}

void
text_colour(FILE *out, enum text_colour colour)
{
	/* ECMA-48, 8.3.117: SELECT GRAPHIC RENDITION */
	static const char *const codes[] = {
		[TEXT_PLAIN] = "\033[0m", [TEXT_TITLE] = "\033[1m",
		[TEXT_GOOD] = "\033[32m", [TEXT_FAIR] = "\033[33m",
		[TEXT_BAD] = "\033[31m",
	};

	if (!style.colours || colour == style.colour)
		return;
	style.colour = colour;
	fputs(codes[colour], out);
}

void
text_section(FILE *out, const char *title)
{
	putc('\n', out);
	text_colour(out, TEXT_TITLE);
	fprintf(out, "%s:", title);
	text_colour(out, TEXT_PLAIN);
	putc('\n', out);
}

static const char replacement[] = "\xef\xbf\xbd";

static bool
is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

/* text_utf8; with `line`, text_line. */
static char *
text_clean(const char *s, bool line)
{
	size_t len = strlen(s), n;
	char *text = mem_alloc(len * (sizeof(replacement) - 1) + 1);
	char *to = text;

	for (size_t i = 0; i < len; i += n) {
		n = (unsigned char)s[i] < 0x80 ?
			    1 :
			    utf8_length((const unsigned char *)s + i, len - i);
		if (!n) {
			to = stpcpy(to, replacement);
			n = 1;
		} else if (line && is_control(s[i])) {
			*to++ = '^';
			*to++ = (char)(s[i] ^ 0x40);
		} else {
			to = mempcpy(to, s + i, n);
		}
	}
	return text;
}

char *
text_utf8(const char *s)
{
	return text_clean(s, false);
}

char *
text_line(const char *s)
{
	return text_clean(s, true);
}

void
text_line_put(FILE *out, const char *s, const char *special, char instead)
{
	char *text = text_line(s);

	for (const char *c = text; *c; c++)
		putc(strchr(special, *c) ? instead : *c, out);
	free(text);
}

void
text_message(const char *program, const char *message)
{
	fprintf(stderr, "%s: ", program);
	text_put(stderr, message);
	putc('\n', stderr);
}

void
text_xml(FILE *out, const char *s)
{
	char *text = text_utf8(s);

	for (const char *c = text; *c; c++)
		if (*c == '&')
			fputs("&amp;", out);
		else if (*c == '<')
			fputs("&lt;", out);
		else if (*c == '>')
			fputs("&gt;", out);
		else if (*c == '"')
			fputs("&quot;", out);
		else if (is_control(*c))
			fputs(replacement, out);
		else
			putc(*c, out);
	free(text);
}
