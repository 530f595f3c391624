-- SPDX-License-Identifier: Apache-2.0
-- What an answer rests on, in one row.
SELECT count(*) AS captures, count(DISTINCT host_no) AS hosts, min(day) AS first_day, max(day) AS last_day,
	sum(records) AS records, sum(CASE WHEN is_modelled THEN 1 ELSE 0 END) AS modelled,
	sum(CASE WHEN lost_events + lost_samples + truncated_buffers > 0 THEN 1 ELSE 0 END) AS with_losses,
	sum(is_unscaled) AS unscaled
FROM counted
