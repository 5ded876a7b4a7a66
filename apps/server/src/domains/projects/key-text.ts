import { crc32 } from 'node:zlib';
import { type Environment, environmentTags } from '@parley/contract';
import { base62Of, randomBase62 } from '../../core/ids.ts';

const checksumLength = 6;
const secretLength = 43;

const pattern = /^svk_(dev|prod)_([A-Za-z0-9]{16})\.([A-Za-z0-9]{43})$/;

const checksumOf = (text: string): string => base62Of(crc32(text), checksumLength);

/** A new key: 220 random bits, then a checksum of everything before it, by which scanners tell a key from what looks like one. */
export function newKeyText(environment: Environment): { publicId: string; secret: string; key: string } {
  const publicId = randomBase62(16);
  const random = randomBase62(secretLength - checksumLength);
  const head = `svk_${environmentTags[environment]}_${publicId}.`;
  const secret = random + checksumOf(head + random);
  return { publicId, secret, key: head + secret };
}

/** The parts of what may be a key. Keys made before there was a checksum have none, so it is not asked for here. */
export function readKeyText(key: string): { tag: string; publicId: string; secret: string } | null {
  const [, tag, publicId, secret] = pattern.exec(key) ?? [];
  return tag !== undefined && publicId !== undefined && secret !== undefined ? { tag, publicId, secret } : null;
}
