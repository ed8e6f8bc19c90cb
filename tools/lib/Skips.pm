# A harness for prove that, besides what prove prints, says how many tests
# were skipped and why, so that a skip is never overlooked; and what tests that
# failed said of it on their standard output, as cmocka's do.
package Skips;

use strict;
use warnings;
use parent 'TAP::Harness';
use TAP::Parser::Result::Test;

my %reasons;
my @failed;	# lines: tests that failed, the comment before each, and those
		# behind

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
	my ($comment, $failing);

	# cmocka has the test's name for a reason; the test said it before.
	$parser->callback(comment => sub {
		$comment = $_[0]->comment;
		push @failed, "  # $comment" if $failing;
	});
	$parser->callback(test => sub {
		my ($result) = @_;
		my $reason = $result->explanation || 'no reason given';

		$failing = !$result->is_ok;
		if ($failing) {
			push @failed, $session->name . ': ' .
			    $result->as_string;
			push @failed, "  # $comment" if defined $comment;
		}
		$reason = $comment
		    if defined $comment && $reason =~ /^\w+$/;
		$reasons{$reason}++ if $result->has_skip;
		$comment = undef;
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
	print map { "$_\n" } @failed;
	return $self->SUPER::summary($aggregate);
}

1;
