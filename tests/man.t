# The man pages are sound, and they and -h speak of the same options.
use strict;
use warnings;
use Test::More;

my $pmon = $ENV{PMON} // 'build/pmon';
my $pmprint = ($ENV{PMON_BUILD} // 'build') . '/pmprint';

# The page as plain text, which is sound.
sub
page
{
	my ($page) = @_;

	is(qx(mandoc -T lint -W warning $page 2>&1), '',
	    "$page: mandoc has no complaint");
	my $text = qx(mandoc -T ascii $page) =~ s/.\x08//gr;
	my @long = grep { length > 80 } split /\n/, $text;
	is("@long", '', 'no line is wider than 80 columns');
	return $text;
}

# Options as "-u, --units=LIST", "--top=N", of each of the two texts.
sub
options
{
	my ($lines, $pattern) = @_;
	my %options;

	for (split /\n/, $lines) {
		next unless /$pattern/;
		my ($short) = /(?<![-\w])(-\w)\b/;
		my ($name, $arg) = /--([a-z][-a-z]*)(?:\[?=(\S+))?/;

		$options{$name} = join ' ', grep { defined } $short, $arg;
	}
	return \%options;
}

# The program's -h and its page have the same options, so many at least.
sub
same_options
{
	my ($help, $text, $least) = @_;
	my ($section) = $text =~ /^OPTIONS\n(.*?)^\S/ms;
	my $said = options($help, qr/^\s+(?:-\w, )?--[a-z]/);
	my $written = options($section,
	    qr/^ {5}(?:-\w(?: \S+)?, )?--[-a-z]+(?:\[?=\S+)?(?: {2,}.*)?$/);

	# -h shows the fullest form of what the page has in brackets.
	s/[][]//g for values %$written, values %$said;
	is_deeply($written, $said, 'the same options with the same arguments');
	cmp_ok(scalar keys %$said, '>=', $least, 'and they were found');
}

my $text = page('man/pmon.1');
my $help = qx($pmon --help);
is($?, 0, '--help has status 0');
same_options($help, $text, 11);

page('man/pmon.out.5');
page('man/pmon.trace.5');
page('man/pmon.json.5');
page('man/pmon-control.7');
page('man/pmon-tutorial.7');
my $print_help = qx($pmprint --help);
is($?, 0, 'pmprint --help has status 0');
same_options($print_help, page('man/pmprint.1'), 8);

# Kinds of reports: -h lists them all.
my ($kinds) = $help =~ /KIND or KIND:FILE:\n(.*?)\(summary\)/s;
my @kinds = sort $kinds =~ /[a-z]+(?:-[a-z]+)?(?::[a-z]+)?/g;
my ($reports) = $text =~ /^REPORTS\n(.*?)^\S/ms;
my @described = sort grep { !/:$/ }
    $reports =~ /^ {5}([a-z]+(?:-[a-z]+)?(?::[a-z]+)?)(?=\s{2,}|$)/mg;
is_deeply(\@described, \@kinds, 'the same reports');
cmp_ok(scalar @kinds, '>', 20, 'and they were found');
my ($units) = $reports =~ /^ +report +units\n(.*?)\n\n/ms;
my @unitless = grep { !/:/ && $units !~ /^ +(?:[-a-z]+, )*$_\b/m } @kinds;
is("@unitless", '', 'the table says what units each of them needs');
my $bash = qx($pmon --completion=bash);
my ($words) = $bash =~ /-r\|--report\)\n.*?-W '(.*?)'/s;
is_deeply([sort map { s/:$//r } split ' ', $words // ''], \@kinds,
    'shells complete them');

done_testing;
