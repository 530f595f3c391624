-- SPDX-License-Identifier: Apache-2.0
-- Latencies of SPE records by machine type and data source: the smallest latency that is not below 50, 90, 99 % of all. Full
-- counters (4095, 65535) stand for that or more.
WITH histogram AS (
	SELECT coalesce(c.machine, '[unknown]') AS machine, coalesce(s.operation, '') AS operation, coalesce(s.source, '') AS source,
		s.latency, sum(s.n) AS records, sum(s.n * c.spe_scale) AS operations
	FROM samples AS s
	JOIN counted AS c ON c.part = s.part
	WHERE s.event = CASE WHEN $event = '' THEN 'spe' ELSE $event END AND s.latency IS NOT NULL
		AND ($first_day = '' OR s.day >= $first_day) AND ($last_day = '' OR s.day <= $last_day)
	GROUP BY c.machine, s.operation, s.source, s.latency
), steps AS (
	SELECT machine, operation, source, latency, records,
		sum(operations) OVER (PARTITION BY machine, operation, source ORDER BY latency) AS up_to,
		sum(operations) OVER (PARTITION BY machine, operation, source) AS whole
	FROM histogram
)
SELECT machine, operation, source, sum(records) AS records,
	min(CASE WHEN up_to >= 0.5 * whole THEN latency END) AS p50,
	min(CASE WHEN up_to >= 0.9 * whole THEN latency END) AS p90,
	min(CASE WHEN up_to >= 0.99 * whole THEN latency END) AS p99,
	max(latency) AS most,
	sum(CASE WHEN latency = 4095 OR latency = 65535 THEN records ELSE 0 END) AS saturated_records
FROM steps
GROUP BY machine, operation, source
ORDER BY machine, max(whole) DESC, operation, source
