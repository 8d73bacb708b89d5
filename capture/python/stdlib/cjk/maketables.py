"""Writes tables.txt.gz: what CPython's multibyte codecs map to what. Run by a CPython 3.11: python3 maketables.py

A codec is a line "@name" and lines behind it:

    8140 text    these bytes, and those that follow by counting up the last byte, are the characters of text
    =a4f7 text   these bytes are the whole text (two characters)
    <8170 text   as 8140, for decoding alone
    >8160 text   these bytes are what the character is encoded as, for encoding alone
    ~81 9f       each of these bytes, behind which more must come
    ~8fa1 fe     the same of the last of two bytes
    ^a4d4 08     behind these bytes come as many as make up this number

Bytes below 20 stand for themselves and are left out.
"""
import gzip

STATELESS = ("gb2312 gbk gb18030 big5 cp950 big5hkscs cp932 shift_jis shift_jis_2004 shift_jisx0213 euc_jp euc_jis_2004 euc_jisx0213 cp949 euc_kr johab").split()

# What a prefix of two bytes demands, where that is more than one.
NEEDED = {"gb18030": [["^%02x%02x" % (a, b), "04"] for a in range(0x81, 0xFF) for b in range(0x30, 0x3A)], "euc_kr": [["^a4d4", "08"]]}


def decoded(codec, seq):
    """The text of a sequence; None for an illegal one, ... for one that goes on."""
    try:
        return seq.decode(codec)
    except UnicodeDecodeError as e:
        return ... if e.reason.startswith("incomplete") and e.start == 0 else None


def walk(codec):
    """All sequences with a text of their own, and all prefixes of some."""
    cells, prefixes = {}, []
    level = [b""]
    for depth in range(3):
        following = []
        for head in level:
            for b in range(0 if head else 0x20, 256):
                seq = head + bytes([b])
                text = decoded(codec, seq)
                if text is ...:
                    prefixes.append(seq)
                    # the four-byte sequences of gb18030 go by rule
                    if depth < 1 or seq[0] in (0x8E, 0x8F) and codec.startswith("euc"):
                        following.append(seq)
                elif text is not None and len(text) <= (2 if depth else 1) and (not head or whole(codec, seq)):
                    cells[seq] = text
        level = following
    return cells, prefixes


def whole(codec, seq):
    """Whether a sequence is not just shorter ones behind each other."""
    return decoded(codec, seq[:-1]) is ...


def runs(cells, mark):
    out, last = [], None
    for seq in sorted(cells, key=lambda s: (len(s), s)):
        text = cells[seq]
        if len(text) > 1:
            out.append(["=" + seq.hex(), text])
            last = None
            continue
        if last is not None and len(seq) == len(last) and seq[:-1] == last[:-1] and seq[-1] == last[-1] + 1:
            out[-1][1] += text
        else:
            out.append([mark + seq.hex(), text])
        last = seq
    return out


def prefix_lines(prefixes):
    out = []
    for seq in sorted(prefixes, key=lambda s: (len(s), s)):
        if out and len(out[-1][0]) == len(seq) and seq[:-1] == out[-1][0][:-1] and seq[-1] == out[-1][1] + 1:
            out[-1][1] = seq[-1]
        else:
            out.append([seq, seq[-1]])
    return [["~" + a.hex(), "%02x" % b] for a, b in out]


def main():
    lines = []
    for codec in STATELESS:
        cells, prefixes = walk(codec)
        encode = {}
        for c in [*range(0xD800), *range(0xE000, 0x30000)]:
            try:
                b = chr(c).encode(codec)
            except UnicodeEncodeError:
                continue
            if codec == "gb18030" and len(b) == 4:
                continue
            encode[chr(c)] = b
        both = {s: t for s, t in cells.items() if len(t) > 1 or encode.get(t) == s}
        only = {s: t for s, t in cells.items() if s not in both}
        extra = [[">" + b.hex(), t] for t, b in sorted(encode.items()) if t >= " " and cells.get(b) != t and len(b) < 8]
        long = [["=" + b.hex(), t] for t, b in sorted(encode.items()) if len(b) == 8]
        lines.append(["@" + codec, ""])
        for part in (prefix_lines(prefixes), runs(both, ""), runs(only, "<"), extra, long, NEEDED.get(codec, [])):
            lines += part
    text = "".join(a + " " + b + "\n" for a, b in lines)
    with open("tables.txt.gz", "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(text.encode("utf-8", "surrogatepass"))


main()
