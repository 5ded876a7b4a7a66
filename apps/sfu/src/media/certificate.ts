import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** What a transport proves itself with in DTLS. */
export interface Certificate {
  certificatePem: string;
  keyPem: string;
  /** `sha-256 AB:CD:…`, as signaled to peers. */
  fingerprint: string;
}

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const VERSION_TAG = 0xa0;
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const DAY_MS = 86_400_000;
/** Longer than any process lives; peers check the fingerprint, not the dates. */
const VALID_DAYS = 3650;

/** One DER value: tag, length, content. */
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

const time = (ms: number): Buffer =>
  der(UTC_TIME, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

/**
 * A self-signed certificate (RFC 5280) on P-256. Node makes keys but no certificates, and the media library has the
 * fingerprint of its own only once a transport listens, which is too early: see `PeerTransport.offer`.
 */
export function createCertificate(now: number): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serial = randomBytes(16);
  // Positive, and without a leading zero byte.
  serial[0] = (serial.readUInt8(0) & 0x7f) | 0x40;
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from('parley')))));
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const body = der(
    SEQUENCE,
    der(VERSION_TAG, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, serial),
    algorithm,
    name,
    der(SEQUENCE, time(now - DAY_MS), time(now + VALID_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = der(SEQUENCE, body, algorithm, der(BIT_STRING, Buffer.from([0]), signature));
  return {
    certificatePem: toPem('CERTIFICATE', certificate),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    fingerprint: fingerprintOf(certificate),
  };
}

function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function fingerprintOf(certificate: Buffer): string {
  const digest = createHash('sha256').update(certificate).digest('hex').toUpperCase();
  return `sha-256 ${digest.match(/../g)?.join(':')}`;
}
