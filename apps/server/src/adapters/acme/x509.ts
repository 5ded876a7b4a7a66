import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { CertificateMaker } from '../../core/ports.ts';
import { bits, integer, octets, oid, sequence, set, tagged, taggedText, time, utf8, yes } from './der.ts';

const oids = {
  ecdsaWithSha256: oid('2a8648ce3d040302'),
  commonName: oid('550403'),
  subjectAltName: oid('551d11'),
  extensionRequest: oid('2a864886f70d01090e'),
  acmeIdentifier: oid('2b0601050507011f'),
};
const algorithm = sequence(oids.ecdsaWithSha256);

/** P-256, which every client takes and every authority signs. */
export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

export const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const publicKeyOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });
const commonName = (text: string): Buffer => sequence(set(sequence(oids.commonName, utf8(text))));
const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, octets(value));
const nameExtension = (name: string): Buffer => extension(oids.subjectAltName, sequence(taggedText(2, name)));

/** What is signed, with its signature: the outer form of certificates and of requests for them. */
const signed = (content: Buffer, key: KeyObject): Buffer =>
  sequence(content, algorithm, bits(sign('sha256', content, key)));

/** A request for a certificate of a name (PKCS #10), in DER. */
export function certificateRequest(name: string, key: KeyObject): Buffer {
  const extensions = sequence(oids.extensionRequest, set(sequence(nameExtension(name))));
  // No subject: the name that counts is among the extensions.
  return signed(sequence(integer(Buffer.from([0])), sequence(), publicKeyOf(key), tagged(0, extensions)), key);
}

interface SelfSigned {
  name: string;
  /** What people see as its subject. */
  title: string;
  key: KeyObject;
  from: number;
  until: number;
  extensions?: readonly Buffer[];
}

function selfSigned({ name, title, key, from, until, extensions = [] }: SelfSigned): string {
  const serial = randomBytes(16);
  // Positive, and without a leading zero.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const content = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    commonName(title),
    sequence(time(from), time(until)),
    commonName(title),
    publicKeyOf(key),
    tagged(3, sequence(nameExtension(name), ...extensions)),
  );
  return pem(signed(content, key));
}

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

const dayMs = 86_400_000;

/** Tells a client that there is none yet; nobody trusts it. */
function standIn(name: string, now: number): { cert: string; key: string } {
  const key = newKey();
  const title = 'No certificate has been issued yet';
  return { cert: selfSigned({ name, title, key, from: now - dayMs, until: now + 365 * dayMs }), key: pemOf(key) };
}

/** Proves a name by tls-alpn-01 (RFC 8737): it carries the digest of the key authorization. */
function proof(name: string, digest: Buffer, now: number): { cert: string; key: string } {
  const key = newKey();
  const identifier = sequence(oids.acmeIdentifier, yes, octets(octets(digest)));
  const title = 'ACME validation';
  const cert = selfSigned({ name, title, key, from: now - dayMs, until: now + dayMs, extensions: [identifier] });
  return { cert, key: pemOf(key) };
}

export const certificateMaker: CertificateMaker = { newKey: () => pemOf(newKey()), standIn, proof };
