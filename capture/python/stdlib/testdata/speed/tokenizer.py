class Token:
    def __init__(self, kind, text, pos):
        self.kind = kind
        self.text = text
        self.pos = pos
    def __repr__(self):
        return f"{self.kind}:{self.text}"
class Lexer:
    KEYWORDS = {"let", "in", "if", "then", "else"}
    def __init__(self, src):
        self.src = src
        self.i = 0
        self.counts = {}
    def peek(self):
        return self.src[self.i] if self.i < len(self.src) else ""
    def take(self, pred):
        start = self.i
        n = len(self.src)
        while self.i < n and pred(self.src[self.i]):
            self.i += 1
        return self.src[start:self.i]
    def __iter__(self):
        while True:
            c = self.peek()
            if not c:
                return
            if c.isspace():
                self.i += 1
                continue
            pos = self.i
            if c.isalpha():
                t = self.take(str.isalnum)
                kind = "kw" if t in self.KEYWORDS else "name"
            elif c.isdigit():
                t = self.take(lambda ch: ch.isdigit())
                kind = "num"
            else:
                t = c
                self.i += 1
                kind = "op"
            self.counts[kind] = self.counts.get(kind, 0) + 1
            yield Token(kind, t, pos)
def run():
    lx = Lexer("let alpha = 12 + beta42 * (gamma - 7) in if alpha > 3 then beta42 else gamma " * 150)
    seen = {}
    total = 0
    for t in lx:
        seen.setdefault(t.text, []).append(t.pos)
        total += len(t.text)
    return total, sorted(lx.counts.items()), len(seen)
