import { nodeCrypto } from './node-crypto.ts';

/**
 * HMAC-SHA256 that answers at once on every runtime. WebCrypto has only a promise to offer, and `verifyWebhook` is to
 * be as plain as `JSON.parse`; where the runtime has Node's own, that one is used.
 */
export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const native = nodeCrypto();
  return native
    ? new Uint8Array(native.createHmac('sha256', key).update(message).digest())
    : portableHmacSha256(key, message);
}

const blockBytes = 64;

export function portableHmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  const block = new Uint8Array(blockBytes);
  block.set(key.length > blockBytes ? sha256(key) : key);
  const inner = sha256(
    joined(
      block.map((byte) => byte ^ 0x36),
      message,
    ),
  );
  return sha256(
    joined(
      block.map((byte) => byte ^ 0x5c),
      inner,
    ),
  );
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** FIPS 180-4: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const rounds = primes(64).map((prime) => fraction(Math.cbrt(prime)));
/** … and of the square roots of the first eight. */
const start = primes(8).map((prime) => fraction(Math.sqrt(prime)));

function primes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found;
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

function sha256(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / blockBytes) * blockBytes);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(padded.length - 4, message.length << 3);

  const state = Int32Array.from(start);
  const words = new Int32Array(64);
  for (let at = 0; at < padded.length; at += blockBytes) {
    for (let index = 0; index < 16; index++) words[index] = view.getInt32(at + index * 4);
    mix(state, words);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  state.forEach((word, index) => {
    out.setInt32(index * 4, word);
  });
  return digest;
}

/** One block. The standard's own letters. */
function mix(state: Int32Array, w: Int32Array): void {
  const at = (index: number): number => w[index] ?? 0;
  for (let t = 16; t < 64; t++) {
    const [x, y] = [at(t - 15), at(t - 2)];
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[t] = (at(t - 16) + s0 + at(t - 7) + s1) | 0;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < 64; t++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + s1 + ((e & f) ^ (~e & g)) + (rounds[t] ?? 0) + at(t)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = ((state[index] ?? 0) + word) | 0;
  });
}
