-- Triggers and views belong to no version: opening a store for a migration drops and re-creates them all.
-- A statement ends with a semicolon at the end of a line that is not indented.

-- Nothing is rewritten ------------------------------------------------------------------------------------

CREATE TRIGGER entries_insert BEFORE INSERT ON entries
WHEN EXISTS (SELECT 1 FROM entries WHERE log_id = NEW.log_id AND seq = NEW.seq)
  OR EXISTS (SELECT 1 FROM entries WHERE log_id = NEW.log_id AND id = NEW.id)
  OR EXISTS (SELECT 1 FROM entries WHERE n = NEW.n)
BEGIN
  SELECT RAISE(ABORT, 'msglog: entries are never replaced');
END;

CREATE TRIGGER entries_update BEFORE UPDATE ON entries
WHEN NOT (
  OLD.redacted_at IS NULL AND NEW.redacted_at IS NOT NULL
  AND NEW.n = OLD.n AND NEW.log_id = OLD.log_id AND NEW.seq = OLD.seq AND NEW.id = OLD.id
  AND NEW.revision = OLD.revision AND NEW.kind = OLD.kind AND NEW.role = OLD.role AND NEW.at = OLD.at
  AND NEW.tool_call_id IS OLD.tool_call_id
  AND NEW.content_hash = OLD.content_hash AND NEW.chain_hash = OLD.chain_hash
  AND NEW.name IS NULL AND NEW.text IS NULL AND NEW.parts IS NULL AND NEW.meta IS NULL AND NEW.extra IS NULL
  AND NEW.sources IS NULL AND (NEW.salt IS NULL OR NEW.salt = zeroblob(length(NEW.salt)))
  AND (NEW.tool_calls IS NULL) = (OLD.tool_calls IS NULL) -- blanked of their arguments, ids and names stay
)
BEGIN
  SELECT RAISE(ABORT, 'msglog: entries are never changed, only redacted');
END;

CREATE TRIGGER entries_delete BEFORE DELETE ON entries
WHEN (SELECT purged_at FROM logs WHERE id = OLD.log_id) IS NULL
BEGIN
  SELECT RAISE(ABORT, 'msglog: entries are never deleted');
END;

CREATE TRIGGER revisions_insert BEFORE INSERT ON revisions
WHEN EXISTS (SELECT 1 FROM revisions WHERE log_id = NEW.log_id AND number = NEW.number)
  OR EXISTS (SELECT 1 FROM revisions WHERE log_id = NEW.log_id AND id = NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'msglog: revisions are never replaced');
END;

CREATE TRIGGER revisions_update BEFORE UPDATE ON revisions
BEGIN
  SELECT RAISE(ABORT, 'msglog: revisions are never changed');
END;

CREATE TRIGGER revisions_delete BEFORE DELETE ON revisions
WHEN (SELECT purged_at FROM logs WHERE id = OLD.log_id) IS NULL
BEGIN
  SELECT RAISE(ABORT, 'msglog: revisions are never deleted');
END;

CREATE TRIGGER chunks_insert BEFORE INSERT ON chunks
WHEN EXISTS (SELECT 1 FROM chunks WHERE log_id = NEW.log_id AND chunk = NEW.chunk)
BEGIN
  SELECT RAISE(ABORT, 'msglog: chunks are never replaced');
END;

CREATE TRIGGER chunks_update BEFORE UPDATE ON chunks
BEGIN
  SELECT RAISE(ABORT, 'msglog: chunks are never changed');
END;

CREATE TRIGGER chunks_delete BEFORE DELETE ON chunks
WHEN (SELECT purged_at FROM logs WHERE id = OLD.log_id) IS NULL
BEGIN
  SELECT RAISE(ABORT, 'msglog: chunks are never deleted');
END;

CREATE TRIGGER branches_insert BEFORE INSERT ON branches
WHEN EXISTS (SELECT 1 FROM branches WHERE log_id = NEW.log_id AND name = NEW.name)
BEGIN
  SELECT RAISE(ABORT, 'msglog: branches are never replaced');
END;

