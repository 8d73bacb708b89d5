-- whittle's store, from version 4 to 5: groups of failures, and what a bot found night after night.

-- What came of a failure. NULL: not begun.
ALTER TABLE failures ADD COLUMN minification INTEGER REFERENCES minifications(id) ON DELETE SET NULL;
ALTER TABLE failures ADD COLUMN bisection INTEGER REFERENCES bisections(id) ON DELETE SET NULL;
-- Where it came from, for people: a program, a file, a case of a bot; another store. '': nobody said.
ALTER TABLE failures ADD COLUMN origin TEXT NOT NULL DEFAULT '';
-- What was found to decide, as AXIS: TEXT, such as "versions: first bad 2.14" or "layers: inductor, lowerings aten.relu.default". '': not known.
ALTER TABLE failures ADD COLUMN decides TEXT NOT NULL DEFAULT '';
-- Which failure it is in any store: a hash of its content and of when it was met. A store that is merged twice brings it once. NULL: written before version 5.
ALTER TABLE failures ADD COLUMN identity TEXT;
CREATE UNIQUE INDEX failures_by_identity ON failures(identity) WHERE identity IS NOT NULL;

-- Calls of a step's candidate. NULL: an earlier version wrote the step.
ALTER TABLE steps ADD COLUMN calls INTEGER;
-- The points of a bisection in the order of its axis: JSON list of names. '': an earlier version wrote it, or its points are sets.
ALTER TABLE bisections ADD COLUMN axis TEXT NOT NULL DEFAULT '';

-- Groups of failures that are one bug, as far as is known.
CREATE TABLE groups (
  id       INTEGER PRIMARY KEY AUTOINCREMENT, -- the number of a group that was merged away is not given again
  title    TEXT NOT NULL,          -- one line, for people
  state    TEXT NOT NULL,          -- new, confirmed, minimised, bisected, fixed, flaky, closed
  assignee TEXT NOT NULL,          -- '' nobody
  muted    TEXT NOT NULL,          -- why; '' not muted
  until    INTEGER,                -- a muted group speaks again then; NULL: never by itself
  created  INTEGER NOT NULL,
  updated  INTEGER NOT NULL        -- when its state, its members or what is said of it last changed
) STRICT;
CREATE INDEX groups_by_state ON groups(state, updated);

-- Which group a failure is in, with what was compared.
CREATE TABLE members (
  failure  INTEGER PRIMARY KEY REFERENCES failures(id) ON DELETE CASCADE,
  "group"  INTEGER NOT NULL REFERENCES groups(id),
  features TEXT NOT NULL,          -- JSON, as package triage reads it
  distance REAL NOT NULL,          -- to the member that it was put beside; 0: the first
  pinned   INTEGER NOT NULL,       -- a person said so: grouping again does not move it
  placed   INTEGER NOT NULL        -- when it was compared; 0: what is known of it has changed since
) STRICT;
CREATE INDEX members_by_group ON members("group", failure);

