# Work for bash with other processes: pipelines, substitutions, subshells,
# jobs, signals.  What it prints is fixed.
count=$(for i in {1..20}; do echo "$i"; done | grep -c 1)
echo "count $count" | sed 's/t/T/' | cat
(cd / && pwd; exit 3) || echo "subshell $?"
mapfile -t lines < <(printf '%s\n' c a b | sort)
echo "${lines[@]}"
for job in 1 2 3; do (exit "$job") & jobs[job]=$!; done
for job in 1 2 3; do wait "${jobs[job]}"; echo "job $job: $?"; done
cat <<END | tr a-z A-Z
here $((2 ** 10)) `echo back`
END
sh -c 'kill -TERM $$' 2>/dev/null; echo "killed $?"
false | true; echo "${PIPESTATUS[*]}" >&2
exec sh -c 'echo "at last"; exit 9'
