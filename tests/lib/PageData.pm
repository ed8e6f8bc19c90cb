# The data files of a page, from which the browser has its counts: reads those of
# pmon, writes made-up ones.
package PageData;

use strict;
use warnings;
use Compress::Zlib ();
use Exporter qw(import);
use Pmon;

our @EXPORT = qw(page_data page_data_write);

my $digits = join '', 0 .. 9, 'a' .. 'z', 'A' .. 'Z',
    '.-:+=^!/*?&<>()[]{}@%$#';
my %digit = map { (substr($digits, $_, 1) => $_) } 0 .. 84;

# The JSON of one, which large ones have compressed, in Z85.
sub
page_data
{
	my ($path) = @_;
	my $script = slurp($path);

	return $1 if $script =~ /^pmon\.put\("\w+",(.*)\);\n\z/s;
	my ($size, $text) = $script =~
	    /^pmon\.put_packed\("\w+",(\d+),"([^"\\]*)"\);\n\z/
	    or die "$path: no data of a page\n";
	my $bytes = '';

	for my $group ($text =~ /.{5}/sg) {
		my $four = 0;

		$four = $four * 85 + $digit{$_} for split //, $group;
		$bytes .= pack 'N', $four;
	}
	return Compress::Zlib::uncompress(substr $bytes, 0, $size) //
	    die "$path: not compressed right\n";
}

# Give a page made-up data: the keys of index.js that matter, and other files by
# name, as JSON.
sub
page_data_write
{
	my ($page, $index, %files) = @_;
	my %index = (version => '"1"', command => '"x"', outcome => '""',
	    time => '"1 s"', processes => 1, threads => 1, remarks => '[]',
	    objects => '["/d/x"]', totals => '[]', reasons => '[]',
	    inlines => '[]', calls => 0, compared => 0, %$index);

	spew("$page/data/index.js", 'pmon.put("index",{' . join(',',
	    map { "\"$_\":$index{$_}" } sort keys %index) . '});');
	spew("$page/data/$_.js", "pmon.put(\"$_\",$files{$_});")
	    for sort keys %files;
}

1;
