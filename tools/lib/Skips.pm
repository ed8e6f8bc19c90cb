# A harness for prove that, besides what prove prints, says how many tests
# were skipped and why, so that a skip is never overlooked.
package Skips;

use strict;
use warnings;
use parent 'TAP::Harness';

my %reasons;

sub
make_parser
{
	my ($self, $job) = @_;
	my ($parser, $session) = $self->SUPER::make_parser($job);

	$parser->callback(test => sub {
		my ($result) = @_;
		$reasons{$result->explanation || 'no reason given'}++
		    if $result->has_skip;
	});
	return ($parser, $session);
}

sub
summary
{
	my ($self, $aggregate) = @_;
	my $total = 0;

	for my $parser ($aggregate->parsers) {
		$reasons{"whole file: " . $parser->skip_all}++
		    if $parser->skip_all;
	}
	$total += $_ for values %reasons;
	print "Skipped: $total\n";
	printf "%5d  %s\n", $reasons{$_}, $_ for sort keys %reasons;
	return $self->SUPER::summary($aggregate);
}

1;
