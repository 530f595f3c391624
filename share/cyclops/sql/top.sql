-- SPDX-License-Identifier: Apache-2.0
-- The functions that weigh most: of samples what their periods add up to (cycles, ns), of SPE records their total latency,
-- which is a lower bound where counters were full (4095, 65535).
-- The error is half of the 95 % interval of the share, from how hosts differ; absent with fewer than four hosts.
WITH host_sums AS (
	SELECT s.event AS event, c.host_no AS host_no, n.function_no AS function_no,
		sum(s.weight * CASE WHEN s.event = 'spe' THEN c.spe_scale ELSE 1 END) AS weight, sum(s.n) AS records,
		sum(CASE WHEN s.event = 'spe' AND s.latency IN (4095, 65535) THEN s.n ELSE 0 END) AS saturated
	FROM samples AS s
	JOIN counted AS c ON c.part = s.part
	LEFT JOIN named AS n ON n.place = s.place
	WHERE ($event = '' OR s.event = $event) AND ($first_day = '' OR s.day >= $first_day) AND ($last_day = '' OR s.day <= $last_day)
	GROUP BY s.event, c.host_no, n.function_no
), hosts AS (
	SELECT event, host_no, CAST(sum(weight) AS DOUBLE) AS host_weight, sum(records) AS host_records
	FROM host_sums
	GROUP BY event, host_no
), events AS (
	SELECT event, sum(host_weight) AS total, sum(host_records) AS all_records, count(*) AS hosts,
		sum(host_weight * host_weight) AS squares
	FROM hosts
	GROUP BY event
), functions AS (
	SELECT f.event AS event, f.function_no AS function_no,
		sum(CAST(f.weight AS DECIMAL(38, 0))) AS weight, sum(f.records) AS records, sum(f.saturated) AS saturated,
		count(*) AS hosts, sum(CAST(f.weight AS DOUBLE) * f.weight) AS squares,
		sum(CAST(f.weight AS DOUBLE) * h.host_weight) AS products
	FROM host_sums AS f
	JOIN hosts AS h ON h.event = f.event AND h.host_no = f.host_no
	GROUP BY f.event, f.function_no
), shares AS (
	SELECT f.event AS event, f.function_no AS function_no, f.weight AS weight, f.records AS records, f.saturated AS saturated, f.hosts AS hosts,
		CAST(f.weight AS DOUBLE) / e.total AS share, e.total AS total,
		f.squares - 2 * CAST(f.weight AS DOUBLE) / e.total * f.products
			+ CAST(f.weight AS DOUBLE) / e.total * CAST(f.weight AS DOUBLE) / e.total * e.squares AS residue,
		e.hosts - 1.0 AS freedom, e.all_records AS all_records,
		row_number() OVER (PARTITION BY f.event ORDER BY f.weight DESC, f.function_no) AS place_in_event
	FROM functions AS f
	JOIN events AS e ON e.event = f.event
	WHERE e.total > 0
), names AS (
	SELECT function_no, max(function) AS function, max(module) AS module
	FROM named
	GROUP BY function_no
)
SELECT s.event AS event, coalesce(n.function, '[unknown]') AS function, coalesce(n.module, '[unknown]') AS module,
	s.share AS share,
	CASE WHEN s.freedom >= 3 THEN (1.96 + 2.372 / s.freedom + 2.823 / (s.freedom * s.freedom))
		* sqrt(greatest(s.residue, 0) * (s.freedom + 1) / s.freedom) / s.total END AS share_error,
	CAST(s.weight AS DOUBLE) AS weight, s.records AS records, s.hosts AS hosts,
	s.saturated AS saturated
FROM shares AS s
LEFT JOIN names AS n ON n.function_no = s.function_no
WHERE $top = 0 OR s.place_in_event <= $top
ORDER BY s.all_records DESC, s.event, s.place_in_event, function, module
