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


class TextWrapper:
    def __init__(self, width=70, initial_indent='', subsequent_indent='', expand_tabs=True, replace_whitespace=True, fix_sentence_endings=False,
                 break_long_words=True, drop_whitespace=True, break_on_hyphens=True, tabsize=8, *, max_lines=None, placeholder=' [...]'):
        self.width, self.initial_indent, self.subsequent_indent = width, initial_indent, subsequent_indent
        self.expand_tabs, self.replace_whitespace, self.tabsize = expand_tabs, replace_whitespace, tabsize
        self.drop_whitespace, self.break_on_hyphens = drop_whitespace, break_on_hyphens
        self.break_long_words, self.max_lines, self.placeholder = break_long_words, max_lines, placeholder

    def wrap(self, text):
        if self.expand_tabs:
            text = text.expandtabs(self.tabsize)
        if self.replace_whitespace:
            text = re.sub(r'[\t\n\v\f\r]', ' ', text)
        chunks = []
        for c in re.split(r'( +)', text):
            if c.startswith(' ') or not self.break_on_hyphens:
                chunks.append(c)
            else: # a word may break behind a hyphen between letters
                chunks += re.sub(r'(?<=[^\W\d_]-)(?=[^\W\d_][^\W_])', '\0', c).split('\0') if re.search(r'\w[^\W\d_]-', c) else [c]
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
            if cur:
                lines.append(ind + ''.join(cur))
                ind = self.subsequent_indent
        if self.max_lines is not None and len(lines) > self.max_lines:
            lines = lines[:self.max_lines]
            last = lines[-1]
            while last and len(last) + len(self.placeholder) > self.width:
                last = last.rpartition(' ')[0]
            lines[-1] = last + self.placeholder
        return lines

    def fill(self, text): return '\n'.join(self.wrap(text))


def wrap(text, width=70, **kw): return TextWrapper(width=width, **kw).wrap(text)
def fill(text, width=70, **kw): return TextWrapper(width=width, **kw).fill(text)


def shorten(text, width, **kw):
    return TextWrapper(width=width, max_lines=1, **kw).fill(' '.join(text.strip().split()))
