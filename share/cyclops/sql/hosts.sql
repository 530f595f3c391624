-- SPDX-License-Identifier: Apache-2.0
-- Hosts that differ from their peers: machines of the same type. The share of a function on a host beside its mean on all
-- others; deviations: how many standard deviations of these it is away. Shown are those that chance explains in less than one
-- of a hundred fleets. Functions of which a host should have fewer than 25 records, and types with fewer than 10 machines,
-- are not judged. z is the bound of a normal deviation, bound that of Student's t, by its expansion. Sums of few records that weigh
-- very differently, such as latencies, are skewed: upwards the bound is that of a gamma distribution of this skewness (Wilson and
-- Hilferty), which follows from the second and third powers of the records' weights.
WITH host_sums AS (
	SELECT s.event AS event, c.host_no AS host_no, n.function_no AS function_no,
		sum(s.weight * CASE WHEN s.event = 'spe' THEN c.spe_scale ELSE 1 END) AS weight, sum(s.n) AS records,
		sum(CAST(s.weight AS DOUBLE) * s.weight / s.n) AS squares,
		sum(CAST(s.weight AS DOUBLE) * s.weight / s.n * s.weight / s.n) AS cubes
	FROM samples AS s
	JOIN counted AS c ON c.part = s.part
	LEFT JOIN named AS n ON n.place = s.place
	WHERE ($event = '' OR s.event = $event) AND ($first_day = '' OR s.day >= $first_day) AND ($last_day = '' OR s.day <= $last_day)
	GROUP BY s.event, c.host_no, n.function_no
), machines AS (
	SELECT host_no, max(host) AS host, coalesce(max(machine), '[unknown]') AS machine
	FROM counted
	GROUP BY host_no
), hosts AS (
	SELECT h.event AS event, h.host_no AS host_no, max(m.machine) AS machine, max(m.host) AS host,
		CAST(sum(h.weight) AS DOUBLE) AS host_weight,
		sum(h.records) AS host_records
	FROM host_sums AS h
	JOIN machines AS m ON m.host_no = h.host_no
	GROUP BY h.event, h.host_no
	HAVING sum(h.weight) > 0
), peers AS (
	SELECT event, machine, count(*) AS n_hosts
	FROM hosts
	GROUP BY event, machine
	HAVING count(*) >= 10
), shares AS (
	SELECT f.event AS event, h.machine AS machine, h.host AS host, f.function_no AS function_no,
		f.weight / h.host_weight AS share, h.host_records AS host_records, p.n_hosts AS n_hosts,
		sum(f.weight / h.host_weight) OVER (PARTITION BY f.event, h.machine, f.function_no) AS share_sum,
		sum(f.cubes) OVER (PARTITION BY f.event, h.machine, f.function_no)
			/ power(sum(f.squares) OVER (PARTITION BY f.event, h.machine, f.function_no), 1.5) AS skew_of_all,
		sum(h.host_records) OVER (PARTITION BY f.event, h.machine, f.function_no) / h.host_records AS all_by_host,
		sum(f.weight / h.host_weight * f.weight / h.host_weight) OVER (PARTITION BY f.event, h.machine, f.function_no)
			AS square_sum
	FROM host_sums AS f
	JOIN hosts AS h ON h.event = f.event AND h.host_no = f.host_no
	JOIN peers AS p ON p.event = h.event AND p.machine = h.machine
), others AS (
	SELECT event, machine, host, function_no, share, n_hosts, host_records, skew_of_all * sqrt(all_by_host) AS skew,
		(share_sum - share) / (n_hosts - 1.0) AS peers_share,
		sqrt(greatest(square_sum - share * share - (share_sum - share) * (share_sum - share) / (n_hosts - 1.0), 0)
			/ (n_hosts - 2.0) * n_hosts / (n_hosts - 1.0)) AS deviation
	FROM shares
), judged AS (
	SELECT event, machine, host, function_no, share, peers_share, n_hosts, skew, (share - peers_share) / deviation AS deviations,
		n_hosts - 2.0 AS freedom, sqrt(2 * ln(count(*) OVER (PARTITION BY event) / 0.01)) AS z
	FROM others
	WHERE deviation > 0 AND peers_share * host_records >= 25
), bounds AS (
	SELECT event, machine, host, function_no, share, peers_share, n_hosts, deviations, skew, z + (z * z * z + z) / (4 * freedom)
		+ (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * freedom * freedom) AS bound
	FROM judged
), ranked AS (
	SELECT event, machine, host, function_no, share, peers_share, n_hosts, deviations,
		row_number() OVER (PARTITION BY event ORDER BY abs(share - peers_share) DESC, host, function_no) AS place_in_event
	FROM bounds
	WHERE abs(deviations) > CASE WHEN deviations < 0 OR skew < 0.01 THEN bound
		ELSE 2 / skew * (power(1 + skew * bound / 6 - skew * skew / 36, 3) - 1) END
), names AS (
	SELECT function_no, max(function) AS function, max(module) AS module
	FROM named
	GROUP BY function_no
)
SELECT r.event AS event, r.host AS host, r.machine AS machine,
	coalesce(n.function, '[unknown]') AS function, coalesce(n.module, '[unknown]') AS module,
	r.share AS share, r.peers_share AS peers_share, r.deviations AS deviations, r.n_hosts - 1 AS peers
FROM ranked AS r
LEFT JOIN names AS n ON n.function_no = r.function_no
WHERE $top = 0 OR r.place_in_event <= $top
ORDER BY r.event, r.place_in_event, function, module
