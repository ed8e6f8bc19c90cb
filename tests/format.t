# tools/format formats code and leaves comments behind code where they are; the
# project's code is formatted.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);

plan skip_all => 'clang-format is not installed'
    unless qx(clang-format --version 2>/dev/null) =~ /version (\d+)/;
my $version = $1;
my $dir = tempdir(CLEANUP => 1);
my $in = <<'END';
struct x {
	int a;		/* one comment,
			   on two lines */
	int bb;		/* another */
  int c;
};

int f(int a)
{
	if(a) return 1;
	return 2;	/* last */
}
END
my $out = $in =~ s/^  int c/\tint c/mr =~ s/^int f/int\nf/mr =~
    s/if\(a\) /if (a)\n\t\t/r;

# What tools/format makes of the text.
sub
formatted
{
	my ($text) = @_;

	open my $file, '>', "$dir/x.c" or die;
	print $file $text;
	close $file;
	system('tools/format', "$dir/x.c") == 0 or die;
	open $file, '<', "$dir/x.c" or die;
	return join '', <$file>;
}

is(formatted($in), $out, 'a file');
is(qx(tools/format --check $dir/x.c), '', 'what is formatted stays');
SKIP: {
	skip "clang-format $version formats otherwise", 1 if $version != 14;
	is(qx(tools/format --check), '', 'all files are formatted');
}
done_testing;
