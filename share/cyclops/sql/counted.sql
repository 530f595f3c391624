-- SPDX-License-Identifier: Apache-2.0
-- What the questions are asked of: captures, each once. A capture that was collected twice, perhaps under two days because
-- its host's clock was put right between, counts as it was collected first. A part without a row in captures was not
-- collected to its end and does not count. host_no: a number for each host. spe_scale: operations that an SPE record stands
-- for, so that captures with long intervals weigh as much as others; 1 where any capture does not tell its interval.
CREATE TABLE counted AS
SELECT part, capture, host, day, machine, build_ids, start_ns, duration_ns, records, sample_rows, lost_events, lost_samples,
	truncated_buffers, damaged_bytes, is_modelled, schema_version, min(part) OVER (PARTITION BY host) AS host_no,
	CASE WHEN sum(CASE WHEN spe_records > 0 AND spe_interval IS NULL THEN 1 ELSE 0 END) OVER () = 0
		THEN coalesce(spe_interval, 1) ELSE 1 END AS spe_scale,
	CASE WHEN spe_records > 0 AND spe_interval IS NULL THEN 1 ELSE 0 END AS is_unscaled
FROM (
	SELECT part, capture, host, day, machine, build_ids, start_ns, duration_ns, records, sample_rows, lost_events,
		lost_samples, truncated_buffers, damaged_bytes, is_modelled, schema_version, spe_records, spe_interval,
		row_number() OVER (PARTITION BY capture ORDER BY collected_ns, day, part) AS turn
	FROM captures) AS every
WHERE turn = 1 AND ($machine = '' OR machine = $machine) AND ($host = '' OR host = $host)
	AND ($first_day = '' OR day >= $first_day) AND ($last_day = '' OR day <= $last_day)
