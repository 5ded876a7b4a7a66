import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseUnavailable } from './core/db.ts';
import { explainStartFailure } from './start-failure.ts';

test('[RUN-2] a database that does not answer is named as the one that was chosen', () => {
  const error = new DatabaseUnavailable('The embedded database did not start.');
  assert.equal(
    explainStartFailure(error, true),
    'The embedded database did not start. See that its disk has room, or use another DATA_DIR.',
  );
  assert.match(explainStartFailure(error, false), /^The database in DATABASE_URL does not answer\./);
});

test('[RUN-2] a port that needs a right is told with the ways to it', () => {
  const error = Object.assign(new Error('listen EACCES: permission denied 0.0.0.0:443'), { code: 'EACCES', port: 443 });
  assert.match(explainStartFailure(error, true), /^Port 443 needs a right .*CAP_NET_BIND_SERVICE.*another PORT\.$/);
});
