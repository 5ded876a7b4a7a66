/** One worker of the tests: its files, once `node:test` is loaded as they need it. */
import './test-scope.ts';

await import('./worker-files.ts');
