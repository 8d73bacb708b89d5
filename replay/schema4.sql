-- whittle's store, from version 3 to 4: bisections, test by test. No earlier version wrote a row of the table that goes.

DROP TABLE bisections;

-- Searches for what decides whether something fails. key says what is tested, and along what: a second run finds the answers of the first.
CREATE TABLE bisections (
  id       INTEGER PRIMARY KEY,
  key      TEXT NOT NULL UNIQUE,
  kind     TEXT NOT NULL,          -- of points: versions, commits, settings
  subject  TEXT NOT NULL,          -- what is tested, for people: a command, or a repro file
  result   TEXT NOT NULL,          -- what was found, for people; '' while under way
  created  INTEGER NOT NULL,
  finished INTEGER                 -- NULL: under way, or stopped
) STRICT;

-- The answers, each written before it is used.
CREATE TABLE trials (
  bisection INTEGER NOT NULL REFERENCES bisections(id) ON DELETE CASCADE,
  point     TEXT NOT NULL,         -- its own name: a version, a commit's hash, a list of settings; never a place in a list
  attempt   INTEGER NOT NULL,      -- from 0
  verdict   TEXT NOT NULL,         -- good, bad, skip; '' where an engine answered: its outcome is judged when it is used
  text      TEXT NOT NULL,         -- why, for people
  outcome   TEXT NOT NULL,         -- JSON of Outcome; '' where a command answered
  ms        INTEGER NOT NULL,
  created   INTEGER NOT NULL,
  PRIMARY KEY (bisection, point, attempt)
) STRICT, WITHOUT ROWID;
