import module from 'node:module';
import { join } from 'node:path';
import { cacheFolder } from './adapters/db/embedded/template.ts';

/**
 * What is loaded from here on is compiled once for all starts: here, in the threads and in the processes begun after it.
 * It is kept in our own folder: in the system's shared one another user could plant code that we would run.
 */
export function keepCompiled(): void {
  const folder = join(cacheFolder(), 'compiled');
  // Node 20 has none.
  module.enableCompileCache?.(folder);
  process.env['NODE_COMPILE_CACHE'] ??= folder;
}
