-- SPDX-License-Identifier: Apache-2.0
-- What changed from one day or build-id to another: shares of each function in the captures of either side. A capture that
-- is of both sides is of neither. The error is half of the 95 % interval of the change, from how hosts differ; a host that is
-- on both sides is compared with itself. significant: at 99 %, for all functions of the event together, by Student's t (the
-- expansion of its quantile by the normal one, z).
WITH sides AS (
	SELECT part, host_no, spe_scale, CASE WHEN day = $to OR list_contains(build_ids, $to) THEN 1 ELSE 0 END AS is_to
	FROM counted
	WHERE (day = $from OR list_contains(build_ids, $from)) <> (day = $to OR list_contains(build_ids, $to))
), host_sums AS (
	SELECT s.event AS event, c.host_no AS host_no, c.is_to AS is_to, n.function_no AS function_no,
		sum(s.weight * CASE WHEN s.event = 'spe' THEN c.spe_scale ELSE 1 END) AS weight, sum(s.n) AS records
	FROM samples AS s
	JOIN sides AS c ON c.part = s.part
	LEFT JOIN named AS n ON n.place = s.place
	WHERE ($event = '' OR s.event = $event)
	GROUP BY s.event, c.host_no, c.is_to, n.function_no
), pairs AS (
	SELECT event, host_no, function_no, CAST(sum(CASE WHEN is_to = 0 THEN weight ELSE 0 END) AS DOUBLE) AS a,
		CAST(sum(CASE WHEN is_to = 1 THEN weight ELSE 0 END) AS DOUBLE) AS b,
		sum(CASE WHEN is_to = 0 THEN records ELSE 0 END) AS records_a,
		sum(CASE WHEN is_to = 1 THEN records ELSE 0 END) AS records_b
	FROM host_sums
	GROUP BY event, host_no, function_no
), hosts AS (
	SELECT event, host_no, sum(a) AS host_a, sum(b) AS host_b
	FROM pairs
	GROUP BY event, host_no
), events AS (
	SELECT event, sum(host_a) AS all_a, sum(host_b) AS all_b, sum(host_a * host_a) AS aa, sum(host_b * host_b) AS bb,
		sum(host_a * host_b) AS ab, count(*) - 1.0 AS freedom
	FROM hosts
	GROUP BY event
	HAVING sum(host_a) > 0 AND sum(host_b) > 0
), functions AS (
	SELECT p.event AS event, p.function_no AS function_no, sum(p.a) / max(e.all_a) AS share_a,
		sum(p.b) / max(e.all_b) AS share_b,
		sum(p.records_a) AS records_a, sum(p.records_b) AS records_b, max(e.freedom) AS freedom,
		max(e.aa) / (max(e.all_a) * max(e.all_a)) AS aa, max(e.bb) / (max(e.all_b) * max(e.all_b)) AS bb,
		max(e.ab) / (max(e.all_a) * max(e.all_b)) AS ab,
		sum((p.b / e.all_b - p.a / e.all_a) * (p.b / e.all_b - p.a / e.all_a)) AS xx,
		sum((p.b / e.all_b - p.a / e.all_a) * h.host_a / e.all_a) AS xa,
		sum((p.b / e.all_b - p.a / e.all_a) * h.host_b / e.all_b) AS xb
	FROM pairs AS p
	JOIN hosts AS h ON h.event = p.event AND h.host_no = p.host_no
	JOIN events AS e ON e.event = p.event
	GROUP BY p.event, p.function_no
), changes AS (
	SELECT event, function_no, share_a, share_b, records_a, records_b, freedom, share_b - share_a AS change,
		count(*) OVER (PARTITION BY event) AS n_functions,
		sqrt(greatest(xx + share_b * share_b * bb + share_a * share_a * aa - 2 * share_b * xb + 2 * share_a * xa
			- 2 * share_a * share_b * ab, 0) * (freedom + 1) / greatest(freedom, 1)) AS deviation
	FROM functions
), ranked AS (
	SELECT event, function_no, share_a, share_b, records_a, records_b, freedom, change, deviation,
		sqrt(2 * ln(n_functions / 0.01)) AS z,
		row_number() OVER (PARTITION BY event ORDER BY abs(change) DESC, function_no) AS place_in_event
	FROM changes
), names AS (
	SELECT function_no, max(function) AS function, max(module) AS module
	FROM named
	GROUP BY function_no
)
SELECT r.event AS event, coalesce(n.function, '[unknown]') AS function, coalesce(n.module, '[unknown]') AS module,
	r.share_a AS share_from, r.share_b AS share_to, r.change AS change,
	CASE WHEN r.freedom >= 3 THEN (1.96 + 2.372 / r.freedom + 2.823 / (r.freedom * r.freedom)) * r.deviation END AS change_error,
	CASE WHEN r.freedom >= 9 THEN abs(r.change) > r.deviation * (r.z + (r.z * r.z * r.z + r.z) / (4 * r.freedom)
		+ (5 * r.z * r.z * r.z * r.z * r.z + 16 * r.z * r.z * r.z + 3 * r.z) / (96 * r.freedom * r.freedom)) END AS significant,
	r.records_a AS records_from, r.records_b AS records_to
FROM ranked AS r
LEFT JOIN names AS n ON n.function_no = r.function_no
WHERE $top = 0 OR r.place_in_event <= $top
ORDER BY r.event, r.place_in_event, function, module
