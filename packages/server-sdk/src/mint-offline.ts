import type { RtcTokenPermissionsDto } from '@parley/contract/types.gen';
import { SvcError } from './errors.ts';
import { type SigningKey, signToken, signTokenAsync } from './signing.ts';

export type { SigningKey } from './signing.ts';

export interface OfflineRtcToken {
  token: string;
  /** By which it can be revoked. */
  tokenId: string;
  tokenType: 'Bearer';
  expiresAt: string;
  expiresIn: number;
  room: string;
  participantIdentity: string;
}

export interface OfflineChatToken {
  token: string;
  /** By which it can be revoked. */
  tokenId: string;
  tokenType: 'Bearer';
  expiresAt: string;
  expiresIn: number;
  userId: string;
}

export interface MintRtcTokenOptions {
  signingKey: SigningKey;
  /** The id of a room, or the name of one that is open. */
  room: string;
  /** Who joins, as your application names them. */
  identity: string;
  /** Joining and watching, unless more is given: `speaker()`, `withData(viewer())`. */
  permissions?: RtcTokenPermissionsDto;
  /** 30 to 21,600; ten minutes without it. */
  ttlSeconds?: number;
  /** Text of up to 1,024 characters that the others see. */
  metadata?: string;
}

export interface MintChatTokenOptions {
  signingKey: SigningKey;
  userId: string;
  /** Ids of conversations; without them every one that the user belongs to. */
  conversations?: readonly string[];
  /** Narrows what the user may do; everything a user can without them. */
  scopes?: readonly string[];
  /** 60 to 21,600; an hour without it. */
  ttlSeconds?: number;
}

const longestSeconds = 21_600;

const rtc = { typ: 'rtc+jwt', prefix: 'rtk_' } as const;
const chat = { typ: 'chat+jwt', prefix: 'ctk_' } as const;

/** Signs a token for one participant of one room, without a call: the service checks it when it is used. */
export function mintRtcToken(options: MintRtcTokenOptions): OfflineRtcToken {
  const { claims, ttlSeconds, about } = readRtc(options);
  return { ...signToken(options.signingKey, rtc, claims, ttlSeconds), ...about };
}

/** As `mintRtcToken`, on every runtime: with Web Crypto where there is no node:crypto. */
export async function mintRtcTokenAsync(options: MintRtcTokenOptions): Promise<OfflineRtcToken> {
  const { claims, ttlSeconds, about } = readRtc(options);
  return { ...(await signTokenAsync(options.signingKey, rtc, claims, ttlSeconds)), ...about };
}

function readRtc({ room, identity, permissions, ttlSeconds = 600, metadata }: MintRtcTokenOptions) {
  assertText('room', room);
  assertText('identity', identity);
  assertLifetime(ttlSeconds, 30);
  const claims = { sub: identity, room, perm: permissions, md: metadata };
  return { claims, ttlSeconds, about: { room, participantIdentity: identity } };
}

/** Signs a chat token for one user, without a call: the service checks it when it is used. */
export function mintChatToken(options: MintChatTokenOptions): OfflineChatToken {
  const { claims, ttlSeconds, about } = readChat(options);
  return { ...signToken(options.signingKey, chat, claims, ttlSeconds), ...about };
}

/** As `mintChatToken`, on every runtime: with Web Crypto where there is no node:crypto. */
export async function mintChatTokenAsync(options: MintChatTokenOptions): Promise<OfflineChatToken> {
  const { claims, ttlSeconds, about } = readChat(options);
  return { ...(await signTokenAsync(options.signingKey, chat, claims, ttlSeconds)), ...about };
}

function readChat({ userId, conversations, scopes, ttlSeconds = 3_600 }: MintChatTokenOptions) {
  assertText('userId', userId);
  assertLifetime(ttlSeconds, 60);
  return { claims: { sub: userId, scp: scopes, conv: conversations }, ttlSeconds, about: { userId } };
}

/** A token without a name for its holder would be refused by the service, far from here. */
function assertText(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw new SvcError({ code: 'invalid_argument', message: `${name} must be a text that is not empty.` });
}

function assertLifetime(seconds: number, shortest: number): void {
  if (Number.isInteger(seconds) && seconds >= shortest && seconds <= longestSeconds) return;
  const message = `ttlSeconds must be a whole number from ${shortest} to ${longestSeconds}.`;
  throw new SvcError({ code: 'invalid_argument', message });
}
