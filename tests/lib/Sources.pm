# Real programs to test with: Debian's source packages, fetched when a test
# first wants them, kept and built under build/sources/.  Owns a private
# configuration of apt there; changes nothing in /etc or /var, installs
# nothing.
#
# source_build and source_optimised return the directory of a build,
# package_fetch that of an unpacked binary package of another release, or undef;
# then $Sources::reason says why there is none, for skip.
package Sources;

use strict;
use warnings;
use Cwd qw(getcwd);
use Exporter qw(import);
use Fcntl qw(:flock);
use File::Path qw(make_path remove_tree);
use Pmon;

our @EXPORT = qw(package_fetch source_build source_optimised);
our $reason = '';

my $top = getcwd() . '/build/sources';

# How to make each program without configure: its package, the directory of
# its sources there, which of them (all but main programs not wanted), what
# is to be made or found first.
my %recipes = (
	bzip2 => {
		package => 'bzip2', src => '.',
		flags => ['-D_FILE_OFFSET_BITS=64'],
		only => [qw(blocksort huffman crctable randtable compress
		    decompress bzlib bzip2)],
	},
	gzip => {
		package => 'gzip', src => '.',
		only => [qw(bits deflate gzip inflate trees unlzh unlzw
		    unpack unzip util version zip)],
		flags => [qw(-DHAVE_CONFIG_H -DNDEBUG)], dirs => ['lib'],
		libs => ['lib/libgzip.a'],
		# Their makefiles would be made anew: times are not kept.
		prepare => './configure -q --disable-dependency-tracking' .
		    ' && a="ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=:"' .
		    ' && make -s -C lib $a && make -s version.c version.h $a',
	},
	lua => {
		# Every run is to do the same: no seed made of the time and an
		# address, no cache that hashes addresses.  And a switch
		# instead of computed gotos, which gcc makes into one.
		package => 'lua5.4', src => 'src', except => ['luac'],
		flags => [qw(-DLUA_USE_POSIX -Dluai_makeseed(...)=1
		    -DSTRCACHE_N=1 -DSTRCACHE_M=1
		    -DLUA_USE_JUMPTABLE=0)],
		libs => ['-lm'],
		prepare => 'echo "#define DEB_HOST_MULTIARCH \"none\"" ' .
		    '>src/lua5.4-deb-multiarch.h',
	},
	sqlite3 => {
		package => 'sqlite3', src => '.', only => [qw(sqlite3 shell)],
		flags => [qw(-DSQLITE_THREADSAFE=0
		    -DSQLITE_OMIT_LOAD_EXTENSION -DLONGDOUBLE_TYPE=double)],
		libs => ['-lm'], needs => 'tclsh',
		# A third of the compiler's time of -O2, and functions that are
		# split, specialised and left by jumps as there.  Nobody asks
		# where variables are.
		quick => [qw(-O1 -fno-var-tracking -foptimize-sibling-calls -fpartial-inlining
		    -fipa-cp -fipa-sra -freorder-functions
		    -freorder-blocks-and-partition)],
		prepare => 'make -f main.mk TOP=. BCC="${CC:-cc} -w"' .
		    ' TCLSH_CMD=tclsh TCLSH=tclsh NAWK=awk' .
		    ' sqlite3.c shell.c',
	},
);

sub
tool_there
{
	my ($tool) = @_;

	return grep { -x "$_/$tool" } split /:/, $ENV{PATH};
}

