import { fail } from '@parley/contract';

/** How deep a body or frame may nest; metadata has its own, lower bound. */
export const bodyDepthMax = 64;
const metadataDepthMax = 32;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The one way bytes from outside become values: REST bodies, both sockets, telemetry. Refuses what `JSON.parse` lets
 * through and something behind it chokes on: deep nesting, NUL, lone surrogates, `__proto__` keys, invalid UTF-8.
 */
export function readJson(bytes: Uint8Array | string, depthMax = bodyDepthMax): unknown {
  const text = typeof bytes === 'string' ? bytes : decode(bytes);
  assertDepth(text, depthMax);
  const value = parse(text);
  // Only an escape can smuggle these in: well-formed UTF-8 has no lone surrogate and JSON no raw NUL.
  if (text.includes('\\u') || text.includes('__proto__')) assertClean(value);
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return fail('SVC_INVALID_JSON', { message: 'The body is not valid UTF-8.' });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail('SVC_INVALID_JSON');
  }
}

const quote = 0x22;
const backslash = 0x5c;

/** One pass over the text, before any parser recurses into it. */
function assertDepth(text: string, depthMax: number): void {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === backslash) at++;
      else if (code === quote) isInString = false;
    } else if (code === quote) isInString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > depthMax) fail('SVC_INVALID_JSON', { message: `The JSON nests deeper than ${depthMax} levels.` });
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
}

function assertClean(value: unknown): void {
  if (typeof value === 'string') assertCleanText(value);
  else if (Array.isArray(value)) value.forEach(assertClean);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      if (name === '__proto__') fail('SVC_INVALID_JSON', { message: 'The JSON has a key named __proto__.' });
      assertCleanText(name);
      assertClean(inner);
    }
  }
}

function assertCleanText(text: string): void {
  if (text.includes('\u0000')) fail('SVC_INVALID_JSON', { message: 'The JSON has a NUL character in a string.' });
  if (!text.isWellFormed()) fail('SVC_INVALID_JSON', { message: 'The JSON has half a surrogate pair in a string.' });
}

/** Developer metadata: nested at most 32 deep and at most `bytesMax` bytes as JSON. Gives back that JSON. */
export function metadataJson(metadata: unknown, bytesMax: number): string {
  const text = JSON.stringify(metadata);
  const actual = Buffer.byteLength(text);
  if (actual > bytesMax) fail('SVC_METADATA_TOO_LARGE', { limit: bytesMax, actual });
  assertDepth(text, metadataDepthMax);
  return text;
}
