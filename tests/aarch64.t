# Programs of aarch64, on qemu.
use strict;
use warnings;
use lib 'tests/lib';
use Simulated;

use Test::More;

qemu_tests('qemu-aarch64', 'aarch64');
children_tests('qemu-aarch64', 'aarch64-linux-gnu-gcc');
done_testing();
