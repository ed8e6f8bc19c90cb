# The #include lines of the sources keep to the layers, and the check of them
# notices when they do not.
use strict;
use warnings;
use Test::More;
use File::Path qw(make_path);
use File::Temp qw(tempdir);

is(qx(tools/layers), '', 'the sources keep to the layers');
is($?, 0, 'and the status says so');

# Check one line in one file of an otherwise empty tree.
sub
check
{
	my ($file, $line) = @_;
	my $dir = tempdir(CLEANUP => 1);

	make_path("$dir/" . $file =~ s{/[^/]*$}{}r);
	open my $out, '>', "$dir/$file" or die $!;
	print $out "#include <stdio.h>\n$line\n";
	close $out;
	my $output = qx(tools/layers $dir);
	return ($output, $? >> 8);
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
	['arch/m68k/x.c', '#include <capstone/capstone.h>'],
	['arch/aarch64/x.c', '#include <capstone/capstone.h>'],
	['host/emulator.c', '#include <sys/wait.h>'],
	['host/ptrace.c', '#include <sys/ptrace.h>'],
	['symtab/elf.c', '#include <gelf.h>'],
	['symtab/dwarf.c', '#include <libdwarf.h>'],
	['symtab/dwarf_x.c', '#include "symtab/dwarf.h"'],
	['util/demangle.c', '#include <libiberty/demangle.h>'],
	['monitor/unwind/stack_x.c', '#include <elfutils/libdwfl.h>'],
	['monitor/unwind/stack.c', '#include "monitor/unwind/stack_files.h"'],
	['monitor/run.c', '#include "monitor/unwind/stack.h"'],
	['util/options.c', '#include <getopt.h>'],
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
	['probe/x.c', '#include <Zydis/Zydis.h>'],
	['arch/x86_64/x.c', '#include <capstone/capstone.h>'],
	['host/emulator.c', '#include <sys/ptrace.h>'],
	['host/remote.c', '#include <sys/wait.h>'],
	['report/x.c', '#include <libiberty/demangle.h>'],
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

done_testing;
