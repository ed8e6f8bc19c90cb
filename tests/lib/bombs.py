# Makes x86-64 programs that end with status 7, a few megabytes each, whose
# symbols or DWARF would take for ever to read, or all memory: `bombs.py DIR`.
import os
import struct
import sys

TEXT = 0x401000
MANY = 100000
LONG = 1 << 20
SYMTAB, STRTAB = 2, 3


# sections: (name, type, address, contents, link)
EXIT = b'\xb8\x3c\0\0\0\xbf\x07\0\0\0\x0f\x05'


def elf(name, sections, size=0x1000, text=b''):
    text = (EXIT + text).ljust(size, b'\x90')
    size = len(text)
    sections = [('.text', 1, TEXT, text, 0)] + sections
    strings, body, heads = b'\0', b'', b'\0' * 64
    strings += b''.join(s[0].encode() + b'\0' for s in sections)
    strings += b'.shstrtab\0'
    sections = sections + [('.shstrtab', STRTAB, 0, strings, 0)]
    at, named = 0x1000, 1
    for name_, type_, addr, contents, link in sections:
        body += b'\0' * (-at % 16)
        at += -at % 16
        heads += struct.pack('<IIQQQQIIQQ', named, type_,
                             6 if type_ == 1 and addr == TEXT else 0, addr,
                             at, len(contents), link, 1, 16,
                             24 if type_ == SYMTAB else 0)
        named += len(name_) + 1
        body += contents
        at += len(contents)
    head = b'\x7fELF\x02\x01\x01'.ljust(16, b'\0') + struct.pack(
        '<HHIQQQIHHHHHH', 2, 62, 1, TEXT, 64, at, 0, 64, 56, 1, 64,
        len(sections) + 1, len(sections))
    head += struct.pack('<IIQQQQQQ', 1, 5, 0x1000, TEXT, TEXT, size, size,
                        0x1000)
    with open(name, 'wb') as f:
        f.write(head.ljust(0x1000, b'\0') + body + heads)
    os.chmod(name, 0o755)


def symbols(name, strings, entries):
    table = b'\0' * 24 + b''.join(
        struct.pack('<IBBHQQ', at, 0x12, 0, 1, addr, 1)
        for at, addr in entries)
    elf(name, [('.symtab', SYMTAB, 0, table, 3),
               ('.strtab', STRTAB, 0, strings, 0)], MANY + 0x1000)


def uleb(value):
    out = b''
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def unit(dies):
    body = struct.pack('<HIB', 4, 0, 8) + dies
    return struct.pack('<I', len(body)) + body


def dwarf(name, info, abbrev=None, line=b'', strings=b'\0', ranges=b''):
    elf(name, [('.debug_abbrev', 1, 0, abbrev or ABBREV, 0),
               ('.debug_info', 1, 0, info, 0),
               ('.debug_line', 1, 0, line, 0),
               ('.debug_str', 1, 0, strings, 0),
               ('.debug_ranges', 1, 0, ranges, 0)], MANY + 0x1000)


ABBREV = (b'\x01\x11\x01\x10\x17\0\0'		# a unit: its lines
          b'\x02\x2e\x01\x03\x08\x11\x01\x12\x06\0\0'	# a function
          b'\x03\x0b\x01\0\0'			# a block
          b'\x04\x1d\x01\x03\x0e\x11\x01\x12\x06\0\0'	# inlined, .debug_str
          b'\x05\x39\x01\0\0'			# a namespace
          b'\x06\x1d\0\x03\x08\x55\x17\0\0'	# inlined, ranges
          b'\0')
UNIT = b'\x01' + struct.pack('<I', 0)
FUNC = b'\x02f\0' + struct.pack('<QI', TEXT, MANY)
PLACE = struct.pack('<QI', TEXT, MANY)


def lines(program, files=b'a.c\0\0\0\0'):
    head = struct.pack('<BBBbBB', 1, 1, 1, -5, 14, 13)
    head += b'\0\x01\x01\x01\x01\0\0\0\x01\0\0\x01\0' + files + b'\0'
    body = struct.pack('<HI', 4, len(head)) + head + program
    return struct.pack('<I', len(body)) + body


START = b'\0\x09\x02' + struct.pack('<Q', TEXT)
END = b'\0\x01\x01'

os.chdir(sys.argv[1])
# A long name that all have, that all have a part of, that is searched in.
symbols('same', b'\0' + b'n' * LONG + b'\0',
        ((1, TEXT + i) for i in range(MANY)))
symbols('suffixes', b'\0' + b'n' * LONG + b'\0',
        ((1 + i, TEXT) for i in range(MANY)))
