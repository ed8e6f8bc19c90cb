# Work for Python: classes, containers, generators, exceptions, formatting,
# sorting.  What it prints is fixed by its argument.
import sys

n = int(sys.argv[1]) if len(sys.argv) > 1 else 4


class Shape:
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side ** 2

    def __lt__(self, other):
        return self.area < other.area

    def __repr__(self):
        return f'{type(self).__name__}({self.side:.2f})'


class Disc(Shape):
    @property
    def area(self):
        return 3 * super().area


def fib(k):
    return k if k < 2 else fib(k - 1) + fib(k - 2)


def primes(limit):
    sieve = bytearray([1]) * limit
    for i in range(2, limit):
        if sieve[i]:
            yield i
            sieve[i * i::i] = bytes(len(range(i * i, limit, i)))


def fail(depth):
    try:
        if depth == 0:
            raise KeyError('deep')
        fail(depth - 1)
    except KeyError as problem:
        if depth == n:
            raise ValueError(depth) from problem
        raise
    finally:
        words[depth] = words.get(depth, 0) + 1


words = {}
text = ' '.join(f'w{i * 7919 % 1009:03d}' for i in range(n * 20))
for word in text.split():
    words[word[-1]] = words.get(word[-1], 0) + len(word)
shapes = sorted((Disc, Shape)[i % 2](i * 7 % 11) for i in range(n * 5))
print(shapes[:6], [s.area for s in shapes[-3:]])
print(fib(n + 6), sum(primes(n * 50)), 3 ** 200 % 1000007, -7 // 2, 7.5 % 2)
try:
    fail(n)
except ValueError as problem:
    print(repr(problem), repr(problem.__cause__))
print(sorted(words.items(), key=str), {1, 2} | {3}, (1, 2) < (1, 3))
print('%-5s|%5.1f|%x' % ('ab', 2.25, 255), text.upper()[3:20].encode())
exec('total = sum(x * y for x in range(n) for y in range(x))')
print(total, [*map(chr, range(97, 97 + n))], None is ..., 1j * 1j)
sys.exit(n)
