-- whittle's store, from version 2 to 3: edits that can be made again.

-- What a step did, in full: JSON of minify's Retrace. '': nothing was edited, or an earlier version wrote the step.
ALTER TABLE steps ADD COLUMN change TEXT NOT NULL DEFAULT '';