symbols('cold', b'\0' + b'.cold' * (LONG // 5) + b'z\0',
        ((1 + i % 5, TEXT + i) for i in range(MANY)))
elf('sections', [('.note', 7, 0, b'n' * LONG, 0)])
with open('sections', 'r+b') as f:		# the note, 60,000 times
    f.seek(0x28)
    at = struct.unpack('<Q', f.read(8))[0]
    f.seek(at + 2 * 64)
    note = f.read(64)
    rest = f.read()
    f.seek(at + 2 * 64)
    f.write(note * 60000 + rest)
    f.seek(0x3c)
    f.write(struct.pack('<HH', 60003, 60002))
elf('link', [('.gnu_debuglink', 1, 0, b'huge.debug\0\0\1\2\3\4', 0)])
elf('huge.debug', [])
os.truncate('huge.debug', 1 << 40)
# Entries that are passed over again and again.
dwarf('blocks', unit(UNIT + FUNC + b'\x03' * 2000000))
dwarf('inlined', unit(UNIT + FUNC + (b'\x04' + struct.pack('<I', 0) + PLACE) *
                      500000), strings=b'f\0')
dwarf('namespaces', unit(UNIT + b'\x05' * 190 + b'\x05\0' * 500000 +
                         b'\0' * 191))
dwarf('names', unit(UNIT + FUNC + b''.join(
    b'\x04' + struct.pack('<I', i) + PLACE + b'\0' for i in range(MANY))),
      strings=b'n' * LONG + b'\0')
dwarf('abbreviations', unit(UNIT + uleb(200100)) * 20000, ABBREV[:-1] +
      b''.join(uleb(101 + i) + b'\x39\0\0\0' for i in range(200000)) + b'\0')
dwarf('ranges', unit(UNIT + FUNC + b''.join(
    b'\x06g\0' + struct.pack('<I', 16 * (i % 1000)) for i in range(5000))),
      ranges=b''.join(struct.pack('<QQ', 2 * i + TEXT, 2 * i + 1 + TEXT)
                      for i in range(MANY // 2)) + b'\0' * 16)
# Line tables each of which goes to the end of the last.
table = lines(b'\x20')
all_ = 20000 * len(table)
dwarf('tables', b''.join(unit(b'\x01' + struct.pack('<I', i) + b'\0')
                         for i in range(0, all_, len(table))),
      line=b''.join(struct.pack('<I', all_ - i - 4) + table[4:]
                    for i in range(0, all_, len(table))))
dwarf('rows', unit(UNIT + FUNC + b'\0\0'), line=lines(START + b'\x13' * 2000000 + END))
# A jump to any entry of a table of offsets, which is `behind` bytes behind it.
def go(behind):
    return (b'\x48\x8d\x15' + struct.pack('<i', behind - 7) +
            b'\x48\x63\x04\xba\x48\x01\xd0\xff\xe0')


def functions(name, text, sizes, more=[]):
    at, table, strings = TEXT + len(EXIT), b'\0' * 24, b'\0'
    for i, size in enumerate(sizes):
        table += struct.pack('<IBBHQQ', len(strings), 0x12, 0, 1, at, size)
        strings += b'f%d\0' % i
        at += size
    elf(name, [('.symtab', SYMTAB, 0, table, 3),
               ('.strtab', STRTAB, 0, strings, 0)] + more, text=text)


# 2,000 jumps, each to all 5,000 entries of one table.
jumps, places = 2000, 3000
size = jumps * 16 + places
functions('jumps', b''.join(go(size - 16 * i) for i in range(jumps)) +
          b'\x90' * (places - 1) + b'\xc3' +
          b''.join(struct.pack('<i', 16 * i - size) for i in range(jumps)) +
          b''.join(struct.pack('<i', i - places) for i in range(places)),
          [size])
# Tables of jumps into the middle of a large function.
many, large, places = 2000, 300000, 16
tables = many * 32 + large
functions('middles', b''.join(
    go(tables + places * 4 * i - 32 * i) + b'\x90' * 15 + b'\xc3'
    for i in range(many)) + b'\x90' * (large - 1) + b'\xc3' + b''.join(
    struct.pack('<i', at) for i in range(many) for at in
    [(32 * i + 16 + k if k < 8 else tables - 10 * k) -
     (tables + places * 4 * i) for k in range(places)]),
    [32] * many + [large])
# Many functions, and many restartable sequences, the last ones first.
functions('sequences', b'\xc3' * 10000, [1] * 10000, [
    ('__rseq_cs', 1, 0x70000000, b''.join(
        struct.pack('<QQQQ', 0, MANY + 16 * i, 1, 0)
        for i in range(500000, 0, -1)), 0)])
# What takes no longer than other programs of that size.
dwarf('units', unit(UNIT + FUNC + b'\0\0') + unit(UNIT + b'\0') * 200000,
      line=lines(START + END))
