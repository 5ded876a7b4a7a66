import type { Readable } from 'node:stream';
import type { Db, Replica } from './db.ts';

/**
 * Messages between processes. This process gets its own at once and exactly once, with or without the others. What
 * comes from the others is best effort: a subscriber that must not miss anything keeps a counter and catches up from
 * the store when `onGap` fires.
 */
export interface Bus {
  /**
   * This process's listeners have been called when it returns (published inside a listener: when that one is done).
   * The others get everything of this event-loop turn together. Never throws.
   */
  publish(topic: string, message: unknown): void;
  /** Calls `listener` for each message on `topic`. Resolves once messages of other processes will arrive too. */
  subscribe(topic: string, listener: (message: unknown) => void): Promise<Unsubscribe>;
  /** Fires after the connection was lost, or silently dead, and is back: messages in between are gone. */
  onGap(listener: () => void): Unsubscribe;
  /** Null when the bus is in this process; else the round trip in milliseconds. Throws when it is down. */
  ping(): Promise<number | null>;
  close(): Promise<void>;
}

export type Unsubscribe = () => void;

/** Fixed-window counters, exact over any number of processes. */
export interface Counters {
  /** Adds `by` to `key`. The window starts with the first hit of the key. */
  hit(key: string, windowMs: number, by?: number): Promise<CounterHit>;
  /** Like `hit`, but adds nothing when the result would exceed `limit`. */
  take(key: string, windowMs: number, limit: number, by?: number): Promise<CounterHit & { taken: boolean }>;
  reset(key: string): Promise<void>;
  close(): Promise<void>;
}

interface CounterHit {
  count: number;
  /** Milliseconds until the window ends; more than 0. */
  remainingMs: number;
}

/**
 * Sets whose members expire: presence, typing, live sockets. A sweep (not the store's own expiry events, which come
 * seconds late) hands back each expired member exactly once over all processes.
 */
export interface ExpiringSets {
  /** Adds or refreshes. `isNew` is false when the member was there and had not expired. */
  touch(set: string, member: string, ttlMs: number, value?: string): Promise<{ isNew: boolean }>;
  /** Many at once; whether each was new, in their order. Sets of one thing (`presence/x`, `away/x`) go in one command. */
  touchAll(entries: readonly ExpiringEntry[], ttlMs: number): Promise<boolean[]>;
  /** Those that have not expired live on as if touched, with the value that they have; of each whether it did, in their order. */
  prolongAll(entries: readonly Pick<ExpiringEntry, 'set' | 'member'>[], ttlMs: number): Promise<boolean[]>;
  remove(set: string, member: string): Promise<boolean>;
  /** Many at once; whether each was there, in their order. */
  removeAll(entries: readonly ExpiringEntry[]): Promise<boolean[]>;
  /** Of these members, which have not expired; in their order. */
  includes(set: string, members: readonly string[]): Promise<boolean[]>;
  /** Members that have not expired. */
  members(set: string): Promise<ExpiringMember[]>;
  count(set: string): Promise<number>;
  /** Takes out up to `limit` expired members of all sets whose name starts with `prefix`. */
  sweep(prefix: string, limit: number): Promise<{ set: string; member: string; value: string }[]>;
  close(): Promise<void>;
}

export interface ExpiringEntry {
  set: string;
  member: string;
  value?: string;
}

interface ExpiringMember {
  member: string;
  value: string;
  expiresAt: number;
}

/** Leases: at most one holder of a name over all processes. */
export interface Locks {
  /** True when this process has the lease now. It expires after `ttlMs`, whatever becomes of the process. */
  acquire(name: string, ttlMs: number): Promise<boolean>;
  close(): Promise<void>;
}

/** The shared store behind bus, counters, sets or locks did not answer within its time limit. */
export class SharedStateUnavailable extends Error {
  override name = 'SharedStateUnavailable';
}

