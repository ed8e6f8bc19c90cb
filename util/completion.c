/*
 * Prints the scripts by which shells complete a program's options, from its
 * table of options.  Other arguments complete as another command, or as files
 * if options may be mixed with them.  Never reads the shell's state.
 */
#include <string.h>

#include "util/fail.h"
#include "util/command_line.h"

/* Print the help in one line, for use within '...' of the shell. */
static void
help_print(const char *help, const char *escape, FILE *out)
{
	for (; *help; help++) {
		if (*help == '\'')
			fputs("'\\''", out);
		else if (*help == '\n')
			putc(' ', out);
		else if (strchr(escape, *help))
			fprintf(out, "\\%c", *help);
		else
			putc(*help, out);
	}
}

static bool
is_list(const struct option_entry *entry)
{
	return entry->words && !strcmp(entry->arg, "LIST");
}

static bool
is_file(const struct option_entry *entry)
{
	return entry->arg && strstr(entry->arg, "FILE") &&
	       !strstr(entry->arg, "FILE:");
}

static bool
is_process(const struct option_entry *entry)
{
	return entry->arg && strstr(entry->arg, "PID") != NULL;
}

/* ---- bash */

/* "-u|--units" */
static void
bash_names(const struct option_entry *entry, FILE *out)
{
	if (entry->letter)
		fprintf(out, "-%c|", entry->letter);
	fprintf(out, "--%s", entry->name);
}

static void
bash_argument(const struct option_entry *entry, FILE *out)
{
	fputs("\t", out);
	bash_names(entry, out);
	fputs(")\n", out);
	if (is_list(entry))
		fprintf(out,
			"\t\tlist=${cur%%\"${cur##*,}\"}\n"
			"\t\tCOMPREPLY=($(compgen -P \"$list\" -W '%s' -- "
			"\"${cur##*,}\"))\n",
			entry->words);
	else if (entry->words)
		fprintf(out,
			"\t\tCOMPREPLY=($(compgen -W '%s' -- "
			"\"$cur\"))\n",
			entry->words);
	else if (is_process(entry))
		fputs("\t\tCOMPREPLY=($(compgen -W \"$(cd /proc && echo "
		      "[0-9]*)\" -- \"$cur\"))\n",
		      out);
	else if (is_file(entry))
		fputs("\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n", out);
	fputs("\t\treturn;;\n", out);
}

static void
bash_print(const struct option_table *table, FILE *out)
{
	const char *name = table->program;
	size_t n = option_table_size(table);
	const char *bar = "";

	fprintf(out,
		"# %s in bash\n_%s()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} opt= list i\n"
		"\tlocal args='",
		name, name);
	for (size_t i = 0; i < n; i++) {
		if (!option_table_at(table, i)->arg)
			continue;
		fputs(bar, out);
		bash_names(option_table_at(table, i), out);
		bar = "|";
	}
	/* bash makes "=" a word of its own. */
	fputs("'\n\tCOMPREPLY=()\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n"
	      "\t\t=) ;;\n",
	      out);
	if (table->mixed)
		fputs("\t\t*) ;;\n", out);
	else
		fputs("\t\t--) i=$((i + 1)); _command_offset $i 2>/dev/null; "
		      "return;;\n"
		      "\t\t-*) [[ \"|$args|\" = *\"|${COMP_WORDS[i]}|\"* ]] "
		      "&&\n\t\t\t\t[[ ${COMP_WORDS[i+1]} != = ]] &&\n"
		      "\t\t\t\ti=$((i + 1)) ;;\n"
		      "\t\t*) [[ ${COMP_WORDS[i-1]} = = ]] || {\n"
		      "\t\t\t_command_offset $i 2>/dev/null; return; } ;;\n",
		      out);
	fputs("\t\tesac\n\tdone\n"
	      "\topt=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tif [[ $cur = = ]]; then\n\t\tcur=\n"
	      "\telif [[ $opt = = ]]; then\n"
	      "\t\topt=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n"
	      "\tcase $opt in\n",
	      out);
	for (size_t i = 0; i < n; i++)
		if (option_table_at(table, i)->arg)
			bash_argument(option_table_at(table, i), out);
	fputs("\tesac\n\tif [[ $cur = -* ]]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s--%s", i ? " " : "",
			option_table_at(table, i)->name);
	fprintf(out,
		"' -- \"$cur\"))\n\telse\n"
		"\t\tCOMPREPLY=($(compgen %s -- \"$cur\"))\n\tfi\n}\n"
		"complete -F _%s %s\n",
		table->mixed ? "-f" : "-c -f", name, name);
}

