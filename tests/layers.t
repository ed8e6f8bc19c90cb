# The #include lines and the calls of the sources keep to the layers, and the
# check of them notices when they do not.
use strict;
use warnings;
use Test::More;
use File::Path qw(make_path);
use File::Temp qw(tempdir);

is(qx(tools/layers), '', 'the sources keep to the layers');
is($?, 0, 'and the status says so');

# Check a tree of these files.
sub
tree_check
{
	my (%text) = @_;
	my $dir = tempdir(CLEANUP => 1);

	for my $file (keys %text) {
		make_path("$dir/" . $file =~ s{/[^/]*$}{}r);
		open my $out, '>', "$dir/$file" or die $!;
		print $out $text{$file};
		close $out;
	}
	my $output = qx(tools/layers $dir);
	return ($output, $? >> 8);
}

# Check one line in one file of an otherwise empty tree.
sub
check
{
	my ($file, $line) = @_;

	return tree_check($file, "#include <stdio.h>\n$line\n");
}

my @good = (
	['util/x.c', '#include "util/mem.h"'],
	['flow/x.c', '#include "arch/arch.h"'],
	['program/x.h', '#include "symtab/image.h"'],
	['probe/x.c', '#include "program/select.h"'],
	['report/x.c', '#include "probe/plan.h"'],
	['monitor/x.c', '#include "host/host.h"'],
	['arch/x86_64/x.c', '#include "arch/x86_64/x86_64.h"'],
	['arch/x86_64/x.c', '#include <Zydis/Zydis.h>'],
	['arch/capstone.h', '#include <capstone/capstone.h>'],
	['arch/capstone.c', '#include <dlfcn.h>'],
	['arch/m68k/x.c', '#include "arch/capstone.h"'],
	['arch/aarch64/x.c', '#include "arch/capstone.h"'],
	['host/emulator.c', '#include <sys/wait.h>'],
	['host/ptrace.c', '#include <sys/ptrace.h>'],
	['symtab/elf.c', '#include <gelf.h>'],
	['symtab/elf_x.c', '#include "symtab/elf_file.h"'],
	['symtab/dwarf.c', '#include <libdwarf.h>'],
	['symtab/dwarf_x.c', '#include "symtab/dwarf.h"'],
	['util/demangle.c', '#include <libiberty/demangle.h>'],
	['monitor/unwind/stack_x.c', '#include <elfutils/libdwfl.h>'],
	['monitor/unwind/stack.c', '#include "monitor/unwind/stack_files.h"'],
	['monitor/run.c', '#include "monitor/unwind/stack.h"'],
	['monitor/client/x.c', '#include "monitor/unwind/abnormal.h"'],
	['monitor/unwind/x.h', '#include "monitor/patch/patch.h"'],
	['monitor/patch/x.c', '#include "monitor/process/task.h"'],
	['monitor/process/x.h', '#include "monitor/run.h"'],
	['monitor/process/x.c', '#include "monitor/options.h"'],
	['util/command_line.c', '#include <getopt.h>'],
	['report/profile/sections.c', '#include <zlib.h>'],
	['report/export/json.c', '#include <json-c/json.h>'],
	['print/main.c', '#include "report/profile/profile.h"'],
);
my @bad = (
	['util/x.c', '#include "arch/arch.h"'],
	['flow/x.c', '#include "symtab/image.h"'],
	['flow/x.h', '#include "arch/abi.h"'],
	['flow/x.c', '#include "arch/x86_64/x86_64.h"'],
	['symtab/x.c', '#include "program/select.h"'],
	['program/x.c', '#include "probe/plan.h"'],
	['program/x.c', '#include "relocate/relocate.h"'],
	['probe/x.c', ' #  include "report/report.h"'],
	['report/x.c', '#include "host/host.h"'],
	['host/x.c', '#include "monitor/run.h"'],
	['monitor/x.c', '#include "arch/x86_64/x86_64.h"'],
	['monitor/x.c', '#include "run.h"'],
	['monitor/x.c', '#include <sys/ptrace.h>'],
	['monitor/x.c', '#include <sys/wait.h>'],
	['symtab/dwarf.c', '#include <gelf.h>'],
	['symtab/elf.c', '#include <libdwarf.h>'],
	['symtab/elf.c', '#include <libdwarf/libdwarf.h>'],
	['symtab/image.c', '#include "symtab/dwarf.h"'],
	['symtab/image.c', '#include "symtab/elf_file.h"'],
	['symtab/elf.h', '#include <gelf.h>'],
	['probe/x.c', '#include <Zydis/Zydis.h>'],
	['arch/x86_64/x.c', '#include "arch/capstone.h"'],
	['arch/m68k/x.c', '#include <capstone/capstone.h>'],
	['symtab/x.c', '#include <dlfcn.h>'],
	['host/emulator.c', '#include <sys/ptrace.h>'],
	['host/remote.c', '#include <sys/wait.h>'],
	['report/x.c', '#include <libiberty/demangle.h>'],
	['monitor/client/x.c', '#include "monitor/control.h"'],
	['monitor/unwind/x.c', '#include "monitor/client/save.h"'],
	['monitor/patch/x.h', '#include "monitor/unwind/stack.h"'],
	['monitor/process/x.c', '#include "monitor/patch/patch.h"'],
	['monitor/process/x.h', '#include "monitor/control.h"'],
	['monitor/run.c', '#include <elfutils/libdwfl.h>'],
	['monitor/run.c', '#include "monitor/unwind/stack_files.h"'],
	['report/profile/profile_write.c', '#include <zlib.h>'],
	['report/export/lcov.c', '#include <json-c/json.h>'],
	['monitor/options.c', '#include <getopt.h>'],
	['report/x.c', '#include "print/pages.h"'],
	['print/x.c', '#include "monitor/options.h"'],
);

