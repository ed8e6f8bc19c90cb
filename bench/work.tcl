# Work for Tcl: procedures, lists, arrays, strings, regular expressions.
proc fib {n} {
	if {$n < 2} { return $n }
	return [expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]}]
}
set n [lindex $argv 0]
puts [fib $n]
set state 1
for {set i 0} {$i < $n * 5000} {incr i} {
	set state [expr {($state * 1103515245 + 12345) & 0x7fffffff}]
	set word [string range "abcdefghijklmnopqrstuvwxyz" \
	    [expr {$state % 20}] [expr {$state % 26}]]
	incr count($word)
	lappend list [expr {$state >> 20}]
}
puts "[array size count] [llength [lsort -integer -unique $list]]"
puts [regsub -all {[aeiou]} [join [lsort [array names count]] " "] "*"]
