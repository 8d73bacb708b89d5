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
        self.break_long_words, self.max_lines, self.placeholder = break_long_words, max_lines, placeholder

    def wrap(self, text):
        words = [w for w in re.split(r'\s+', text.strip()) if w]
        lines, cur = [], ''
        ind = self.initial_indent
        i = 0
        while i < len(words):
            w = words[i]
            room = self.width - len(ind)
            if not cur and len(w) > room and self.break_long_words and room > 0:
                cur, words[i] = w[:room], w[room:]
                lines.append(ind + cur)
                cur, ind = '', self.subsequent_indent
                continue
            if cur and len(cur) + 1 + len(w) > room:
                lines.append(ind + cur)
                cur, ind = '', self.subsequent_indent
                continue
            cur = cur + ' ' + w if cur else w
            i += 1
        if cur:
            lines.append(ind + cur)
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
