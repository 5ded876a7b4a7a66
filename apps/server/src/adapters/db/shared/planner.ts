/**
 * How a session plans, on either database. Going to a row costs hardly more than reading the next one: what we read is in
 * memory or on a disk without a head. PostgreSQL's own default (4) is of another time, and on a table that is still
 * small it makes a statement read all of it, for as long as that plan lasts (ADR 18).
 *
 * Nothing is compiled. PostgreSQL does that where a plan looks expensive, as those with branches that are rarely taken do:
 * 200 ms for a statement that takes one (ADR 224).
 */
export const planner = { random_page_cost: 1.1, jit: 'off' };
