import { type Static, Type } from 'typebox';
import { Nullable, Strict, Timestamp } from '../schema.ts';

export const DataJobKind = Type.Enum(['EXPORT', 'ERASURE', 'IMPORT']);
export type DataJobKind = Static<typeof DataJobKind>;

/** WAITING: for the file of an import. */
export const DataJobState = Type.Enum(['WAITING', 'QUEUED', 'RUNNING', 'DONE', 'FAILED']);
export type DataJobState = Static<typeof DataJobState>;

/** Something long that is done with data of an environment. It survives the process that works on it. */
export const DataJob = Type.Object({
  id: Type.String(),
  kind: DataJobKind,
  state: DataJobState,
  /** Whose data; null of an import, and once the user is erased. */
  userId: Nullable(Type.String()),
  /** Records that were handled so far. */
  progress: Type.Integer(),
  /** Why it failed. */
  error: Nullable(Type.String()),
  /** Where the file of an export is, for as long as STORAGE_DOWNLOAD_URL_TTL_SECONDS; each read gives a new link. */
  url: Nullable(Type.String()),
  /** Bytes of the file. */
  size: Nullable(Type.Integer()),
  createdAt: Timestamp,
  finishedAt: Nullable(Timestamp),
  /** When the file of an export goes. */
  expiresAt: Nullable(Timestamp),
});
export type DataJob = Static<typeof DataJob>;

/** The same without the link to the file, which holds messages: for the dashboard. */
export const DataJobMetadata = Type.Omit(DataJob, ['url']);
export type DataJobMetadata = Static<typeof DataJobMetadata>;

export const EraseUser = Strict({
  /** `delete` leaves tombstones; `anonymize` leaves what was written, as from nobody. */
  messages: Type.Enum(['delete', 'anonymize']),
});
export type EraseUser = Static<typeof EraseUser>;
