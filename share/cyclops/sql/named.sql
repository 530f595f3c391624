-- SPDX-License-Identifier: Apache-2.0
-- Names of places. A place may have several rows, where names came later or collectors wrote it at the same time: what any
-- of them knows counts. function_no: a number for each function of a module, whatever its build.
CREATE VIEW named AS
SELECT place, build_id, module, function, min(place) OVER (PARTITION BY module, function) AS function_no
FROM (
	SELECT place, max(build_id) AS build_id, coalesce(max(module), '[unknown]') AS module,
		coalesce(max(function), '[unknown]') AS function
	FROM symbols
	GROUP BY place) AS places
