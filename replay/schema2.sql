-- whittle's store, from version 1 to 2: what a finished search found, and who runs one.

-- The process that runs a search: "boot pid start". NULL: nobody says to be at it.
ALTER TABLE minifications ADD COLUMN owner TEXT;
-- Calls of the graph at the start, and of the best state so far. NULL: not known.
ALTER TABLE minifications ADD COLUMN start_calls INTEGER;
ALTER TABLE minifications ADD COLUMN calls INTEGER;

-- Results of searches, one row each: everything that a report says.
CREATE TABLE results (
  minification INTEGER PRIMARY KEY REFERENCES minifications(id) ON DELETE CASCADE,
  repro       TEXT NOT NULL REFERENCES blobs(key), -- the file in PyTorch's form, byte for byte as it was proved
  standalone  TEXT REFERENCES blobs(key),          -- the plain script; NULL: none
  error       TEXT NOT NULL REFERENCES blobs(key), -- the failure's own text
  environment TEXT NOT NULL REFERENCES blobs(key), -- versions, machine
  certificate TEXT NOT NULL REFERENCES blobs(key), -- JSON list of {reduction, edit, verdict}
  engine      TEXT NOT NULL,       -- native, torch
  launcher    TEXT NOT NULL,       -- the file that the search began with
  config      TEXT NOT NULL,       -- settings that the failure needs: JSON list of {name, value}
  workaround  TEXT NOT NULL,       -- settings that make the failure go away, likewise
  free        TEXT NOT NULL,       -- what may vary: JSON list of texts
  start_cost  TEXT NOT NULL,       -- JSON of Cost
  end_cost    TEXT NOT NULL,
  complete    INTEGER NOT NULL,    -- 1-minimal and proved; 0: the best when the search was stopped
  queries     INTEGER NOT NULL,
  cache_hits  INTEGER NOT NULL,
  rejected    INTEGER NOT NULL,    -- by the static check
  seconds     REAL NOT NULL,       -- of all runs of the search together
  confirmed   INTEGER NOT NULL,    -- proofs in fresh processes
  runs        INTEGER NOT NULL,    -- runs of the result that were counted for its rate
  rate        REAL NOT NULL,       -- of those that failed: 0 to 1
  false_runs  INTEGER NOT NULL,    -- runs of a state without the failure, where it is flaky
  false_rate  REAL NOT NULL,
  stopped     TEXT NOT NULL,       -- why the search ended early: deadline; '' if it did not
  off         TEXT NOT NULL,       -- reductions that were switched off, as too many candidates hung: JSON list
  created     INTEGER NOT NULL
) STRICT;

-- Files that lie beside a result's repro: the data of inputs that it reads by content.
CREATE TABLE result_files (
  minification INTEGER NOT NULL REFERENCES results(minification) ON DELETE CASCADE,
  path         TEXT NOT NULL,      -- relative to the repro's folder, with slashes
  blob         TEXT NOT NULL REFERENCES blobs(key),
  PRIMARY KEY (minification, path)
) STRICT, WITHOUT ROWID;
