# Servers under load are attached to and let go, again and again, in all modes:
# nothing of pmon's is left in them, and no request fails.  PMON_ATTACH=1000
# says how often, PMON_SERVERS="nginx redis" which; the servers are those that
# are installed.
use strict;
use warnings;
use lib 'tests/lib';
use IO::Socket::INET;
use Test::More;
use Left;
use Pmon;

$ENV{HOME} = '/';
# Where the pmons have their sockets.
my $places = $ENV{XDG_RUNTIME_DIR} = "$scratch/runtime";
mkdir $places, 0700 or die "$places: $!";

my $times = $ENV{PMON_ATTACH} // 60;
my %chosen = map { $_ => 1 } split ' ', $ENV{PMON_SERVERS} //
    'nginx redis postgres';
my @modes = (['--units=func'], [], ['--units=edge'], ['--patch=trap'],
    ['--no-traps', '--units=func'], ['--once'], ['--units=line'],
    ['--no-traps'], ['--follow=none'], ['--patch=slot', '--units=block'],
    ['--separate=process', '--units=func'],
    ['--separate=thread', '--units=edge'],
    ['--separate=thread', '--units=func']);
# What takes long: each tenth time.
my @long = (['--eager'], ['--object=*', '--units=func'], ['--patch=step'],
    ['--units=insn', '--placement=every'], ['--object=*'],
    ['--no-traps', '--object=*', '--units=edge'],
    ['--object=*', '--units=edge', '--separate=thread'],
    ['--eager', '--units=call']);
my @ends = qw(INT TERM duration stop);

sub
installed
{
	my ($name) = @_;
	my ($path) = grep { -x } map { "$_/$name" }
	    split(/:/, $ENV{PATH}), '/usr/sbin';

	return $path;
}

# A port that nobody has.
sub
port_free
{
	my $socket = IO::Socket::INET->new(Listen => 1,
	    LocalAddr => '127.0.0.1') or die "no socket: $!";

	return $socket->sockport;
}

sub
port_waits
{
	my ($port) = @_;

	return wait_for(sub { IO::Socket::INET->new(
	    PeerAddr => "127.0.0.1:$port") });
}

sub
maps_count
{
	my ($pid) = @_;

	return scalar split /\n/, slurp("/proc/$pid/maps");
}

# Attach once; how it ends is one of four ways.
sub
attach
{
	my ($pid, $options, $end) = @_;
	my @duration = $end eq 'duration' ? '--duration=0.1' : ();
	my $run = monitor_start([@$options, @duration, '-p', $pid], []);

	# It may have come and gone before anybody looks.
	wait_for(sub { has_ended($run->{pid}) ||
	    slurp("/proc/$pid/status") =~ /^TracerPid:\s+$run->{pid}$/m });
	select undef, undef, undef, 0.02 * int rand 5;
	if ($end eq 'stop') {
		run([$pmon, '--stop', $run->{pid}]);
		# It may not have had its socket yet.
		kill INT => $run->{pid};
	} elsif ($end ne 'duration') {
		kill $end => $run->{pid};
	}
	return monitor_finish($run);
}

