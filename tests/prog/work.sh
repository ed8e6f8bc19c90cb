# Work for bash: what it does itself, without other processes.  What it prints
# is fixed by its argument.
n=${1:-4}
declare -A seen
declare -a list

fib()
{
	local k=$1 a b

	if ((k < 2)); then
		REPLY=$k
		return
	fi
	fib $((k - 1)); a=$REPLY
	fib $((k - 2)); b=$REPLY
	REPLY=$((a + b))
}

for ((i = 0; i < n * 10; i++)); do
	printf -v word 'w%03d' $((i * 7919 % 1009))
	list+=("$word")
	seen[${word:3}]+=$word,
done
while read -r -a fields; do
	case ${fields[0]} in
	a*) echo "${fields[@]^^}" ;;
	[b-d]?*) echo "${fields[1]/o/0} ${#fields[@]}" ;;
	*) [[ ${fields[*]} =~ ([0-9]+)-([0-9]+) ]] &&
		echo "${BASH_REMATCH[2]}-${BASH_REMATCH[1]}" ;;
	esac
done <<'END'
alpha one two
beta foo
x 12-34 y
END
text="${list[*]}"
echo "${#text} ${text:10:20} ${text//w/ }" {a,b}{1..3} "${!seen[@]}"
fib "$((n + 4))"; echo "$REPLY"
trap 'echo trapped' USR1
kill -USR1 $$
trap 'echo leaving' EXIT
set -- one two three
while getopts ab:c option -a -b 5 -c; do echo "$option ${OPTARG-}"; done
shift; echo "$# $1 ${2%e} ${2#t} $((0x1f ** 2)) $[7 % 4]"
eval 'until ((n-- <= 0)); do :; done'; select x in; do break; done </dev/null
[ -e /nonexistent ] || test 3 -gt 2 && type -t fib
exit 5