CREATE TRIGGER branches_update BEFORE UPDATE ON branches
WHEN NEW.head < OLD.head OR NEW.log_id <> OLD.log_id OR NEW.name <> OLD.name OR NEW.forked_from IS NOT OLD.forked_from
BEGIN
  SELECT RAISE(ABORT, 'msglog: a branch only ever moves to newer revisions');
END;

CREATE TRIGGER branches_delete BEFORE DELETE ON branches
WHEN (SELECT purged_at FROM logs WHERE id = OLD.log_id) IS NULL
BEGIN
  SELECT RAISE(ABORT, 'msglog: branches are never deleted');
END;

CREATE TRIGGER logs_insert BEFORE INSERT ON logs
WHEN EXISTS (SELECT 1 FROM logs WHERE id = NEW.id OR name = NEW.name OR uid = NEW.uid)
BEGIN
  SELECT RAISE(ABORT, 'msglog: logs are never replaced');
END;

CREATE TRIGGER logs_update BEFORE UPDATE ON logs
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR OLD.purged_at IS NOT NULL
  OR (NEW.purged_at IS NULL AND (NEW.entry_count < OLD.entry_count OR NEW.revision_count < OLD.revision_count))
  OR (NEW.name IS NOT OLD.name -- UPDATE OR REPLACE would take another of that name away
      AND EXISTS (SELECT 1 FROM logs WHERE name = NEW.name AND id <> OLD.id))
BEGIN
  SELECT RAISE(ABORT, 'msglog: a log never shrinks');
END;

CREATE TRIGGER logs_delete BEFORE DELETE ON logs
BEGIN
  SELECT RAISE(ABORT, 'msglog: logs are never deleted; what is left of a purged one is its receipt');
END;

-- For people -----------------------------------------------------------------------------------------------

-- The entries of every revision, one row for each place. Ask for one log and revision: a revision's spans,
-- those of its anchor's chunks and those of its own tail, are then looked up, and with them its entries, by
-- ranges of seq. The join order is fixed by CROSS JOIN: planners otherwise scan every entry.
CREATE VIEW revision_entries AS
SELECT
  l.name AS log, r.id AS revision, r.number AS revision_number,
  json_extract(c.value, '$[1]') + json_extract(s.value, '$[0]') + e.seq - json_extract(s.value, '$[1]') AS position,
  e.seq AS seq, e.id AS id, e.role AS role, e.kind AS kind,
  CASE WHEN e.redacted_at IS NULL THEN e.text ELSE '[redacted]' END AS text,
  e.parts AS parts, e.tool_calls AS tool_calls, e.tool_call_id AS tool_call_id, e.name AS name,
  e.sources AS sources, e.meta AS meta, e.extra AS extra,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000000.0, 'unixepoch') AS at,
  e.redacted_at IS NOT NULL AS redacted
FROM logs AS l
CROSS JOIN revisions AS r ON r.log_id = l.id
CROSS JOIN revisions AS a ON a.log_id = r.log_id AND a.number = r.anchor
CROSS JOIN json_each(a.chunks) AS c
CROSS JOIN chunks AS k ON k.log_id = r.log_id AND k.chunk = json_extract(c.value, '$[0]')
CROSS JOIN json_each(k.spans) AS s
CROSS JOIN entries AS e ON e.log_id = r.log_id
  AND e.seq BETWEEN json_extract(s.value, '$[1]')
  AND coalesce(json_extract(s.value, '$[2]'), json_extract(s.value, '$[1]'))
UNION ALL
SELECT
  l.name, r.id, r.number,
  json_extract(s.value, '$[0]') + e.seq - json_extract(s.value, '$[1]'),
  e.seq, e.id, e.role, e.kind,
  CASE WHEN e.redacted_at IS NULL THEN e.text ELSE '[redacted]' END,
  e.parts, e.tool_calls, e.tool_call_id, e.name,
  e.sources, e.meta, e.extra,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000000.0, 'unixepoch'),
  e.redacted_at IS NOT NULL
FROM logs AS l
CROSS JOIN revisions AS r ON r.log_id = l.id
CROSS JOIN json_each(r.tail) AS s
CROSS JOIN entries AS e ON e.log_id = r.log_id
  AND e.seq BETWEEN json_extract(s.value, '$[1]')
  AND coalesce(json_extract(s.value, '$[2]'), json_extract(s.value, '$[1]'));

