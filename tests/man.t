# The man page is sound, and it and -h speak of the same options.
use strict;
use warnings;
use Test::More;

my $pmon = $ENV{PMON} // 'build/pmon';
my $page = 'man/pmon.1';

is(qx(mandoc -T lint -W warning $page 2>&1), '', 'mandoc has no complaint');

my $text = qx(mandoc -T ascii $page) =~ s/.\x08//gr;
my @long = grep { length > 80 } split /\n/, $text;
is("@long", '', 'no line is wider than 80 columns');

# Options as "-u, --units=LIST", "--top=N", of each of the two texts.
sub
options
{
	my ($lines, $pattern) = @_;
	my %options;

	for (split /\n/, $lines) {
		next unless /$pattern/;
		my ($short) = /(?<![-\w])(-\w)\b/;
		my ($name, $arg) = /--([a-z][-a-z]*)(?:=(\S+))?/;

		$options{$name} = join ' ', grep { defined } $short, $arg;
	}
	return \%options;
}

my $help = qx($pmon --help);
is($?, 0, '--help has status 0');
my ($section) = $text =~ /^OPTIONS\n(.*?)^\S/ms;
my $said = options($help, qr/^\s+(?:-\w, )?--[a-z]/);
my $written = options($section, qr/^ {5}(?:-\w(?: \S+)?, )?--[-a-z]+(?:=\S+)?$/);
# -h shows the fullest form of what the page has in brackets.
s/[][]//g for values %$written;
is_deeply($written, $said, 'the same options with the same arguments');
cmp_ok(scalar keys %$said, '>', 10, 'and they were found');

# Kinds of reports: -h lists them all.
my ($kinds) = $help =~ /KIND or KIND:FILE:\n(.*?)\(summary\)/s;
my @kinds = sort $kinds =~ /[a-z]+(?::[a-z]+)?/g;
my ($reports) = $text =~ /^REPORTS\n(.*?)^\S/ms;
my @described = sort grep { !/:$/ }
    $reports =~ /^ {5}([a-z]+(?::[a-z]+)?)(?=\s{2,}|$)/mg;
is_deeply(\@described, \@kinds, 'the same reports');
cmp_ok(scalar @kinds, '>', 5, 'and they were found');

done_testing;
