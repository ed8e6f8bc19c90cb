# tools/format formats code and leaves comments behind code where they are.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);

plan skip_all => 'clang-format is not installed'
    unless qx(clang-format --version 2>/dev/null);
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
	my ($text, @options) = @_;

	open my $file, '>', "$dir/x.c" or die;
	print $file $text;
	close $file;
	return scalar qx(tools/format -style=file:.clang-format @options $dir/x.c);
}

is(formatted($in), $out, 'a file');
is(formatted($out), $out, 'what is formatted stays');
is(formatted($in, '-lines=5:5'), $in =~ s/^  int c/\tint c/mr, 'one line');
done_testing;
