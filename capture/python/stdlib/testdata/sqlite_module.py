# SQLite as the DB-API has it: values both ways, parameters, transactions, callbacks, rows, blobs, errors.
import datetime
import os
import sqlite3
import tempfile
import threading
import warnings

warnings.simplefilter("ignore")


def attempt(f, *args, **kw):
    try:
        print(f(*args, **kw))
    except Exception as e:
        print(type(e).__module__, type(e).__name__, e, getattr(e, "sqlite_errorname", None))


db = sqlite3.connect(":memory:")
db.execute("create table t(id integer primary key, i int, f real, s text, b blob)")
values = [(1, 2**62, 1.5, "é☃", b"\x00\xff"), (2, -1, float("inf"), "", b""), (3, None, None, None, None), (4, True, 3, 5, bytearray(b"x"))]
print(db.executemany("insert into t values(?, ?, ?, ?, ?)", values).rowcount, db.in_transaction, db.total_changes)
cur = db.execute("select * from t order by id")
print([d[0] for d in cur.description], cur.fetchone(), cur.fetchmany(2), cur.fetchall(), cur.fetchone(), cur.rowcount, cur.lastrowid)
db.rollback()
print(db.execute("select count(*) from t").fetchone())
with db:
    print(db.execute("insert into t(i, s) values(:a, $b)", {"a": 7, "b": "seven"}).lastrowid)
try:
    with db:
        db.execute("insert into t(i) values(8)")
        raise KeyError("undo")
except KeyError:
    pass
print(db.execute("select i, s from t").fetchall(), db.execute("update t set i = i + 1").rowcount, db.execute("delete from t returning i").fetchall())
db.commit()

for sql, args in [("select ?", ()), ("select ?", (1, 2)), ("select ?", {"a": 1}), ("select :a", {}), ("select ?", 5), ("select ?", (1j,)), ("select ?", (2**70,)),
                  ("selec", ()), ("select 1; select 2", ()), ("", ()), ("-- only words", ()), ("select '\0'", ()), ("select * from nowhere", ()), ("insert into t values(1)", ())]:
    attempt(lambda: db.execute(sql, args).fetchall())
attempt(db.executemany, "select ?", [(1,)])
attempt(db.executescript, "create table u(x unique, check(x > 0)); insert into u values(1); insert into u values(1);")
attempt(db.execute, "insert into u values(-1)")
attempt(sqlite3.connect, "/nowhere/at/all.db")
attempt(setattr, db, "isolation_level", "never")
attempt(db.cursor, int)
attempt(lambda: db.nothing)

# Callbacks
db.create_function("twice", 1, lambda x: x * 2, deterministic=True)
db.create_function("count", -1, lambda *a: len(a))
db.create_function("bad", 0, lambda: 1 / 0)
db.create_function("odd", 0, lambda: object())


class Product:
    def __init__(self):
        self.p = 1

    def step(self, x):
        self.p *= x

    def finalize(self):
        return self.p


class Window(Product):
    def inverse(self, x):
        self.p //= x

    def value(self):
        return self.p


db.create_aggregate("product", 1, Product)
db.create_window_function("running", 1, Window)
db.create_collation("backwards", lambda a, b: (a < b) - (a > b))
print(db.execute("select twice('ab'), twice(1.5), twice(x'01'), count(1, 2, 3)").fetchone())
attempt(db.execute, "select bad()")
attempt(db.execute, "select odd()")
attempt(db.execute, "select nofunction()")
db.executescript("create table n(x); insert into n values(2), (3), (4);")
print(db.execute("select product(x) from n").fetchone(), db.execute("select running(x) over (order by x rows between 1 preceding and current row) from n").fetchall())
print(db.execute("select x from n order by cast(x as text) collate backwards").fetchall())
db.set_authorizer(lambda code, a, b, name, trigger: sqlite3.SQLITE_DENY if a == "n" else sqlite3.SQLITE_OK)
attempt(db.execute, "select x from n")
db.set_authorizer(None)
traced = []
db.set_trace_callback(traced.append)
db.execute("select ?, ?", (5, "it's")).fetchall()
db.execute("insert into n values(?)", (9,))
db.commit()
db.set_trace_callback(None)
print(traced)
db.set_progress_handler(lambda: 1, 1)
attempt(lambda: db.execute("select * from n, n, n").fetchall())
db.set_progress_handler(None, 0)

