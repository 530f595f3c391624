-- SPDX-License-Identifier: Apache-2.0
-- What was collected, day by day and by type of machine, and what that rests on. sampled_share: time that was sampled, of
-- the day of the hosts that were sampled at all. days_of_file: captures without a wall clock. twice: collections that do not count, because their capture counts already.
WITH every AS (
	SELECT day, coalesce(machine, '[unknown]') AS machine, host, duration_ns, records, lost_events + lost_samples AS lost,
		truncated_buffers, damaged_bytes, is_modelled, start_basis, schema_version,
		CASE WHEN row_number() OVER (PARTITION BY capture ORDER BY collected_ns, day, part) = 1 THEN 1 ELSE 0 END AS is_counted
	FROM captures
), days AS (
	SELECT day, machine, count(DISTINCT CASE WHEN is_counted = 1 THEN host END) AS hosts, sum(is_counted) AS captures,
		sum(is_counted * duration_ns) AS sampled_ns, sum(is_counted * records) AS records, sum(is_counted * lost) AS lost,
		sum(CASE WHEN is_counted = 1 AND lost + truncated_buffers > 0 THEN 1 ELSE 0 END) AS captures_with_losses,
		sum(CASE WHEN is_counted = 1 AND damaged_bytes > 0 THEN 1 ELSE 0 END) AS captures_damaged,
		sum(CASE WHEN is_counted = 1 AND is_modelled THEN 1 ELSE 0 END) AS captures_modelled, sum(1 - is_counted) AS twice,
		sum(CASE WHEN is_counted = 1 AND start_basis = 'file' THEN 1 ELSE 0 END) AS days_of_file,
		min(schema_version) AS oldest_schema, max(schema_version) AS newest_schema
	FROM every
	WHERE ($machine = '' OR machine = $machine) AND ($host = '' OR host = $host)
		AND ($first_day = '' OR day >= $first_day) AND ($last_day = '' OR day <= $last_day)
	GROUP BY day, machine
)
SELECT day, machine, hosts, captures, sampled_ns, CAST(sampled_ns AS DOUBLE) / nullif(hosts, 0) / 86400e9 AS sampled_share,
	records, lost, captures_with_losses, captures_damaged, captures_modelled, days_of_file, twice, oldest_schema, newest_schema
FROM days
ORDER BY day, machine
