import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { Environment } from '@parley/contract';
import { base32, pooledBytes } from '../../src/core/ids.ts';
import type { TestProject } from '../kit/people.ts';
import { JoinRefused, joinRoom } from './signal-client.ts';
import { openSocket } from './socket-client.ts';

/** A secret of a project for HS256. */
export async function newSecret({ id, owner }: TestProject, environment: Environment = 'DEVELOPMENT'): Promise<string> {
  const body = { name: 'backend', environment, algorithm: 'HS256' as const };
  return (await owner.api.call('createSigningKey', { projectId: id, body })).key ?? '';
}

export const pairOf = {
  EdDSA: () => generateKeyPairSync('ed25519'),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
} as const;

export const pemOf = (publicKey: KeyObject): string => publicKey.export({ type: 'spki', format: 'pem' }).toString();

interface KeyPair {
  id: string;
  privateKey: KeyObject;
}

/** A registered pair. */
export async function newPair({ id: projectId, owner }: TestProject, algorithm: keyof typeof pairOf): Promise<KeyPair> {
  const { publicKey, privateKey } = pairOf[algorithm]();
  const body = { name: 'pair', algorithm, publicKey: pemOf(publicKey) };
  const { id } = await owner.api.call('createSigningKey', { projectId, body });
  return { id, privateKey };
}

export const idOf = (key: string): string => key.split('.')[0] ?? '';
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT by hand, as no SDK would make it. */
export function forge(key: string, header: object, claims: object, hash = 'sha256'): string {
  const [kid, secret = ''] = key.split('.');
  const signed = `${part({ alg: 'HS256', kid, ...header })}.${part(claims)}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`;
}

/** The same with the private half of a pair. */
export function forgeWithPair({ id, privateKey }: KeyPair, header: object, claims: object): string {
  const signed = `${part({ alg: 'EdDSA', kid: id, ...header })}.${part(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

export const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

export const secondsOf = (clock: { now(): number } = Date): number => Math.floor(clock.now() / 1000);

/** Another id each time, as the documents describe it. */
export const newTokenId = (prefix: 'rtk_' | 'ctk_'): string => prefix + base32(pooledBytes(15));

const times = () => ({ iat: secondsOf(), exp: secondsOf() + 60 });
export const rtcClaims = (room: string, more: object = {}) => ({
  sub: 'ada',
  room,
  jti: newTokenId('rtk_'),
  ...times(),
  ...more,
});
export const chatClaims = (more: object = {}) => ({ sub: 'ada', jti: newTokenId('ctk_'), ...times(), ...more });

/** Headers of the two families. */
export const rtc = { typ: 'rtc+jwt' };
export const chat = { typ: 'chat+jwt' };

/** The code with which a token was refused at the signaling socket. */
export async function refusalOf({ url }: { url: string }, token: string): Promise<unknown> {
  const error = await joinRoom(url, token).catch((reason: unknown) => reason);
  assert.ok(error instanceof JoinRefused, `the join was accepted, or failed otherwise: ${error}`);
  return error.frame['code'];
}

/** The same at the chat socket. */
export async function chatRefusalOf({ url }: { url: string }, token: string): Promise<string> {
  const socket = await openSocket(`${url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${token}`] });
  return (await socket.whenClosed()).reason;
}