# What the states differ in.
sub
different
{
	my ($before, $now) = @_;

	return grep { ($now->{$_} // '') ne ($before->{$_} // '') }
	    sort keys %{{ %$before, %$now }};
}

# Children of pid's that live and whose text is not the file's.
sub
children_changed
{
	my ($pid) = @_;
	my @changed;

	for my $child (children_of($pid)) {
		my $changes = text_changes($child);

		# One that ends meanwhile has no memory.
		push @changed, "$child: $changes" if $changes &&
		    slurp("/proc/$child/maps");
	}
	return join ' ', @changed;
}

# Attach to pid while `load` runs again and again; `failures` says of a run of
# it what went wrong.
sub
server
{
	my ($name, $pid, $load, $failures) = @_;
	my $run = finish(start($load));
	my $before = process_state($pid);
	my ($size, $maps) = (process_size($pid), maps_count($pid));
	my ($bad, $failed, $runs) = (0, '', 0);

	is($failures->($run), '', "$name: works alone");
	# Whatever processors there are, pmon and the server come first.
	my @how = (before => sub { setpriority(0, 0, 19) });
	my $running = start($load, @how);
	for my $i (1 .. $times) {
		my $options = $i % 10 ? $modes[$i % @modes] :
		    $long[$i / 10 % @long];
		my $end = $ends[$i / @modes % @ends];
		my $result = attach($pid, $options, $end);

		my $text = text_changes($pid) . children_changed($pid);
		if (ended($result) ne 'status 0' || complaints($result) ne '' ||
		    $result->{report} =~ /stays\s+mapped/ ||
		    $text ne $before->{text}) {
			diag "@$options $end: ", ended($result), ' ',
			    $result->{err}, $text;
			$bad++;
		}
		if (has_ended($running->{pid})) {
			my $end = finish($running);

			$failed ||= $failures->($end);
			$runs++;
			$running = start($load, @how);
		}
	}
	$failed ||= $failures->(finish($running));
	is($bad, 0, "$name: $times times attached and let go");
	is($failed, '', 'no request fails');
	# It may not have closed what its last client had yet.
	wait_for(sub { !different($before, process_state($pid)) });
	is_deeply(process_state($pid), $before, 'all is as before');
	cmp_ok(process_size($pid) - $size, '<', 64, 'in megabytes, too');
	is_deeply([glob "$places/pmon/*"], [], 'no socket is left');
	diag sprintf '%s: %d attaches, %d runs of the load; %d to %d ' .
	    'mappings, %.1f to %.1f MB', $name, $times, $runs + 1, $maps,
	    maps_count($pid), $size, process_size($pid);
	return;
}

SKIP: {
	my ($nginx, $ab) = (installed('nginx'), installed('ab'));

	skip 'not chosen', 6 if !$chosen{nginx};
	skip 'no nginx', 6 if !$nginx;
	skip 'no ab (apache2-utils)', 6 if !$ab;
	my $port = port_free();
	my $dir = "$scratch/nginx";
	mkdir $dir;
	chmod 0755, $scratch, $dir;
	spew("$dir/index.html", "hello\n" x 100);
	spew("$dir/conf", <<"END");
daemon off;
master_process off;
pid $dir/pid;
error_log $dir/error;
events {}
http {
	access_log off;
	client_body_temp_path $dir/body;
	proxy_temp_path $dir/proxy;
	fastcgi_temp_path $dir/fastcgi;
	uwsgi_temp_path $dir/uwsgi;
	scgi_temp_path $dir/scgi;
	server { listen 127.0.0.1:$port; root $dir; }
}
END
	my $server = start([$nginx, '-c', "$dir/conf"]);
	port_waits($port);
	server('nginx', $server->{pid}, [$ab, '-r', '-q', '-s', $limit, '-n',
	    20000, '-c', 4, "http://127.0.0.1:$port/index.html"], sub {
		my ($run) = @_;

		return $run->{out} =~ /^Failed requests:\s+0$/m &&
		    $run->{out} !~ /^Non-2xx/m ? '' : $run->{out} . $run->{err};
	});
	kill KILL => $server->{pid};
	finish($server);
}

SKIP: {
	my ($redis, $load) = (installed('redis-server'),
	    installed('redis-benchmark'));

	skip 'not chosen', 6 if !$chosen{redis};
	skip 'no redis-server', 6 if !$redis || !$load;
	my $port = port_free();
	my $server = start([$redis, '--port', $port, '--bind', '127.0.0.1',
	    '--save', '', '--dir', $scratch]);
	port_waits($port);
	server('redis', $server->{pid}, [$load, '-p', $port, '-q', '-n', 5000,
	    '-c', 4, '-t', 'set,get,lpush,lpop,sadd,hset'], sub {
		my ($run) = @_;

		return $run->{status} || $run->{out} =~ /error/i ?
		    $run->{out} . $run->{err} : '';
	});
	kill KILL => $server->{pid};
	finish($server);
}

SKIP: {
	my ($bin) = grep { -x "$_/initdb" } glob '/usr/lib/postgresql/*/bin';
	my $bench = installed('pgbench');

	skip 'not chosen', 6 if !$chosen{postgres};
	skip 'no postgresql', 6 if !$bin || !$bench;
	skip 'not root, who may become the user postgres', 6 if $> ||
	    run(['runuser', '-u', 'postgres', 'true'])->{status};
	my $port = port_free();
	my $dir = "$scratch/postgres";
	my @as = ('runuser', '-u', 'postgres', '--');
	mkdir $dir;
	chmod 0755, $scratch;
	run(['chown', 'postgres', $dir]);
	run([@as, "$bin/initdb", '-N', '-D', "$dir/data"]);
	# -F: the speed of the disk is of no interest.
	my $server = start([@as, "$bin/postgres", '-F', '-D', "$dir/data", '-p',
	    $port, '-k', $dir, '-h', '127.0.0.1']);
	port_waits($port);
	run([@as, $bench, '-h', $dir, '-p', $port, '-i', 'postgres']);
	my ($pid) = split ' ', slurp("$dir/data/postmaster.pid");
	server('postgres', $pid, [@as, $bench, '-h', $dir, '-p', $port, '-c',
	    2, '-C', '-T', 5, 'postgres'], sub {
		my ($run) = @_;

		return !$run->{status} && $run->{out} =~
		    /failed transactions: 0 / ? '' : $run->{out} . $run->{err};
	});
	kill QUIT => $pid;
	wait_for(sub { has_ended($server->{pid}) });
	finish($server);
}

done_testing;