# Types
point = type("Point", (), {"__conform__": lambda self, proto: "1;2" if proto is sqlite3.PrepareProtocol else None})
sqlite3.register_adapter(complex, lambda z: f"{z.real},{z.imag}")
sqlite3.register_converter("complex", lambda b: complex(*map(float, b.split(b","))))
typed = sqlite3.connect(":memory:", detect_types=sqlite3.PARSE_DECLTYPES | sqlite3.PARSE_COLNAMES)
typed.execute("create table t(d date, s timestamp, z complex, p)")
typed.execute("insert into t values(?, ?, ?, ?)", (datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 600), 1 + 2j, point()))
cur = typed.execute('select d, s, z, p, d as "e [date]", null as "n [complex]", "3,4" as "q [complex]" from t')
print(cur.fetchone(), [c[0] for c in cur.description])
for factory in (bytes, bytearray, lambda b: b.decode().upper(), str):
    typed.text_factory = factory
    print(typed.execute("select 'abc'").fetchone())
typed.execute("create table broken(x text)")
typed.execute("insert into broken values(cast(x'ff61' as text))")
attempt(lambda: typed.execute("select x from broken").fetchall())

# Rows
db.row_factory = sqlite3.Row
row = db.execute("select 1 as Aa, 'two' as b").fetchone()
print(tuple(row), row["aA"], row[1], row[-2], row[:1], row.keys(), len(row), row == db.execute("select 1 as Aa, 'two' as b").fetchone(), dict(row), isinstance(row, sqlite3.Row))
attempt(lambda: row["c"])
attempt(lambda: row[7])
attempt(lambda: row[None])
db.row_factory = lambda cursor, r: {c[0]: v for c, v in zip(cursor.description, r)}
print(db.execute("select 1 as x, 2 as y").fetchone())
db.row_factory = None

# Blobs
db.execute("create table blobs(b)")
db.execute("insert into blobs values(zeroblob(8))")
with db.blobopen("blobs", "b", 1) as blob:
    blob.write(b"abc")
    blob[4] = 65
    blob[6:8] = b"yz"
    print(len(blob), blob.tell(), blob[0], blob[-1], blob[::3], blob[1:4], blob.read())
    blob.seek(-2, os.SEEK_END)
    print(blob.read(1), blob.tell())
    attempt(lambda: blob[9])
    attempt(blob.write, b"too long")
    attempt(blob.seek, 99)
    attempt(lambda: blob["a"])
attempt(blob.read)
print(db.execute("select b from blobs").fetchone())

# Files, backups, other threads
with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, "x.db")
    one, two = sqlite3.connect(name), sqlite3.connect(name, timeout=0.01, isolation_level=None)
    one.execute("create table t(x)")
    one.execute("insert into t values(1)")
    attempt(two.execute, "insert into t values(2)")
    one.commit()
    print(two.execute("insert into t values(2)").rowcount, two.in_transaction, one.execute("select x from t").fetchall(), one.isolation_level, two.isolation_level)
    copy = sqlite3.connect(":memory:")
    steps = []
    one.backup(copy, pages=1, progress=lambda status, left, total: steps.append((status, left, total)))
    print(steps[-1][:2], list(copy.iterdump()), sqlite3.connect(f"file:{name}?mode=ro", uri=True).execute("select count(*) from t").fetchone())
    attempt(sqlite3.connect(f"file:{name}?mode=ro", uri=True).execute, "delete from t")
    told = []
    thread = threading.Thread(target=lambda: attempt(lambda: told.append(str(one.execute("select 1")))))
    other = sqlite3.connect(name, check_same_thread=False)

    def work():
        with other:
            for k in range(50):
                other.execute("insert into t values(?)", (k,))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    print(other.execute("select count(*) from t").fetchone())
    for c in (one, two, other):
        c.close()
    one.close()
attempt(one.execute, "select 1")
attempt(lambda: one.in_transaction)
cur.close()
attempt(cur.fetchone)
print(sqlite3.complete_statement("select 1;"), sqlite3.complete_statement("select"), sqlite3.apilevel, sqlite3.paramstyle, sqlite3.threadsafety, sqlite3.Binary is memoryview, sqlite3.adapt(3j))
attempt(sqlite3.adapt, [])
print(db.getlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH) > 1000, db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 20) > 1000)
attempt(db.execute, "select 'a text that is too long'")

# a cursor that is dropped in the midst of its rows locks its table no more; one that is there does
con = sqlite3.connect(":memory:")
con.execute("create table dropped(x)")
con.executemany("insert into dropped values(?)", [(i,) for i in range(5)])
def first_row():
    c = con.cursor()
    return c.execute("select x from dropped").fetchone()
print(first_row())
con.execute("drop table dropped")
con.execute("create table kept(x)")
con.executemany("insert into kept values(?)", [(1,), (2,)])
c = con.execute("select x from kept")
print(c.fetchone())
try:
    con.execute("drop table kept")
except sqlite3.OperationalError as e:
    print(e)
print(c.fetchall())
con.close()
