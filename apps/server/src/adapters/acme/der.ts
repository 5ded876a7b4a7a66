/** DER (X.690): a tag, a length, a content. Only what certificates and requests for them are made of. */
function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const hex = bytes.toString(16);
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

export const sequence = (...parts: Uint8Array[]): Buffer => element(0x30, ...parts);
export const set = (...parts: Uint8Array[]): Buffer => element(0x31, ...parts);
export const octets = (content: Uint8Array): Buffer => element(0x04, content);
export const bits = (content: Uint8Array): Buffer => element(0x03, Buffer.from([0]), content);
export const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text));
export const yes = Buffer.from([0x01, 0x01, 0xff]);
/** Of its encoded form. */
export const oid = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));
/** Positive: its first bit is 0. */
export const integer = (bytes: Uint8Array): Buffer => element(0x02, bytes);
/** `[number]` around other elements. */
export const tagged = (number: number, ...parts: Uint8Array[]): Buffer => element(0xa0 | number, ...parts);
/** `[number]` in place of the tag of a text. */
export const taggedText = (number: number, text: string): Buffer => element(0x80 | number, Buffer.from(text, 'latin1'));

/** With two digits for the year before 2050, as RFC 5280 wants it. */
export function time(epochMs: number): Buffer {
  const date = new Date(epochMs);
  const digits = `${date.toISOString().replace(/\.\d+|[-:T]/g, '')}`;
  const text = date.getUTCFullYear() < 2050 ? digits.slice(2) : digits;
  return element(date.getUTCFullYear() < 2050 ? 0x17 : 0x18, Buffer.from(text, 'latin1'));
}
