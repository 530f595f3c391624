-- SPDX-License-Identifier: Apache-2.0
-- What a function costs, day by day, of events that have records in it. The error is half of the 95 % interval of its share, from how hosts differ on that day.
WITH wanted AS (
	SELECT place
	FROM named
	WHERE function = $function AND ($module = '' OR module = $module)
), host_sums AS (
	SELECT s.event AS event, c.day AS day, c.host_no AS host_no,
		sum(s.weight * CASE WHEN s.event = 'spe' THEN c.spe_scale ELSE 1 END) AS host_weight,
		sum(CASE WHEN w.place IS NULL THEN 0 WHEN s.event = 'spe' THEN s.weight * c.spe_scale ELSE s.weight END) AS weight,
		sum(CASE WHEN w.place IS NULL THEN 0 ELSE s.n END) AS records
	FROM samples AS s
	JOIN counted AS c ON c.part = s.part
	LEFT JOIN wanted AS w ON w.place = s.place
	WHERE ($event = '' OR s.event = $event) AND ($first_day = '' OR s.day >= $first_day) AND ($last_day = '' OR s.day <= $last_day)
	GROUP BY s.event, c.day, c.host_no
), days AS (
	SELECT event, day, CAST(sum(host_weight) AS DOUBLE) AS total, CAST(sum(weight) AS DOUBLE) AS weight, sum(records) AS records,
		count(*) AS hosts, sum(CAST(weight AS DOUBLE) * weight) AS squares,
		sum(CAST(weight AS DOUBLE) * host_weight) AS products, sum(CAST(host_weight AS DOUBLE) * host_weight) AS host_squares,
		count(*) - 1.0 AS freedom
	FROM host_sums
	GROUP BY event, day
)
SELECT event, day, weight / total AS share,
	CASE WHEN freedom >= 3 THEN (1.96 + 2.372 / freedom + 2.823 / (freedom * freedom)) * sqrt(greatest(squares
		- 2 * weight / total * products + weight / total * weight / total * host_squares, 0) * (freedom + 1) / freedom) / total
		END AS share_error,
	weight, records, hosts
FROM (SELECT *, sum(records) OVER (PARTITION BY event) AS all_records FROM days) AS days
WHERE total > 0 AND all_records > 0
ORDER BY event, day
