/**
 * Runs after `npm install`: does once what the first start would otherwise do itself, more slowly. The start needs none
 * of it.
 */
import { keepCompiled } from './compile-cache.ts';

keepCompiled();
const { prepareTemplates } = await import('./adapters/db/embedded/prepare-templates.ts');
await prepareTemplates();
// Loaded once, they are kept compiled.
await Promise.all([import('./start.ts'), import('./serve.ts')]);
