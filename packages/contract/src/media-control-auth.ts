/**
 * How control plane and node prove to each other that they know SFU_REGISTRATION_SECRET, without sending it. The control
 * plane: `Authorization: Bearer v1.<seconds>.<nonce>.<hex hmac>`, fresh for each connection and bound to one node by
 * name. The node: `proof` in its hello, over that nonce, its name and its instance.
 */
const SKEW_SECONDS_MAX = 60;
const MAC = /^[0-9a-f]{64}$/;
const TOKEN = /^v1\.(\d{1,12})\.([A-Za-z0-9_-]{16,64})\.([0-9a-f]{64})$/;

export async function signMediaControl(secret: string, node: string, nowMs: number, nonce: string): Promise<string> {
  const seconds = Math.floor(nowMs / 1000);
  const mac = await crypto.subtle.sign('HMAC', await keyOf(secret), claim(node, seconds, nonce));
  return `v1.${seconds}.${nonce}.${hex(new Uint8Array(mac))}`;
}

/** The nonce when the token is good for this node and time; the caller refuses a nonce that it saw before. */
export async function verifyMediaControl(
  secret: string,
  node: string,
  nowMs: number,
  token: string,
): Promise<string | null> {
  const [, seconds, nonce, mac] = TOKEN.exec(token) ?? [];
  if (seconds === undefined || nonce === undefined || mac === undefined) return null;
  if (Math.abs(nowMs / 1000 - Number(seconds)) > SKEW_SECONDS_MAX) return null;
  return (await isSigned(secret, mac, claim(node, Number(seconds), nonce))) ? nonce : null;
}

/** What a node answers to the nonce of a token that it verified with this secret. */
export async function proveMediaNode(secret: string, node: string, instanceId: string, nonce: string): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', await keyOf(secret), answer(node, instanceId, nonce));
  return hex(new Uint8Array(mac));
}

export const verifyMediaNode = async (
  secret: string,
  node: string,
  instanceId: string,
  nonce: string,
  proof: string,
): Promise<boolean> => MAC.test(proof) && isSigned(secret, proof, answer(node, instanceId, nonce));

async function isSigned(secret: string, mac: string, text: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(mac.slice(index * 2, index * 2 + 2), 16));
  // WebCrypto compares in constant time.
  return crypto.subtle.verify('HMAC', await keyOf(secret), bytes, text);
}

const keyOf = (secret: string) =>
  crypto.subtle.importKey('raw', encode(`media-control:${secret}`), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);

/** Of another shape than a claim, so that neither side can use what the other said. */
const answer = (node: string, instanceId: string, nonce: string) => encode(`node\n${node}\n${instanceId}\n${nonce}`);
const claim = (node: string, seconds: number, nonce: string) => encode(`${node}\n${seconds}\n${nonce}`);
const encode = (text: string) => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