-- Under what a member is looked up when another failure is placed: texts that package triage makes. Of the members of a group with equal features one is here.
CREATE TABLE keys (
  key      TEXT NOT NULL,
  failure  INTEGER NOT NULL REFERENCES members(failure) ON DELETE CASCADE,
  PRIMARY KEY (key, failure)
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_failure ON keys(failure);

-- What happened to a group, by whom: the history that people read.
CREATE TABLE events (
  id       INTEGER PRIMARY KEY,
  "group"  INTEGER NOT NULL REFERENCES groups(id) ON DELETE CASCADE,
  actor    TEXT NOT NULL,          -- a user's name, or the bot's
  kind     TEXT NOT NULL,          -- created, member, state, merge, split, mute, unmute, assign, fixed, reopened
  text     TEXT NOT NULL,          -- for people
  created  INTEGER NOT NULL
) STRICT;
CREATE INDEX events_by_group ON events("group", id);

-- Bots, by the name that their configuration has, and what they test.
CREATE TABLE cases (
  id       INTEGER PRIMARY KEY,
  bot      TEXT NOT NULL,
  name     TEXT NOT NULL,          -- corpus/path, or failure/ID
  mode     TEXT NOT NULL,          -- backend, dynamic, mode, dtype: as people say it
  UNIQUE (bot, name, mode)
) STRICT;

-- One run of a bot over all its cases, on one engine. key says which night it is: one that was killed goes on under its key.
CREATE TABLE nights (
  id       INTEGER PRIMARY KEY,
  bot      TEXT NOT NULL,
  key      TEXT NOT NULL,
  version  TEXT NOT NULL,          -- the engine as the configuration calls it
  fingerprint TEXT NOT NULL,       -- as it says itself
  report   TEXT REFERENCES blobs(key), -- JSON; NULL: under way
  hook     TEXT NOT NULL,          -- '': not begun; begun: it was started, and its end was not seen; else how it ended. It is never started twice
  created  INTEGER NOT NULL,
  finished INTEGER,
  UNIQUE (bot, key)
) STRICT;

-- How a case did. A version that is tested again for a range is a run of the same night with that version's name.
CREATE TABLE runs (
  night    INTEGER NOT NULL REFERENCES nights(id) ON DELETE CASCADE,
  "case"   INTEGER NOT NULL REFERENCES cases(id),
  version  TEXT NOT NULL,
  attempt  INTEGER NOT NULL,       -- from 0; later ones confirm
  status   TEXT NOT NULL,          -- Outcome.Status
  outcome  TEXT NOT NULL,          -- JSON of Outcome
  figures  TEXT NOT NULL,          -- JSON object: what was measured, name to list of samples
  failure  INTEGER REFERENCES failures(id) ON DELETE SET NULL,
  ms       INTEGER NOT NULL,
  created  INTEGER NOT NULL,
  PRIMARY KEY (night, "case", version, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_case ON runs("case", version, night);

-- What was measured in a run: compile_s, speedup, rmse, cosine, graph_breaks, recompiles, peak_memory, ... The samples are of one night: what its noise is.
CREATE TABLE figures (
  "case"   INTEGER NOT NULL REFERENCES cases(id),
  name     TEXT NOT NULL,
  night    INTEGER NOT NULL REFERENCES nights(id) ON DELETE CASCADE,
  value    REAL NOT NULL,          -- the median
  spread   REAL NOT NULL,          -- median absolute deviation
  samples  TEXT NOT NULL,          -- JSON list
  PRIMARY KEY ("case", name, night)
) STRICT, WITHOUT ROWID;
CREATE INDEX figures_by_night ON figures(night);

-- What a night said of a case that it had not said before: the lines of its report. subject is the signature, or the figure's name.
CREATE TABLE news (
  night    INTEGER NOT NULL REFERENCES nights(id) ON DELETE CASCADE,
  "case"   INTEGER NOT NULL REFERENCES cases(id),
  kind     TEXT NOT NULL,          -- new, known, flaky, fixed, back, withdrawn, slower, faster, less_accurate, drifting, ...
  subject  TEXT NOT NULL,
  "group"  INTEGER REFERENCES groups(id) ON DELETE SET NULL,
  failure  INTEGER REFERENCES failures(id) ON DELETE SET NULL, -- that it is about
  text     TEXT NOT NULL,          -- for people
  detail   TEXT NOT NULL,          -- JSON: the line as the report has it, for the bot's later nights
  PRIMARY KEY (night, "case", kind, subject)
) STRICT, WITHOUT ROWID;

-- What pages look up by.
CREATE INDEX failures_by_minification ON failures(minification) WHERE minification IS NOT NULL;
CREATE INDEX failures_by_bisection ON failures(bisection) WHERE bisection IS NOT NULL;
CREATE INDEX news_by_case ON news("case", night);
CREATE INDEX news_by_group ON news("group", night) WHERE "group" IS NOT NULL;
CREATE INDEX minifications_under_way ON minifications(id) WHERE finished IS NULL;
