# What is installed and uninstalled, the Debian package, and what the shells
# complete.
use strict;
use warnings;
use lib 'tests/lib';
use Cwd qw(abs_path);
use File::Find;
use Test::More;
use Pmon;

my $root = "$scratch/root";

# The files below a directory, as "/usr/bin/pmon".
sub
files
{
	my ($dir) = @_;
	my @files;

	find(sub { push @files, $File::Find::name =~ s/^\Q$dir\E//r if -f },
	    $dir);
	return join "\n", sort @files;
}

sub
make
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my (@args) = @_;
	my $said = qx(make -s MAKEFLAGS= BUILD=$build @args 2>&1);

	is($?, 0, "make @args") or diag($said);
	return $said;
}

# Without a compiler one line says so, of however many files.
is(qx(make -s -j2 MAKEFLAGS= CC=no-compiler BUILD=$scratch/none all 2>&1) =~
    s/^Makefile:\d+: //r, '*** no C compiler, no-compiler: `make deps` ' .
    "installs what is missing.  Stop.\n", 'no compiler: one line');

my @pages = map { s{man/(.*\.(.))}{/man/man$2/$1}r } glob 'man/*.[1-9]';
my $expected = join "\n", sort qw(/bin/pmon /bin/pmprint
    /lib/pmon/pmon-qemu.so
    /share/bash-completion/completions/pmon
    /share/bash-completion/completions/pmprint
    /share/fish/vendor_completions.d/pmon.fish
    /share/fish/vendor_completions.d/pmprint.fish
    /share/zsh/site-functions/_pmon /share/zsh/site-functions/_pmprint),
    map { "/share$_" } @pages;

make('install', "DESTDIR=$root", 'PREFIX=/opt/x');
is(files("$root/opt/x"), $expected, 'these files are installed');
is(files($root), $expected =~ s{^}{/opt/x}mgr, 'and none elsewhere');
my $run = run(["$root/opt/x/bin/pmon", '-o', '/dev/null', 'echo', 'hello']);
is("$run->{status} $run->{out}", "0 hello\n", 'what is installed runs');
is((stat "$root/opt/x/share/zsh/site-functions/_pmon")[2] & 0777, 0644,
    'all may read it');
spew("$root/opt/x/bin/other", "");
make('uninstall', "DESTDIR=$root", 'PREFIX=/opt/x');
is(files($root), '/opt/x/bin/other', 'uninstall removes them, and no others');

# ---- the package

SKIP: {
	skip 'needs dpkg-deb', 6 if system('command -v dpkg-deb >/dev/null');
	$ENV{DEBEMAIL} = 'someone@pmon.test.org';
	my ($deb) = make('deb') =~ /^(\S+\.deb)$/m;
	ok($deb && -s $deb, 'there is a package');
	my $control = qx(dpkg-deb -f $deb);
	like($control, qr/^Depends:.*libc6.*libdwarf.*libelf/m,
	    'it names libraries');
	system('dpkg-deb', '-x', $deb, "$root/deb") == 0 or die;
	$run = run(["$root/deb/usr/bin/pmon", '-o', '/dev/null', 'echo', 'x']);
	is("$run->{status} $run->{out}", "0 x\n", 'what is in it runs');
	is(qx(cd $root/deb && dpkg-deb --ctrl-tarfile @{[abs_path($deb)]} |
	    tar xO ./md5sums | md5sum -c --quiet 2>&1), '', 'with these sums');
	like(qx(dpkg-deb -c $deb), qr{^-rw-r--r-- root/root .*/pmon\.1\.gz$}m,
	    'pages are compressed, and all is of root');
	skip 'needs lintian', 1 if system('command -v lintian >/dev/null');
	is(qx(lintian --fail-on error,warning $deb 2>/dev/null), '',
	    'lintian has no complaint');
	unlink $deb;
}

# ---- completion

