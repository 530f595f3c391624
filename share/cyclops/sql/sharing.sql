-- SPDX-License-Identifier: Apache-2.0
-- The worst false sharing: contended objects by the latency of the accesses to their lines, summed over all captures. $all =
-- 1: true sharing, too.
WITH lines AS (
	SELECT coalesce(l.object, '[unknown]') AS object, coalesce(l.type, '') AS type, coalesce(l.member, '') AS member,
		l.verdict AS verdict, c.host_no AS host_no, l.part AS part, l.records AS records, l.loads AS loads, l.stores AS stores,
		l.atomics AS atomics, l.peer AS peer, l.hitm AS hitm, l.latency_cycles AS latency_cycles, l.writer AS writer,
		l.reader AS reader
	FROM shared_lines AS l
	JOIN counted AS c ON c.part = l.part
	WHERE $all = 1 OR l.verdict = 'false-sharing'
)
SELECT object, type, member, verdict, sum(latency_cycles) AS latency_cycles, sum(records) AS records, sum(loads) AS loads,
	sum(stores) AS stores, sum(atomics) AS atomics, sum(peer) AS peer, sum(hitm) AS hitm, count(DISTINCT host_no) AS hosts,
	count(DISTINCT part) AS captures, min(writer) AS writer, min(reader) AS reader
FROM lines
GROUP BY object, type, member, verdict
ORDER BY sum(latency_cycles) DESC, object, type, member, verdict
LIMIT $limit