for (@good) {
	my ($output, $status) = check(@$_);

	is("$status$output", '0', "allowed: @$_");
}
for (@bad) {
	my ($output, $status) = check(@$_);

	like($output, qr/^\Q$_->[0]\E:2: /, "breach seen: @$_");
	is($status, 1, 'and the status says so');
}

# A source that defines function f_NAME, which calls these functions.
sub
source
{
	my ($name, @calls) = @_;

	return "void\nf_$name(void)\n{\n" .
	    join('', map { "\tf_$_();\n" } @calls) . "}\n";
}

# Files of these folders that call one another by turns.
sub
circle
{
	my @files = map { $_[$_] . '/f' . $_ . '.c' } 0 .. $#_;

	return map { ($files[$_] => source($_, ($_ + 1) % @_)) } 0 .. $#_;
}

# What calls give: the files, and what must be said of them.
my @calls = (
	['calls go down', '', 'monitor/patch/a.c' => source('a', 'b'),
	    'monitor/process/b.c' => source('b')],
	['a call goes up', qr{^monitor/process/a\.c:4: f_b is in },
	    'monitor/process/a.c' => source('a', 'b'),
	    'monitor/patch/b.c' => source('b')],
	['a call goes up to the run loop', qr{^monitor/client/a\.c:4: },
	    'monitor/client/a.c' => source('a', 'b'),
	    'monitor/b.c' => source('b')],
	['a table is named from below', qr{^monitor/patch/a\.c:1: table is in },
	    'monitor/patch/a.c' => "const void *p = &table;\n",
	    'monitor/client/b.c' => "const struct client table = { 0 };\n"],
	['a comment and a string call nothing', '',
	    'monitor/process/a.c' => "/* f_b() */\nchar *s = \"f_b()\";\n",
	    'monitor/patch/b.c' => source('b')],
	['a file calls its own function of that name', '',
	    'monitor/process/a.c' => 'static ' . source('b') .
		source('a', 'b'), 'monitor/patch/b.c' => source('b')],
	['a member of that name is called', '',
	    'monitor/process/a.c' => source('a') =~ s/\}/\tp->f_b();\n}/r,
	    'monitor/patch/b.c' => source('b')],
	['three files in a circle', '', circle(('flow') x 3)],
	['four files in a circle', qr{^flow/f0\.c:1: a circle of files: flow/f0 },
	    circle(('flow') x 4)],
	['two folders in a circle',
	    qr{^report/:0: a circle of folders: report report/text$},
	    'report/a.c' => "#include \"report/text/b.h\"\n",
	    'report/text/b.h' => "#include \"report/c.h\"\n"],
	['three folders in a circle', qr{: a circle of folders: },
	    'report/text/a.h' => "#include \"report/html/b.h\"\n",
	    'report/html/b.h' => "#include \"report/export/c.h\"\n",
	    'report/export/c.h' => "#include \"report/text/a.h\"\n"],
	['folders below one another', '',
	    'report/text/a.h' => "#include \"report/b.h\"\n",
	    'report/html/c.h' => "#include \"report/text/a.h\"\n"],
	['what all of monitor/ shares is no circle', '',
	    'monitor/a.c' => "#include \"monitor/process/b.h\"\n",
	    'monitor/process/b.h' => "#include \"monitor/run.h\"\n"],
	['a header is of its source',
	    qr{^util/a\.c:1: a circle of files: util/a util/b util/c util/d$}m,
	    'util/a.c' => source('a', 'b'), 'util/b.c' => source('b', 'c'),
	    'util/c.c' => source('c', 'd'), 'util/d.c' => source('d', 'a'),
	    'util/a.h' => "void f_a(void);\n"],
);

for (@calls) {
	my ($what, $said, @files) = @$_;
	my ($output, $status) = tree_check(@files);

	like($output, ref $said ? $said : qr/^$/, $what);
	is($status, $said ? 1 : 0, 'and the status says so');
}

done_testing;
