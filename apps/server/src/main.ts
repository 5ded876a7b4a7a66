import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from './adapters/db/template.ts';

// In our own folder: in the system's shared one anybody could lay down what we would run.
enableCompileCache(join(cacheFolder(), 'compiled'));
// Only what is loaded from here on comes out of the cache.
await import('./serve.ts');
