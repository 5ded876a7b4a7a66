import { keepCompiled } from './compile-cache.ts';
import { followParent } from './follow-parent.ts';

// First of all: what is loaded after it is found compiled.
keepCompiled();
followParent(process.env, () => process.kill(process.pid, 'SIGTERM'));
const { start } = await import('./start.ts');
await start(process.env);
