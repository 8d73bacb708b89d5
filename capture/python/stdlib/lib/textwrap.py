import re


def dedent(text):
    lines = [l if l.strip() else '\n' if l.endswith('\n') else '' for l in text.splitlines(True)]
    margin = None
    for l in lines:
        if not l.strip():
            continue
        ind = l[:len(l) - len(l.lstrip(' \t'))]
        if margin is None:
            margin = ind
        else:
            i = 0
            while i < len(margin) and i < len(ind) and margin[i] == ind[i]:
                i += 1
            margin = margin[:i]
    if margin:
        lines = [l[len(margin):] if l.strip() else l for l in lines]
    return ''.join(lines)


def indent(text, prefix, predicate=None):
    if predicate is None:
        predicate = lambda l: l.strip()
    return ''.join(prefix + l if predicate(l) else l for l in text.splitlines(True))


def _letter(c): return c == '_' or c.isalnum() and not c.isdecimal()
def _word(c): return c == '_' or c.isalnum()


def _dashes(w, i):
    """Where a dash of two hyphens or more between words ends that begins at i; 0 if there is none."""
    j = i
    while w[j:j + 1] == '-':
        j += 1
    return j if j - i >= 2 and j < len(w) and _word(w[j]) and i and (_word(w[i - 1]) or w[i - 1] in '!"\'&.,?') else 0


def _breaks(w, j):
    """Whether a word may break behind the hyphen at j-1: two letters, or letter, hyphen, letter before it, and the like after it."""
    if w[j - 1] != '-' or j < 3 or not _letter(w[j - 2]):
        return False
    if not (_letter(w[j - 3]) or w[j - 3] == '-' and j > 3 and _letter(w[j - 4])):
        return False
    rest = w[j:j + 3]
    return len(rest) > 1 and _letter(rest[0]) and (_letter(rest[1]) or rest[1] == '-' and len(rest) > 2 and _letter(rest[2]))


def _hyphenated(w):
    out, at = [], 0
    while at < len(w):
        j = _dashes(w, at)
        if not j:
            j = at + 1
            while j < len(w) and not (j > at + 1 and _breaks(w, j)) and not _dashes(w, j):
                j += 1
        out.append(w[at:j])
        at = j
    return out


class TextWrapper:
    def __init__(self, width=70, initial_indent='', subsequent_indent='', expand_tabs=True, replace_whitespace=True, fix_sentence_endings=False,
                 break_long_words=True, drop_whitespace=True, break_on_hyphens=True, tabsize=8, *, max_lines=None, placeholder=' [...]'):
        self.width, self.initial_indent, self.subsequent_indent = width, initial_indent, subsequent_indent
        self.expand_tabs, self.replace_whitespace, self.tabsize = expand_tabs, replace_whitespace, tabsize
        self.drop_whitespace, self.break_on_hyphens = drop_whitespace, break_on_hyphens
        self.break_long_words, self.max_lines, self.placeholder = break_long_words, max_lines, placeholder

    def wrap(self, text):
        if self.width <= 0:
            raise ValueError(f"invalid width {self.width!r} (must be > 0)")
        if self.max_lines is not None:
            ind = self.subsequent_indent if self.max_lines > 1 else self.initial_indent
            if len(ind) + len(self.placeholder.lstrip()) > self.width:
                raise ValueError("placeholder too large for max width")
        if self.expand_tabs:
            text = text.expandtabs(self.tabsize)
        if self.replace_whitespace:
            text = re.sub(r'[\t\n\v\f\r]', ' ', text)
        chunks = []
        for c in re.split(r'( +)', text):
            if c.startswith(' ') or not self.break_on_hyphens:
                chunks.append(c)
            else:
                chunks += _hyphenated(c)
        chunks = [c for c in chunks if c]
        chunks.reverse()
        lines, ind = [], self.initial_indent
        while chunks:
            room = self.width - len(ind)
            if self.drop_whitespace and lines and not chunks[-1].strip():
                del chunks[-1]
            cur, size = [], 0
            while chunks and size + len(chunks[-1]) <= room:
                size += len(chunks[-1])
                cur.append(chunks.pop())
            if chunks and len(chunks[-1]) > room:
                left = room - size if room >= 1 else 1
                if self.break_long_words:
                    word = chunks[-1]
                    hyphen = word.rfind('-', 0, left) if self.break_on_hyphens else -1
                    if hyphen > 0 and word[:hyphen].strip('-'):
                        left = hyphen + 1
                    cur.append(word[:left]) # empty where a line is full: CPython's spaces before it then stay
                    chunks[-1] = word[left:]
                elif not cur:
                    cur.append(chunks.pop())
            if self.drop_whitespace and cur and not cur[-1].strip():
                del cur[-1]
            if not cur:
                continue
            size = sum(map(len, cur))
            rest = chunks and not (self.drop_whitespace and len(chunks) == 1 and not chunks[0].strip())
            if self.max_lines is None or len(lines) + 1 < self.max_lines or not rest and size <= room:
                lines.append(ind + ''.join(cur))
                ind = self.subsequent_indent
                continue
            while cur and not (cur[-1].strip() and size + len(self.placeholder) <= room):
                size -= len(cur.pop())
            if cur:
                lines.append(ind + ''.join(cur) + self.placeholder)
            elif lines and len(lines[-1].rstrip()) + len(self.placeholder) <= self.width:
                lines[-1] = lines[-1].rstrip() + self.placeholder
            else:
                lines.append(ind + self.placeholder.lstrip())
            break
        return lines

    def fill(self, text): return '\n'.join(self.wrap(text))


def wrap(text, width=70, **kw): return TextWrapper(width=width, **kw).wrap(text)
def fill(text, width=70, **kw): return TextWrapper(width=width, **kw).fill(text)


def shorten(text, width, **kw):
    return TextWrapper(width=width, max_lines=1, **kw).fill(' '.join(text.strip().split()))
