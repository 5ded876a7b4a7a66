import { setFlagsFromString } from 'node:v8';

/** V8's own default: as many as it has threads. */
const tasksMax = 128;

/**
 * V8 optimises the embedded database's WebAssembly on every thread it has, and that is half of the processor time of a
 * start. One thread is enough until the service is ready; what is queued then is compiled as before. Gives what ends it.
 */
export function deferWasmCompilation(): () => void {
  setFlagsFromString('--wasm-num-compilation-tasks=1');
  return () => setFlagsFromString(`--wasm-num-compilation-tasks=${tasksMax}`);
}