# Run a command with its output in the log; false, with the reason set, if it
# fails.
sub
command
{
	my ($what, $dir, @argv) = @_;
	my $log = "$scratch/sources.log";
	my $pid = fork // die "fork: $!";

	if (!$pid) {
		open STDIN, '<', '/dev/null';
		open STDOUT, '>', $log or POSIX::_exit(126);
		open STDERR, '>&', \*STDOUT;
		chdir $dir or POSIX::_exit(126);
		$ENV{LC_ALL} = 'C';
		{ exec @argv };
		POSIX::_exit(127);
	}
	waitpid $pid, 0;
	return 1 if $? == 0;
	my @lines = grep { /\S/ } split /\n/, slurp($log);
	my ($line) = grep { /^E:|error:/ } @lines, reverse @lines;
	$reason = "cannot $what: " . ($line // "status $?");
	return 0;
}

# A field of a *.sources file's stanza.
sub
field
{
	my ($stanza, $name) = @_;

	return $stanza =~ /^$name:[ \t]*(.*(?:\n[ \t]+.*)*)/mi ? $1 : '';
}

# apt's lines for source packages, after those that this machine has for
# binary ones: of sources.list and of the newer *.sources.
sub
source_lines
{
	my (@lines, %seen);

	for my $file ('/etc/apt/sources.list',
	    glob '/etc/apt/sources.list.d/*.list') {
		push @lines, map { s/^deb(-src)? /deb-src /r }
		    grep { /^deb(-src)?\s/ } split /\n/, slurp($file);
	}
	for my $file (glob '/etc/apt/sources.list.d/*.sources') {
		my $text = slurp($file) =~ s/^#.*\n//mgr;

		for my $stanza (split /\n\s*\n/, $text) {
			my $key = field($stanza, 'Signed-By');
			my $how = $key =~ m{^/\S+$} ? "[signed-by=$key] " : '';

			next if field($stanza, 'Enabled') =~ /^no/i;
			for my $uri (split ' ', field($stanza, 'URIs')) {
				push @lines, map { "deb-src $how$uri $_ " .
				    field($stanza, 'Components') }
				    split ' ', field($stanza, 'Suites');
			}
		}
	}
	return grep { !$seen{s/\[.*?\]|\s+//gr}++ } @lines;
}

# Keep what is locked by this name, for tests at the same time: the lock, which
# ends with the variable that holds it.
sub
lock_take
{
	my ($name) = @_;

	make_path($top);
	open my $lock, '>', "$top/$name.lock" or die "$top/$name.lock: $!";
	flock $lock, LOCK_EX;
	return $lock;
}

# Options that give apt its own world in a directory of ours.
sub
apt_options
{
	my ($apt) = @_;

	return map { ('-o', $_) } "Dir::Etc::SourceList=$apt/sources.list",
	    'Dir::Etc::SourceParts=/dev/null', "Dir::State=$apt/state",
	    'Dir::State::status=/var/lib/dpkg/status',
	    "Dir::Cache=$apt/cache", 'APT::Sandbox::User=root',
	    'Acquire::Languages=none', 'Acquire::Retries=1',
	    'Acquire::http::Timeout=20';
}

# Get the lists of what these sources have into that world, once.
sub
lists_update
{
	my ($apt, @lines) = @_;
	my $lock = lock_take('lists');

	return 1 if -e "$apt/updated";
	if (!@lines) {
		$reason = 'no sources of packages in /etc/apt';
		return 0;
	}
	make_path(map { "$apt/$_" } 'state/lists/partial',
	    'cache/archives/partial');
	spew("$apt/sources.list", join "\n", @lines, '');
	# Some of these may have no source packages: if only others fail, the
	# package is found nevertheless.
	command('update lists', $top, 'apt-get', '-q', apt_options($apt),
	    'update') && spew("$apt/updated", '');
	return 1;
}

# The package's directory, unpacked and patched, or undef.
sub
source_fetch
{
	my ($package) = @_;
	my ($dir, $get) = ("$top/$package", "$top/$package.get");

	return $dir if -e "$dir/.complete";
	for my $tool ('apt-get', 'dpkg-source') {
		next if tool_there($tool);
		$reason = "no $tool here to fetch $package with";
		return undef;
	}
	lists_update("$top/apt", source_lines()) or return undef;
	remove_tree($get, $dir);
	make_path($get);
	command("fetch the source of $package", $get, 'apt-get', '-q',
	    apt_options("$top/apt"), 'source', '--download-only', $package)
	    or return undef;
	my ($dsc) = glob "$get/*.dsc";
	command("unpack $package", $get, 'dpkg-source', '--no-check',
	    '--no-copy', '-x', $dsc, $dir) or return undef;
	remove_tree($get);
	spew("$dir/.complete", '');
	return $dir;
}

# apt's line for another release of Debian, signed as this one knows it, if it
# does.
sub
release_lines
{
	my ($release) = @_;
	my ($key) = grep { -e } map { "/usr/share/keyrings/" .
	    "debian-archive-keyring.$_" } 'gpg', 'pgp';
	my ($uri) = map { m{\s(\S+/debian/?)\s} ? $1 : () } source_lines();

	return $key && $uri ? "deb [signed-by=$key] $uri $release main" : ();
}

# What a package of a later release of Debian installs, for programs that any
# release can run: in its directory, or undef.
sub
package_fetch
{
	my ($package, $release) = @_;
	my ($dir, $apt) = ("$top/$package.$release", "$top/apt.$release");

	return $dir if -e "$dir/.complete";
	my $lock = lock_take("$package.$release");
	return $dir if -e "$dir/.complete";
	lists_update($apt, release_lines($release)) or return undef;
	remove_tree($dir);
	make_path($dir);
	command("fetch $package of $release", $dir, 'apt-get', '-q',
	    apt_options($apt), 'download', $package) or return undef;
	my ($deb) = glob "$dir/*.deb";
	command("unpack $package", $dir, 'dpkg-deb', '-x', $deb, $dir)
	    or return undef;
	spew("$dir/.complete", '');
	return $dir;
}

sub
compile_all
{
	my ($recipe, $src, $dir, $name, @flags) = @_;
	my %except = map { $_ => 1 } @{$recipe->{except} // []};
	my @names = @{$recipe->{only} // [grep { !$except{$_} }
	    map { m{([^/]+)\.c$} } glob "$src/*.c"]};
	my @cc = split ' ', $cc;

	my @dirs = map { "-I$src/$_" } '.', @{$recipe->{dirs} // []};
	my @libs = map { m{/} ? "$src/$_" : $_ } @{$recipe->{libs} // []};

	for (@names) {
		command("compile $name", $dir, @cc, '-w', @flags,
		    @{$recipe->{flags}}, @dirs, '-c', '-o', "$_.o",
		    "$src/$_.c") or return 0;
	}
	return command("link $name", $dir, @cc, @flags, '-o', $name,
	    (map { "$_.o" } @names), @libs);
}

# Build the program with these flags: the directory of the program and its
# object files, or undef.  Several tests may want the same at the same time: one
# waits for another only if that builds the same program.
sub
source_build
{
	my ($name, @flags) = @_;
	my $recipe = $recipes{$name} or die "$name?";
	my $key = join '', map { s/[^\w=.-]/_/gr } @flags,
	    $cc eq 'cc' ? () : "-$cc";
	my $dir = "$top/$name$key";

	return $dir if -e "$dir/.complete";
	my $lock = lock_take($name);
	return $dir if -e "$dir/.complete";
	if ($recipe->{needs} && !tool_there($recipe->{needs})) {
		$reason = "$recipe->{needs} is missing, to make $name";
		return undef;
	}
	my $source = source_fetch($recipe->{package}) // return undef;
	if ($recipe->{prepare} && !-e "$source/.prepared") {
		command("prepare $name", $source, 'sh', '-c',
		    $recipe->{prepare}) or return undef;
		spew("$source/.prepared", '');
	}
	remove_tree($dir);
	make_path($dir);
	compile_all($recipe, $recipe->{src} eq '.' ? $source :
	    "$source/$recipe->{src}", $dir, $name, @flags) or return undef;
	spew("$dir/.complete", '');
	return $dir;
}

# The same with the usual optimisation; or with less, if all of it takes the
# compiler long and there is no time for that.
sub
source_optimised
{
	my ($name) = @_;
	my $quick = $slow ? undef : $recipes{$name}{quick};

	return source_build($name, @{$quick // ['-O2']}, '-g');
}

1;
