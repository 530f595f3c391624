-- SPDX-License-Identifier: Apache-2.0
-- What counters counted, by event, and as rates of the same capture and mode (user, kernel, all): instructions per cycle, other
-- events per 1000 instructions and per cycle. Rates are ratios of two sums over hosts, with half of the 95 % interval from how hosts differ. An event that a capture
-- counted several times, in several groups, is their mean; a capture with several events of cycles has no rates.
WITH counters AS (
	SELECT part, event, mode, counter, max(kind) AS kind, CAST(sum(scaled) AS DOUBLE) AS amount,
		sum(enabled_ns) AS enabled_ns, sum(running_ns) AS running_ns
	FROM counts
	GROUP BY part, event, mode, counter
), events AS (
	SELECT part, event, mode, max(kind) AS kind, avg(amount) AS amount, sum(enabled_ns) AS enabled_ns,
		sum(running_ns) AS running_ns
	FROM counters
	GROUP BY part, event, mode
), bases AS (
	SELECT part, mode, max(CASE WHEN kind = 'cycles' THEN amount END) AS cycles,
		max(CASE WHEN kind = 'instructions' THEN amount END) AS instructions,
		sum(CASE WHEN kind = 'cycles' THEN 1 ELSE 0 END) AS n_cycles,
		sum(CASE WHEN kind = 'instructions' THEN 1 ELSE 0 END) AS n_instructions
	FROM events
	GROUP BY part, mode
), host_sums AS (
	SELECT coalesce(c.machine, '[unknown]') AS machine, CASE WHEN $by = 'host' THEN c.host ELSE '' END AS host,
		CASE WHEN $by = 'day' THEN c.day ELSE '' END AS day, e.event AS event, c.host_no AS host_no, count(*) AS captures, max(e.kind) AS kind,
		sum(e.amount) AS amount, sum(e.enabled_ns) AS enabled_ns, sum(e.running_ns) AS running_ns,
		sum(CASE WHEN b.n_cycles = 1 AND b.cycles > 0 THEN e.amount ELSE 0 END) AS of_cycles,
		sum(CASE WHEN b.n_cycles = 1 AND e.amount >= 0 THEN b.cycles ELSE 0 END) AS cycles,
		sum(CASE WHEN b.n_instructions = 1 AND b.instructions > 0 THEN e.amount ELSE 0 END) AS of_instructions,
		sum(CASE WHEN b.n_instructions = 1 AND e.amount >= 0 THEN b.instructions ELSE 0 END) AS instructions
	FROM events AS e
	JOIN bases AS b ON b.part = e.part AND b.mode = e.mode
	JOIN counted AS c ON c.part = e.part
	WHERE $event = '' OR e.event = $event
	GROUP BY coalesce(c.machine, '[unknown]'), CASE WHEN $by = 'host' THEN c.host ELSE '' END,
		CASE WHEN $by = 'day' THEN c.day ELSE '' END, e.event, c.host_no
), sums AS (
	SELECT machine, host, day, event, max(kind) AS kind, sum(amount) AS amount, sum(captures) AS captures, count(*) AS hosts, count(*) - 1.0 AS freedom,
		CAST(sum(running_ns) AS DOUBLE) / nullif(sum(enabled_ns), 0) AS running,
		nullif(sum(cycles), 0) AS cycles, sum(of_cycles) AS of_cycles, sum(of_cycles * of_cycles) AS cycle_squares,
		sum(of_cycles * cycles) AS cycle_products, sum(cycles * cycles) AS cycle_base_squares,
		nullif(sum(instructions), 0) AS instructions, sum(of_instructions) AS of_instructions,
		sum(of_instructions * of_instructions) AS instruction_squares,
		sum(of_instructions * instructions) AS instruction_products,
		sum(instructions * instructions) AS instruction_base_squares
	FROM host_sums
	GROUP BY machine, host, day, event
), rates AS (
	SELECT machine, host, day, event, kind, amount, captures, hosts, running, of_cycles / cycles AS per_cycle,
		CASE WHEN freedom >= 3 THEN (1.96 + 2.372 / freedom + 2.823 / (freedom * freedom)) * sqrt(greatest(cycle_squares
			- 2 * of_cycles / cycles * cycle_products + of_cycles / cycles * of_cycles / cycles * cycle_base_squares, 0)
			* (freedom + 1) / freedom) / cycles END AS per_cycle_error,
		1000 * of_instructions / instructions AS pki,
		CASE WHEN freedom >= 3 THEN 1000 * (1.96 + 2.372 / freedom + 2.823 / (freedom * freedom)) * sqrt(greatest(
			instruction_squares - 2 * of_instructions / instructions * instruction_products
			+ of_instructions / instructions * of_instructions / instructions * instruction_base_squares, 0)
			* (freedom + 1) / freedom) / instructions END AS pki_error
	FROM sums
)
SELECT machine, host, day, event, amount AS events, CASE WHEN kind = 'instructions' THEN per_cycle END AS ipc,
	CASE WHEN kind = 'instructions' THEN per_cycle_error END AS ipc_error,
	CASE WHEN kind IS NULL THEN pki END AS pki, CASE WHEN kind IS NULL THEN pki_error END AS pki_error,
	CASE WHEN kind IS NULL THEN per_cycle END AS per_cycle,
	CASE WHEN kind IS NULL THEN per_cycle_error END AS per_cycle_error, running, hosts, captures
FROM rates
ORDER BY machine, day, host, event
