# tests/detach.t in all ways, also with a thread that is sent signals faster than
# it handles them: how long it takes for anything depends on the scheduler.
use strict;
use warnings;

$ENV{PMON_LEAVE} = 'sleep wait handle storm calls vfork malloc';
do './tests/detach.t' or die $@ || $!;
