import { keepCompiled } from './compile-cache.ts';

// First of all: what is loaded after it is found compiled.
keepCompiled();
const { start } = await import('./start.ts');
await start(process.env);
