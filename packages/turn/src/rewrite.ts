import type { Address } from './addresses.ts';
import { addFingerprint, isSigned, sign } from './integrity.ts';
import {
  ATTRIBUTE,
  decodeStun,
  encodeStun,
  findText,
  METHOD,
  type NewAttribute,
  type StunAttribute,
  type StunMessage,
  xorAddress,
} from './stun.ts';

/** The preference of a relayed candidate (RFC 8445 5.1.2.2), in the first byte of a priority. */
const RELAYED_PREFERENCE = 0;
/** No check is as long; a longer message would not fit after it has been rewritten. */
const CHECK_BYTES_MAX = 2048;
const TIE_BREAKER_BYTES = 8;

/**
 * A connectivity check on its way to the media process, as that process needs it. Chromium sends the tie-breaker 0 over
 * TCP relays, which libjuice answers with 400 (its issue 355). And browsers put a priority of the same kind into all
 * their checks, which are all that the node learns of them: the relayed one is made lower, so that a direct path wins.
 * Anything else, and whatever is not signed with this password, passes as it is.
 */
export function rewriteCheck(bytes: Buffer, tieBreaker: Buffer, passwordOf: (ufrag: string) => string): Buffer {
  if (bytes.length > CHECK_BYTES_MAX) return bytes;
  const message = decodeStun(bytes);
  if (message?.class !== 'request' || message.method !== METHOD.binding) return bytes;
  const ufrag = findText(message, ATTRIBUTE.username)?.split(':', 1)[0] ?? '';
  const password = passwordOf(ufrag);
  if (!isSigned(bytes, message, password)) return bytes;
  return signedAnew(message, password, (attribute) => rewritten(attribute, tieBreaker));
}

/**
 * The answer to a check on its way to the client. The media process sees the relay on this machine's loopback, which
 * Firefox takes for a bogus answer; a peer elsewhere would have seen the relayed address.
 */
export function rewriteAnswer(bytes: Buffer, relayed: Address, password: string): Buffer {
  if (bytes.length > CHECK_BYTES_MAX) return bytes;
  const message = decodeStun(bytes);
  if (message?.class !== 'success' || message.method !== METHOD.binding) return bytes;
  if (!isSigned(bytes, message, password)) return bytes;
  return signedAnew(message, password, ({ type, value }) => [
    type,
    type === ATTRIBUTE.mappedAddress ? xorAddress(relayed, message.transactionId) : value,
  ]);
}

function signedAnew(message: StunMessage, password: string, mend: (one: StunAttribute) => NewAttribute): Buffer {
  const attributes = message.attributes
    .filter(({ type }) => type !== ATTRIBUTE.messageIntegrity && type !== ATTRIBUTE.fingerprint)
    .map(mend);
  return addFingerprint(sign(encodeStun(message, attributes), password));
}

function rewritten({ type, value }: StunAttribute, tieBreaker: Buffer): NewAttribute {
  const isTieBreaker = type === ATTRIBUTE.iceControlled || type === ATTRIBUTE.iceControlling;
  if (isTieBreaker && value.length === TIE_BREAKER_BYTES && value.every((byte) => byte === 0))
    return [type, tieBreaker];
  if (type === ATTRIBUTE.priority && value.length === 4)
    return [type, Buffer.from([RELAYED_PREFERENCE, ...value.subarray(1)])];
  return [type, value];
}
