-- Who a direct conversation is of, as one value; null for all that were not opened by their people (ADR 0181).
alter table conversations add column direct_key text;
