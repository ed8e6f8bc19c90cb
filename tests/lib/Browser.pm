# A headless Chromium, driven by ChromeDriver over HTTP (the WebDriver
# protocol): opens pages, runs scripts in them, tells what the console said.
# Ends both when it goes.  It reaches no network: pages are files.
package Browser;

use strict;
use warnings;
use File::Temp qw(tempdir);
use HTTP::Tiny;
use JSON::PP;
use MIME::Base64;
use Scalar::Util qw(weaken);
use Pmon ();

my $json = JSON::PP->new->allow_nonref->utf8;

# Those that run, which must end before perl takes itself apart.
my %running;

# Why there is none, or undef.
sub
lacking
{
	for my $tool (qw(chromium chromedriver)) {
		return "no $tool here"
		    unless grep { -x "$_/$tool" } split /:/, $ENV{PATH};
	}
	return undef;
}

# Start the driver at a port that the kernel chooses: one that is free with IPv6.
# False if IPv4 has it in use, by another test's browser perhaps.
sub
start
{
	my ($self) = @_;
	my $last = '';

	$self->{pid} = open $self->{out}, '-|', 'chromedriver', '--port=0'
	    or die "chromedriver: $!";
	weaken($running{$self->{pid}} = $self);
	my $out = $self->{out};
	while (<$out>) {
		return $self->{port} = $1 if /successfully on port (\d+)/;
		$last = $_;
	}
	delete $running{delete $self->{pid}};
	close $out;
	die "chromedriver did not start: $last\n"
	    unless $last =~ /^IPv4 port not available/;
	return undef;
}

# Options: width, height, dark.
sub
new
{
	my ($class, %opt) = @_;
	my $self = bless { http => HTTP::Tiny->new(timeout => $Pmon::limit) }, $class;

	$self->{dir} = tempdir(CLEANUP => 1);
	until ($self->start) {
	}
	my $reply = $self->call(POST => '/session', { capabilities => {
		alwaysMatch => {
			'goog:loggingPrefs' => { browser => 'ALL' },
			'goog:chromeOptions' => { args => [
				qw(--headless --no-sandbox --disable-gpu
				--disable-quic --no-first-run
				--disable-background-networking
				--disable-component-update --disable-sync
				--disable-dev-shm-usage
				--hide-scrollbars),
				"--user-data-dir=$self->{dir}",
			] },
		} } });
	$self->{session} = $reply->{sessionId};
	$self->session(POST => "/timeouts", { map { $_ =>
	    1000 * $Pmon::limit } qw(script pageLoad) });
	$self->session(POST => '/timeouts', {
		map { $_ => 1000 * $Pmon::limit } qw(script pageLoad) });
	$self->{browser} = $reply->{capabilities}{'goog:processID'};
	$self->command('Emulation.setDeviceMetricsOverride', {
		width => 0 + ($opt{width} // 1280),
		height => 0 + ($opt{height} // 900),
		deviceScaleFactor => 1, mobile => JSON::PP::false });
	$self->command('Emulation.setEmulatedMedia', { features => [{
		name => 'prefers-color-scheme',
		value => $opt{dark} ? 'dark' : 'light' }] });
	return $self;
}

sub
call
{
	my ($self, $method, $path, $body) = @_;
	my $reply = $self->{http}->request($method,
	    "http://127.0.0.1:$self->{port}$path", {
		headers => { 'Content-Type' => 'application/json' },
		content => $json->encode($body // {}),
	    });
	my $value = eval { $json->decode($reply->{content})->{value} };

	die "$method $path: $reply->{status} $reply->{content}\n"
	    unless $reply->{success};
	return $value;
}

sub
session
{
	my ($self, $method, $path, $body) = @_;

	return $self->call($method, "/session/$self->{session}$path", $body);
}

# One of Chromium's own protocol.
sub
command
{
	my ($self, $name, $params) = @_;

	return $self->session(POST => '/goog/cdp/execute',
	    { cmd => $name, params => $params });
}

# The value that a function's body returns, or its promise.
sub
run
{
	my ($self, $script, @args) = @_;

	return $self->session(POST => '/execute/sync',
	    { script => $script, args => \@args });
}

# A page by its file, with what follows "#", until it shows that.
sub
show
{
	my ($self, $file, $hash) = @_;

	# Else it would not be read again when only the rest has changed.
	$self->session(POST => '/url', { url => $_ })
	    for 'about:blank', "file://$file#$hash";
	$self->run(<<'END', "#$hash");
const [hash] = arguments;
return new Promise((resolve, reject) => {
	const main = document.getElementById("main");
	const done = () => main.dataset.view === hash;
	if (done())
		return resolve(true);
	const observer = new MutationObserver(() => done() && resolve(true));
	observer.observe(main, { attributes: true });
});
END
}

# All text of what a selector finds.
sub
texts
{
	my ($self, $selector) = @_;

	return @{$self->run('return [...document.querySelectorAll(' .
	    'arguments[0])].map((e) => e.textContent)', $selector)};
}

# What the console said since last asked.
sub
console
{
	my ($self) = @_;

	return map { "$_->{level}: $_->{message}" }
	    @{$self->session(POST => '/se/log', { type => 'browser' })};
}

sub
screenshot
{
	my ($self, $path) = @_;

	open my $out, '>:raw', $path or die "$path: $!";
	print $out decode_base64($self->session(GET => '/screenshot'));
	close $out;
}

# End both, if they have not been yet.
sub
finish
{
	my ($self) = @_;
	my $pid = delete $self->{pid} // return;

	local ($?, $@);
	delete $running{$pid};
	eval { $self->session(DELETE => '') } if $self->{session};
	# Chromium has ended, unless that failed.
	kill TERM => $self->{browser} if $@ && $self->{browser};
	kill TERM => $pid;
	close $self->{out};
}

sub
DESTROY
{
	my ($self) = @_;

	$self->finish;
}

END {
	$_->finish for grep { defined } values %running;
}

1;