-- What each branch shows now.
CREATE VIEW active_entries AS
SELECT
  l.name AS log, b.name AS branch,
  json_extract(c.value, '$[1]') + json_extract(s.value, '$[0]') + e.seq - json_extract(s.value, '$[1]') AS position,
  e.seq AS seq, e.id AS id, e.role AS role, e.kind AS kind,
  CASE WHEN e.redacted_at IS NULL THEN e.text ELSE '[redacted]' END AS text,
  e.parts AS parts, e.tool_calls AS tool_calls, e.tool_call_id AS tool_call_id, e.name AS name,
  e.sources AS sources, e.meta AS meta, e.extra AS extra,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000000.0, 'unixepoch') AS at,
  e.redacted_at IS NOT NULL AS redacted
FROM logs AS l
CROSS JOIN branches AS b ON b.log_id = l.id
CROSS JOIN revisions AS r ON r.log_id = l.id AND r.number = b.head
CROSS JOIN revisions AS a ON a.log_id = r.log_id AND a.number = r.anchor
CROSS JOIN json_each(a.chunks) AS c
CROSS JOIN chunks AS k ON k.log_id = r.log_id AND k.chunk = json_extract(c.value, '$[0]')
CROSS JOIN json_each(k.spans) AS s
CROSS JOIN entries AS e ON e.log_id = r.log_id
  AND e.seq BETWEEN json_extract(s.value, '$[1]')
  AND coalesce(json_extract(s.value, '$[2]'), json_extract(s.value, '$[1]'))
UNION ALL
SELECT
  l.name, b.name,
  json_extract(s.value, '$[0]') + e.seq - json_extract(s.value, '$[1]'),
  e.seq, e.id, e.role, e.kind,
  CASE WHEN e.redacted_at IS NULL THEN e.text ELSE '[redacted]' END,
  e.parts, e.tool_calls, e.tool_call_id, e.name,
  e.sources, e.meta, e.extra,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000000.0, 'unixepoch'),
  e.redacted_at IS NOT NULL
FROM logs AS l
CROSS JOIN branches AS b ON b.log_id = l.id
CROSS JOIN revisions AS r ON r.log_id = l.id AND r.number = b.head
CROSS JOIN json_each(r.tail) AS s
CROSS JOIN entries AS e ON e.log_id = r.log_id
  AND e.seq BETWEEN json_extract(s.value, '$[1]')
  AND coalesce(json_extract(s.value, '$[2]'), json_extract(s.value, '$[1]'));

-- Where each context came from.
CREATE VIEW lineage AS
SELECT
  l.name AS log, r.number AS number, r.id AS revision, p.id AS parent,
  coalesce(json_extract(r.operation, '$.type'), CASE WHEN r.parent IS NULL THEN 'root' ELSE 'append' END) AS operation,
  r.size AS size, r.branch AS branch,
  (SELECT group_concat(b.name, ', ') FROM branches AS b WHERE b.log_id = r.log_id AND b.head = r.number) AS heads,
  r.operation AS detail, r.meta AS meta, r.replaces AS replaces,
  strftime('%Y-%m-%dT%H:%M:%fZ', r.at / 1000000.0, 'unixepoch') AS at
FROM logs AS l
JOIN revisions AS r ON r.log_id = l.id
LEFT JOIN revisions AS p ON p.log_id = r.log_id AND p.number = r.parent;

-- One row a log.
CREATE VIEW log_stats AS
SELECT
  l.name AS log, l.entry_count AS entries, l.revision_count AS revisions,
  (SELECT count(*) FROM branches AS b WHERE b.log_id = l.id) AS branches,
  strftime('%Y-%m-%dT%H:%M:%fZ', l.created_at / 1000000.0, 'unixepoch') AS created_at,
  (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', e.at / 1000000.0, 'unixepoch')
   FROM entries AS e WHERE e.log_id = l.id AND e.seq = l.entry_count) AS last_at,
  l.meta AS meta
FROM logs AS l
WHERE l.purged_at IS NULL;
