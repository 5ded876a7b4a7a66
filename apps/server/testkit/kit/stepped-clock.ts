/**
 * Loaded before a server (`--import`): its wall clock is off by as many milliseconds as the file at STEPPED_CLOCK says,
 * read again at each SIGUSR2; what its clock shows then is written beside it. Timers and the monotonic clock go on as they do when a machine's clock is set.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const file = process.env['STEPPED_CLOCK'];
const SystemDate = Date;
let offMs = 0;

if (file !== undefined) {
  process.on('SIGUSR2', () => {
    offMs = Number(readFileSync(file, 'utf8'));
    writeFileSync(`${file}.shown`, new Date().toISOString());
  });
  globalThis.Date = class extends SystemDate {
    constructor(...given: [] | [value: number | string | Date]) {
      super(...((given.length === 0 ? [SystemDate.now() + offMs] : given) as [number]));
    }

    static override now(): number {
      return SystemDate.now() + offMs;
    }
  } as DateConstructor;
}