# What bash offers for a command line, whose "=" are words of their own.
sub
bash
{
	my (@words) = map { /^(--?[\w-]+)(=)(.*)$/ ? ($1, $2, length $3 ? $3 :
	    ()) : $_ } @_;
	my $line = join ' ', map { "'$_'" } @words;
	my $offer = qx(bash -c 'source /dev/stdin; COMP_WORDS=($line)
	    COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1)); _pmon
	    printf "%s\\n" "\${COMPREPLY[@]}"' < $scratch/pmon.bash);

	return join ' ', split /\n/, $offer;
}

for my $program (qw(pmon pmprint)) {
	for my $shell (qw(bash zsh fish)) {
		my $text = qx($build/$program --completion=$shell);

		is($?, 0, "$program --completion=$shell");
		my $file = spew("$scratch/$program.$shell", $text);
		SKIP: {
			skip "needs $shell", 1
			    if system("command -v $shell >/dev/null");
			is(qx($shell -n $file 2>&1), '',
			    "is sound, says $shell");
		}
	}
}
is(system("$pmon --completion=csh 2>/dev/null") >> 8, 125, 'no other shell');

is(bash('pmon', '--pla'), '--placement', 'bash: an option');
is(bash('pmon', '--placement', 'ver'), 'vertex', 'bash: its argument');
is(bash('pmon', '--placement='), 'optimal vertex every', 'bash: behind =');
is(bash('pmon', '--placement=ev'), 'every', 'bash: the rest of it');
is(bash('pmon', '-u', 'func,bl'), 'func,block', 'bash: one of a list');
my $help = qx($pmon --help);
is_deeply([split ' ', bash('pmon', '--')],
    [$help =~ /^ +(?:-\w, )?(--[a-z][-a-z]*)/mg], 'bash: all options');

SKIP: {
	skip 'needs fish', 3 if system('command -v fish >/dev/null');
	my $fish = sub {
		my ($line) = @_;

		return join ' ', map { s/\t.*//r } split /\n/,
		    qx(HOME=$scratch XDG_CONFIG_HOME=$scratch/fish fish -c 'source $scratch/pmon.fish; complete -C "$line"' 2>/dev/null);
	};
	is($fish->('pmon --placem'), '--placement', 'fish: an option');
	is($fish->('pmon --placement=v'), '--placement=vertex',
	    'fish: its argument');
	like($fish->('pmon --eager --top 3 gre'), qr/\bgrep\b/,
	    'fish: a program');
}

# In an interactive zsh: what a line becomes when its tabs, written as T, are typed.
SKIP: {
	skip 'needs zsh', 1 if system('command -v zsh >/dev/null');
	my $dir = "$scratch/zsh";

	mkdir $dir or die;
	spew("$dir/_$_", slurp("$scratch/$_.zsh")) for qw(pmon pmprint);
	my $zsh = spew("$scratch/type.zsh", <<'END');
zmodload zsh/zpty
zpty z env TERM=vt100 HOME=$1 zsh -f -i
zpty -w z "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; zle_bracketed_paste=(); PS1=; pmon() { print -r -- \"<<\$*>>\"; }; pmprint() { pmon \"\$@\"; }; print -r READY''!"
zpty -r z out '*READY!*'
for line in "${@:2}"; do
	zpty -w -n z "${line//T/	}"$'\n'
	zpty -r z out '*<<*>>*'
	print -r -- "${${out##*<<}%%>>*}"
done
zpty -d z
END
	my @lines = ('pmon --placemTvT', 'pmon -u func,blT', 'pmon --repTlcT',
	    'pmprint --skT');
	my $typed = run(['zsh', '-f', $zsh, $dir, @lines]);

	is_deeply([split /\n/, $typed->{out}], ['--placement=vertex',
		'-u func,block', '--report=lcov', '--skip-damaged'],
	    'zsh: options, their arguments, one of a list') or
	    diag($typed->{err});
}

done_testing;
