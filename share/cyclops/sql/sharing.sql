-- SPDX-License-Identifier: Apache-2.0
-- The worst false sharing: contended objects by what they cost, which is the latency of their contended loads above a local
-- hit, summed over all captures. Data without a name is told by the functions that write and read it. share: part of the
-- latency of all sampled loads; its error is half of the 95 % interval, from how hosts differ. member, writer, reader: of the
-- capture where it cost most. $all = 1: true sharing, and what has no verdict, too.
WITH scaled AS (
	SELECT c.part AS part, c.host_no AS host_no, k.load_cycles AS load_cycles,
		CASE WHEN sum(CASE WHEN k.load_cycles > 0 AND k.load_interval IS NULL THEN 1 ELSE 0 END) OVER () = 0
			THEN coalesce(k.load_interval, 1) ELSE 1 END AS load_scale
	FROM counted AS c
	JOIN captures AS k ON k.part = c.part
), hosts AS (
	SELECT host_no, sum(coalesce(load_cycles, 0) * load_scale) AS host_cycles
	FROM scaled
	GROUP BY host_no
	HAVING sum(coalesce(load_cycles, 0)) > 0
), loads AS (
	SELECT sum(host_cycles) AS total, sum(host_cycles * host_cycles) AS squares, count(*) - 1.0 AS freedom
	FROM hosts
), causes AS (
	SELECT l.part AS part, s.host_no AS host_no, coalesce(l.object, '') AS object, coalesce(l.type, '') AS type,
		coalesce(l.writer_module, l.reader_module, '') AS module, l.verdict AS verdict, coalesce(l.member, '') AS member,
		coalesce(l.writer, '') AS writer, coalesce(l.reader, '') AS reader,
		CASE WHEN l.object IS NULL OR l.object LIKE '[%' THEN concat(coalesce(l.writer, ''), ' ', coalesce(l.reader, '')) ELSE '' END AS pair,
		l.excess_cycles * s.load_scale AS cost, l.records AS records, l.loads AS loads, l.stores AS stores,
		l.atomics AS atomics, l.peer AS peer, l.hitm AS hitm, l.saturated AS saturated
	FROM shared_lines AS l
	JOIN scaled AS s ON s.part = l.part
	WHERE $all = 1 OR l.verdict = 'false-sharing'
), ordered AS (
	SELECT part, host_no, object, type, module, verdict, pair, member, writer, reader, cost, records, loads, stores, atomics,
		peer, hitm, saturated,
		row_number() OVER (PARTITION BY object, type, module, verdict, pair ORDER BY cost DESC, part, writer, reader) AS turn
	FROM causes
), host_sums AS (
	SELECT object, type, module, verdict, pair, host_no, sum(cost) AS cost, sum(records) AS records, sum(loads) AS loads,
		sum(stores) AS stores, sum(atomics) AS atomics, sum(peer) AS peer, sum(hitm) AS hitm,
		sum(saturated) AS saturated, count(DISTINCT part) AS captures,
		max(CASE WHEN turn = 1 THEN member END) AS member, max(CASE WHEN turn = 1 THEN writer END) AS writer,
		max(CASE WHEN turn = 1 THEN reader END) AS reader
	FROM ordered
	GROUP BY object, type, module, verdict, pair, host_no
), objects AS (
	SELECT h.object AS object, h.type AS type, h.module AS module, h.verdict AS verdict, h.pair AS pair,
		sum(h.cost) AS cost, sum(h.records) AS records, sum(h.loads) AS loads, sum(h.stores) AS stores,
		sum(h.atomics) AS atomics, sum(h.peer) AS peer, sum(h.hitm) AS hitm, sum(h.saturated) AS saturated,
		count(*) AS hosts, sum(h.captures) AS captures, max(h.member) AS member, max(h.writer) AS writer,
		max(h.reader) AS reader, sum(h.cost * h.cost) AS squares, sum(h.cost * t.host_cycles) AS products
	FROM host_sums AS h
	LEFT JOIN hosts AS t ON t.host_no = h.host_no
	GROUP BY h.object, h.type, h.module, h.verdict, h.pair
)
SELECT o.object AS object, o.member AS member, o.cost / t.total AS share,
	CASE WHEN t.freedom >= 3 THEN (1.96 + 2.372 / t.freedom + 2.823 / (t.freedom * t.freedom))
		* sqrt(greatest(o.squares - 2 * o.cost / t.total * o.products + o.cost / t.total * o.cost / t.total * t.squares, 0)
			* (t.freedom + 1) / t.freedom) / t.total END AS share_error,
	o.cost AS cost_cycles, o.writer AS writer, o.reader AS reader, o.hosts AS hosts, o.captures AS captures, o.peer AS peer,
	o.hitm AS hitm, o.verdict AS verdict, o.type AS type, o.module AS module, o.records AS records, o.loads AS loads,
	o.stores AS stores, o.atomics AS atomics, o.saturated AS saturated
FROM objects AS o
CROSS JOIN loads AS t
ORDER BY o.cost DESC, o.object, o.type, o.module, o.verdict, o.pair
LIMIT $limit
