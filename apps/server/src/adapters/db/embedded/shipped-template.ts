import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

/** Only a published package has it: the folder of a new database in one file, because npm drops empty folders. */
const shippedFolder = fileURLToPath(new URL('../../../../templates', import.meta.url));

/** A path and the length of its content; null for a folder. */
type Entry = [path: string, bytes: number | null];

/** The file that `unpackShipped` reads: what is where, then every content. */
export function packTemplate(folder: string): { name: string; content: Uint8Array } {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  const contents = found.map((entry) =>
    entry.isDirectory() ? null : readFileSync(join(entry.parentPath, entry.name)),
  );
  const entries = found.map(
    ({ parentPath, name }, index): Entry => [
      relative(folder, join(parentPath, name)).replaceAll('\\', '/'),
      contents[index]?.length ?? null,
    ],
  );
  const parts = [Buffer.from(`${JSON.stringify(entries)}\n`), ...contents.filter((content) => content !== null)];
  return { name: fileName(folder), content: gzipSync(Buffer.concat(parts), { level: 6 }) };
}

const fileName = (template: string): string => `${basename(template)}.gz`;

/** Puts a shipped template where templates are looked for. Where that cannot be written, the database is made anew. */
export function unpackShipped(template: string, folder = shippedFolder): void {
  const file = join(folder, fileName(template));
  if (existsSync(template) || !existsSync(file)) return;
  let half: string | null = null;
  try {
    mkdirSync(dirname(template), { recursive: true });
    half = mkdtempSync(join(dirname(template), 'half-template-'));
    unpack(gunzipSync(readFileSync(file)), half);
    renameSync(half, template);
  } catch {
    // A read-only installation; or another start was faster, with the same.
    if (half !== null) rmSync(half, { recursive: true, force: true });
  }
}

function unpack(bytes: Uint8Array, folder: string): void {
  let at = bytes.indexOf(0x0a) + 1;
  const entries: readonly Entry[] = JSON.parse(new TextDecoder().decode(bytes.subarray(0, at)));
  for (const [path, length] of entries) if (length === null) mkdirSync(join(folder, path), { recursive: true });
  for (const [path, length] of entries) {
    if (length === null) continue;
    writeFileSync(join(folder, path), bytes.subarray(at, at + length));
    at += length;
  }
}
