# A harness for prove that, besides what prove prints, says how many tests
# were skipped and why, so that a skip is never overlooked.
package Skips;

use strict;
use warnings;
use parent 'TAP::Harness';
use TAP::Parser::Result::Test;

my %reasons;

# cmocka 1.1.5 says "not ok" of what it skips.
my $is_ok = \&TAP::Parser::Result::Test::is_ok;
{
	no warnings 'redefine';
	*TAP::Parser::Result::Test::is_ok = sub {
		my ($result) = @_;

		return !$result->is_unplanned if $result->has_skip;
		return $result->$is_ok;
	};
}

sub
make_parser
{
	my ($self, $job) = @_;
	my ($parser, $session) = $self->SUPER::make_parser($job);
	my $comment;

	# cmocka has the test's name for a reason; the test said it before.
	$parser->callback(comment => sub { $comment = $_[0]->comment });
	$parser->callback(test => sub {
		my ($result) = @_;
		my $reason = $result->explanation || 'no reason given';

		return unless $result->has_skip;
		$reason = $comment
		    if defined $comment && $reason =~ /^\w+$/;
		$reasons{$reason}++;
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