/** Bytes by key. Keys are ours (`[a-z0-9/_-]`, no dots), never a caller's file name. */
export interface Blobs {
  /** How a client sends bytes. A folder store answers null: the server itself takes the upload at a signed URL. */
  presignUpload(key: string, upload: BlobUpload): Promise<SignedRequest | null>;
  /** How a client fetches bytes; null when the server itself serves them. */
  presignDownload(key: string, download: BlobDownload): Promise<SignedRequest | null>;
  /** Stores exactly `size` bytes or nothing; throws `BlobSizeMismatch`. */
  write(key: string, content: Readable, size: number): Promise<void>;
  read(key: string): Promise<Readable | null>;
  /** Null when there is no such object. `checksum` is `sha256:<hex>`; a store that keeps none has the object read. */
  stat(key: string): Promise<{ size: number; checksum: string } | null>;
  /** Copies inside the store; false when there is no such object. */
  copy(key: string, to: string): Promise<boolean>;
  delete(key: string): Promise<void>;
  /** Round trip in milliseconds. Throws `BlobsUnavailable` when the store cannot be used. */
  ping(): Promise<number>;
  close(): Promise<void>;
}

interface BlobUpload {
  contentType: string;
  size: number;
  expiresInSeconds: number;
}

interface BlobDownload {
  filename: string;
  contentType: string;
  /** False: the browser must save it, never show it. */
  isInline: boolean;
  expiresInSeconds: number;
}

export interface SignedRequest {
  url: string;
  method: 'GET' | 'PUT';
  headers: Record<string, string>;
}

export class BlobSizeMismatch extends Error {
  override name = 'BlobSizeMismatch';
}

/** Storage is down or full: 503. */
export class BlobsUnavailable extends Error {
  override name = 'BlobsUnavailable';
}

/** It takes nothing more; what it has can be read. */
export class BlobsFull extends BlobsUnavailable {
  override name = 'BlobsFull';
}

/** Outgoing mail. */
export interface Mail {
  /** False where no mail server is set: nothing may be promised by mail. */
  readonly canSend: boolean;
  send(message: MailMessage): Promise<void>;
  /** Round trip in milliseconds; null when mail stays in this process. Throws when the server is down. */
  ping(): Promise<number | null>;
  close(): Promise<void>;
}

export interface MailMessage {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** With angle brackets; the same for a mail that may have been sent already. */
  messageId?: string;
}

/** Mail kept for the development mailbox, newest first. */
export interface Mailbox {
  list(): (MailMessage & { createdAt: string })[];
}

/** Signs certificates for names that we prove to have. */
export interface CertificateAuthority {
  /** Resolves with a certificate and its chain, and the key that was made for it; both PEM. */
  issue(order: CertificateOrder): Promise<{ cert: string; key: string }>;
}

export interface CertificateOrder {
  name: string;
  email: string | null;
  /** PEM. */
  accountKey: string;
  /** From here on the authority that connects to validate the name has to find this (RFC 8555, 8.1), or its digest. */
  present(keyAuthorization: string): Promise<void>;
  /** Whether it would be found on port 80 too. */
  answersHttp: boolean;
  signal: AbortSignal;
}

/** Keys, and certificates that nobody else signs. PEM. */
export interface CertificateMaker {
  newKey(): string;
  /** What is served while there is none; nobody trusts it. */
  standIn(name: string, now: number): { cert: string; key: string };
  /** What proves a name to an authority. */
  proof(name: string, digest: Buffer, now: number): { cert: string; key: string };
}

/** Makes requests of Web Push (RFC 8291 and 8292). */
export interface WebPushMaker {
  requestOf(message: WebPushMessage): Promise<{ headers: Record<string, string>; body: Buffer }>;
}

interface WebPushMessage {
  endpoint: string;
  /** Of the browser, base64url. */
  p256dh: string;
  auth: string;
  payload: string;
  /** A later message with the same one replaces it; base64url, up to 32 characters. */
  topic: string;
  ttlSeconds: number;
  vapid: { subject: string; publicKey: string; privateKey: string };
}

/** What several processes share. */
export interface SharedState {
  bus: Bus;
  counters: Counters;
  expiringSets: ExpiringSets;
  locks: Locks;
}

/** What a process runs on: one implementation of each port. */
export interface Adapters extends SharedState {
  db: Db;
  /** Null without DATABASE_READ_URL. */
  replica: Replica | null;
  blobs: Blobs;
  mail: Mail;
  /** Present when mail is kept for the development mailbox. */
  mailbox: Mailbox | null;
}
