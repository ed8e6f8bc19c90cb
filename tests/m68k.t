# Programs of the 68000 and the 68020, on qemu.
use strict;
use warnings;
use lib 'tests/lib';
use Simulated;

use Test::More;

qemu_tests('qemu-m68k', 'm68k', 'm68000');
children_tests('qemu-m68k', 'm68k-linux-gnu-gcc');
done_testing();