/* ---- zsh */

static void
zsh_argument(const struct option_entry *entry, FILE *out)
{
	fputs(entry->optional ? "::" : ":", out);
	help_print(entry->arg, ":", out);
	putc(':', out);
	if (is_list(entry))
		fprintf(out, "_values -s , LIST");
	else if (entry->words)
		putc('(', out);
	else if (is_file(entry))
		fputs("_files", out);
	else if (is_process(entry))
		fputs("_pids", out);
	else
		putc(' ', out);
	for (const char *s = entry->words; s && *s; s++) {
		if (s == entry->words && is_list(entry))
			putc(' ', out);
		if (*s == ':')
			putc('\\', out);
		putc(*s, out);
	}
	if (entry->words && !is_list(entry))
		putc(')', out);
}

static void
zsh_option(const struct option_entry *entry, FILE *out)
{
	const char *sign = !entry->arg ? "" : entry->optional ? "=-" : "=";

	if (entry->letter)
		fprintf(out, "\t'(-%c --%s)'{-%c%s,--%s%s}'[", entry->letter,
			entry->name, entry->letter,
			!entry->arg	? "" :
			entry->optional ? "-" :
					  "+",
			entry->name, sign);
	else
		fprintf(out, "\t'--%s%s[", entry->name, sign);
	help_print(entry->help, "[]:\\", out);
	putc(']', out);
	if (entry->arg)
		zsh_argument(entry, out);
	fputs("' \\\n", out);
}

static void
zsh_print(const struct option_table *table, FILE *out)
{
	fprintf(out, "#compdef %s\n_arguments -s%s \\\n", table->program,
		table->mixed ? "" : " -A '-*'");
	for (size_t i = 0; i < option_table_size(table); i++)
		zsh_option(option_table_at(table, i), out);
	fputs(table->mixed ?
		      "\t'*:file:_files'\n" :
		      "\t'(-)1:program:_command_names -e' '*::argument:_normal'\n",
	      out);
}

/* ---- fish */

static void
fish_option(const char *program, const struct option_entry *entry, FILE *out)
{
	fprintf(out, "complete -c %s", program);
	if (entry->letter)
		fprintf(out, " -s %c", entry->letter);
	fprintf(out, " -l %s -d '", entry->name);
	for (const char *s = entry->help; *s; s++) {
		if (*s == '\'' || *s == '\\')
			putc('\\', out);
		putc(*s == '\n' ? ' ' : *s, out);
	}
	putc('\'', out);
	if (entry->arg && !entry->optional)
		fputs(is_file(entry) ? " -r -F" : " -x", out);
	if (is_list(entry))
		fprintf(out,
			" -a '(__fish_append , (string split \" \" -- "
			"\"%s\"))'",
			entry->words);
	else if (entry->words)
		fprintf(out, " -a '%s'", entry->words);
	else if (is_process(entry))
		fputs(" -a '(__fish_complete_pids)'", out);
	putc('\n', out);
}

static void
fish_print(const struct option_table *table, FILE *out)
{
	for (size_t i = 0; i < option_table_size(table); i++)
		fish_option(table->program, option_table_at(table, i), out);
	if (table->mixed)
		return;
	fprintf(out, "complete -c %s -x -a '(__fish_complete_subcommand",
		table->program);
	for (size_t i = 0; i < option_table_size(table); i++) {
		const struct option_entry *entry = option_table_at(table, i);

		if (!entry->arg)
			continue;
		if (entry->letter)
			fprintf(out, " -%c", entry->letter);
		fprintf(out, " --%s", entry->name);
	}
	fputs(")'\n", out);
}

int
option_table_complete(const struct option_table *table, const char *shell,
		      FILE *out)
{
	static const struct option_word shells[] = {
		{ "bash", 0 },
		{ "zsh", 1 },
		{ "fish", 2 },
	};
	static void (*const print[])(const struct option_table *,
				     FILE *) = { bash_print, zsh_print,
						 fish_print };
	int found = option_word("--completion", shell, shells, 3);

	if (found < 0)
		return -1;
	print[found](table, out);
	return 0;
}
