import assert from 'node:assert/strict';
import { test } from 'node:test';
import { narrowingsIn } from './check-migrations.ts';

test('[UPG-4] a migration that takes away what the version before uses is refused, unless it says since when nothing does', () => {
  const refused = [
    'drop table halls;',
    'alter table rooms drop column name;',
    'alter table rooms drop name;',
    'alter table rooms rename to halls;',
    'alter table rooms rename column name to title;',
    'alter table rooms alter column name type varchar(8);',
    'alter table rooms alter name set not null;',
    'alter table rooms add title text not null;',
    'alter table rooms add column title text not null check (length(title) > 0);',
    'alter table rooms add constraint short check (length(name) < 9);',
    'create unique index rooms_name on rooms (name);',
  ];
  for (const text of refused) {
    assert.equal(narrowingsIn(text).length, 1, text);
    assert.deepEqual(narrowingsIn(`-- contract: nothing since 0.2.0 uses it\n${text}`), [], text);
    assert.equal(narrowingsIn(`-- contract: nobody needs it\n${text}`).length, 1, text);
  }
  const allowed = [
    'create table halls (id text primary key, name text not null, unique (name)); create unique index halls_name on halls (name);',
    'alter table rooms add title text;',
    "alter table rooms add title text not null default '';",
    'create index rooms_name on rooms (name);',
    'alter table rooms drop constraint short;',
    'drop index rooms_name;',
    'alter table rooms alter name drop not null;',
    '-- drop table halls comes later\nselect 1;',
  ];
  for (const text of allowed) assert.deepEqual(narrowingsIn(text), [], text);
});
