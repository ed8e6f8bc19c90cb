# Work for Python with threads and other processes.  What it prints is fixed.
import os
import subprocess
import sys
import threading

totals = []
lock = threading.Lock()


def add(n):
    s = sum(i * i for i in range(n))
    with lock:
        totals.append(s)


threads = [threading.Thread(target=add, args=(n,)) for n in range(100, 1000, 150)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(totals), flush=True)
done = subprocess.run(['sh', '-c', 'tr a-z A-Z; exit 6'], input=b'children\n',
                      stdout=subprocess.PIPE)
print(done.stdout, done.returncode, flush=True)
child = os.fork()
if child == 0:
    os._exit(add(50) or 7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os.kill(os.getpid(), 15)
