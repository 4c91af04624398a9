import type { Kysely } from 'kysely';
import { runStatements, type Dialect } from '../dialect.ts';

/** Where clocks show midnight twice, a day begins with the first: on PostgreSQL as everywhere else. */
export async function firstMidnight(database: Kysely<unknown>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') await runStatements(database, dialect, FUNCTIONS);
}

const FUNCTIONS = [
  // The first moment at which the clocks of a zone show this time or a later one. They are set at most once in the two days around it.
  `CREATE FUNCTION first_moment(wall TIMESTAMP, zone TEXT) RETURNS TIMESTAMPTZ LANGUAGE plpgsql STABLE AS $$
  DECLARE
    noted TIMESTAMPTZ := wall AT TIME ZONE 'UTC';
    day INTERVAL := '24 hours';
    before TIMESTAMPTZ := noted - ((noted - day) AT TIME ZONE zone - (noted - day) AT TIME ZONE 'UTC');
    after TIMESTAMPTZ := noted - ((noted + day) AT TIME ZONE zone - (noted + day) AT TIME ZONE 'UTC');
  BEGIN
    IF least(before, after) AT TIME ZONE zone >= wall THEN RETURN least(before, after); END IF;
    RETURN greatest(before, after);
  END $$`,

  `CREATE OR REPLACE FUNCTION budget_span(period TEXT, now_ms BIGINT, zone TEXT, OUT start_ms BIGINT, OUT end_ms BIGINT) LANGUAGE plpgsql AS $$
  DECLARE
    first TIMESTAMP;
  BEGIN
    IF period = 'total' THEN start_ms := 0; RETURN; END IF;
    first := date_trunc(period, to_timestamp(now_ms / 1000.0) AT TIME ZONE zone);
    start_ms := extract(epoch FROM first_moment(first, zone)) * 1000;
    end_ms := extract(epoch FROM first_moment(first + ('1 ' || period)::INTERVAL, zone)) * 1000;
  EXCEPTION WHEN invalid_parameter_value THEN
    SELECT utc.start_ms, utc.end_ms INTO start_ms, end_ms FROM budget_span(period, now_ms, 'UTC') AS utc;
  END $$`,
];
