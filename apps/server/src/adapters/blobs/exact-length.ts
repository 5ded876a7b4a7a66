import { type Readable, Transform } from 'node:stream';
import { BlobSizeMismatch } from '../../core/ports.ts';

/** For bytes that are not read yet: where their sender breaks off before, the read fails, and not the process. */
export function deferErrors(content: Readable): Readable {
  return content.on('error', () => {});
}

/**
 * Lets exactly `size` bytes through. It stops at the first byte too many, and holds the newest chunk back until the
 * next one or the end: a store that waits for `size` bytes must not have them all before we know that no more follow.
 */
export function exactly(size: number): Transform {
  let seen = 0;
  let held: Buffer | null = null;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length;
      if (seen > size) return done(new BlobSizeMismatch(`more than ${size} bytes`));
      const passed = held;
      held = chunk;
      done(null, passed);
    },
    flush(done) {
      if (seen === size) done(null, held);
      else done(new BlobSizeMismatch(`${seen} bytes instead of ${size}`));
    },
  });
}
