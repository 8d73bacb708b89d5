-- whittle's store, version 1; schema2.sql goes on from here. Text is UTF-8, times are Unix milliseconds, hashes are lower-case hexadecimal SHA-256.
-- A database is ours when application_id is 0x77686974 ("whit"); user_version is the schema's version.

-- Bytes by content. key is the hash of the uncompressed bytes, data their zstd form.
CREATE TABLE blobs (
  key   TEXT PRIMARY KEY,
  size  INTEGER NOT NULL,          -- uncompressed
  data  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Tensors by content: metadata plus the storage that they view. key is the hash of the metadata line and the blob's key.
CREATE TABLE tensors (
  key     TEXT PRIMARY KEY,
  dtype   TEXT NOT NULL,           -- float32
  shape   TEXT NOT NULL,           -- JSON list
  stride  TEXT NOT NULL,           -- JSON list, in elements
  "offset" INTEGER NOT NULL,       -- in elements
  requires_grad INTEGER NOT NULL,
  blob    TEXT NOT NULL REFERENCES blobs(key)
) STRICT, WITHOUT ROWID;

-- Graphs by canonical hash. text is the module as printed; the first text seen stays.
CREATE TABLE graphs (
  hash    TEXT PRIMARY KEY,
  text    TEXT NOT NULL REFERENCES blobs(key),
  nodes   INTEGER NOT NULL,
  created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Recorded frames of failing compiles: opaque bytes that package capture/python understands.
CREATE TABLE frames (
  id      INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,           -- what encoded it
  version INTEGER NOT NULL,        -- of that encoding
  name    TEXT NOT NULL,           -- function, file:line
  blob    TEXT NOT NULL REFERENCES blobs(key),
  created INTEGER NOT NULL
) STRICT;

-- One row for each compile that was recorded.
CREATE TABLE compiles (
  id       INTEGER PRIMARY KEY,
  frame    INTEGER REFERENCES frames(id) ON DELETE SET NULL,
  graph    TEXT REFERENCES graphs(hash),
  backend  TEXT NOT NULL,
  config   TEXT NOT NULL,          -- settings that are not default, JSON object
  fingerprint TEXT NOT NULL,       -- engine, versions, machine
  status   TEXT NOT NULL,          -- Outcome.Status
  ms       INTEGER NOT NULL,
  created  INTEGER NOT NULL
) STRICT;

-- Failures, one row each time; group by the signature columns.
CREATE TABLE failures (
  id       INTEGER PRIMARY KEY,
  compile  INTEGER REFERENCES compiles(id) ON DELETE SET NULL,
  graph    TEXT REFERENCES graphs(hash),
  stage    TEXT NOT NULL,          -- the signature: stage, exception type, normalised message, innermost frame, output
  type     TEXT NOT NULL,
  message  TEXT NOT NULL,
  frame    TEXT NOT NULL,
  output   TEXT NOT NULL,
  raw      TEXT NOT NULL,          -- the message as it came
  config   TEXT NOT NULL,
  inputs   TEXT NOT NULL,          -- JSON list of tensor keys and numbers
  repro    TEXT REFERENCES blobs(key), -- the repro file
  created  INTEGER NOT NULL
) STRICT;
CREATE INDEX failures_by_signature ON failures(stage, type, message);

-- Outcomes of queries: the cache of every search. A row says what is true of its key for ever; infrastructure is not kept.
CREATE TABLE queries (
  graph       TEXT NOT NULL,       -- canonical hash; the text need not be kept
  inputs      TEXT NOT NULL,       -- hash of the inputs
  config      TEXT NOT NULL,       -- hash of configuration, stage and backend
  fingerprint TEXT NOT NULL,       -- engine
  outcome     TEXT NOT NULL,       -- JSON of Outcome
  ms          INTEGER NOT NULL,
  created     INTEGER NOT NULL,
  PRIMARY KEY (graph, inputs, config, fingerprint)
) STRICT, WITHOUT ROWID;

-- Searches. key says what is searched, so that a second run resumes the first.
CREATE TABLE minifications (
  id        INTEGER PRIMARY KEY,
  key       TEXT NOT NULL UNIQUE,  -- hash of start state, signature, options and fingerprint
  start     TEXT NOT NULL REFERENCES blobs(key), -- the repro at the start
  result    TEXT REFERENCES blobs(key),          -- the repro at the end; NULL: not finished
  signature TEXT NOT NULL,         -- JSON
  certificate TEXT,                -- JSON: reductions and verdicts that show 1-minimality
  created   INTEGER NOT NULL,
  finished  INTEGER
) STRICT;

-- The journal: every step of a search, taken or refused, written before it is used.
CREATE TABLE steps (
  minification INTEGER NOT NULL REFERENCES minifications(id) ON DELETE CASCADE,
  seq       INTEGER NOT NULL,
  parent    TEXT NOT NULL,         -- canonical hash of the state that the candidate edits
  reduction TEXT NOT NULL,         -- row of the reductions table
  candidate TEXT NOT NULL,         -- canonical hash of the candidate
  edit      TEXT NOT NULL,         -- what was done, for people
  verdict   TEXT NOT NULL,
  cached    INTEGER NOT NULL,      -- the outcome came from queries
  taken     INTEGER NOT NULL,      -- the candidate became the state
  ms        INTEGER NOT NULL,
  PRIMARY KEY (minification, seq)
) STRICT, WITHOUT ROWID;

-- Other failures met on the way, each with its own repro.
CREATE TABLE findings (
  id           INTEGER PRIMARY KEY,
  minification INTEGER REFERENCES minifications(id) ON DELETE SET NULL,
  signature    TEXT NOT NULL,      -- JSON
  raw          TEXT NOT NULL,
  repro        TEXT NOT NULL REFERENCES blobs(key),
  created      INTEGER NOT NULL,
  UNIQUE (minification, signature)
) STRICT;

-- Bisections over passes, settings or versions.
CREATE TABLE bisections (
  id       INTEGER PRIMARY KEY,
  kind     TEXT NOT NULL,          -- pass, config, version
  subject  TEXT NOT NULL,          -- what was bisected: canonical hash or file
  log      TEXT NOT NULL,          -- JSON list of {point, outcome}
  culprit  TEXT NOT NULL,          -- "" while under way or not found
  created  INTEGER NOT NULL
) STRICT;
