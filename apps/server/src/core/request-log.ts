import type { ErrorCode, RequestCredential } from '@parley/contract';
import type { ProjectScope } from './caller.ts';

/** An answered request, without anything that its caller wrote but the request id. */
export interface AnsweredRequest extends ProjectScope {
  requestId: string;
  method: string;
  route: string;
  status: number;
  ms: number;
  credential: RequestCredential;
  /** The public id of an API key. */
  keyId: string | null;
  code: ErrorCode | null;
}

/** Returns at once and never throws. */
export type NoteRequest = (request: AnsweredRequest) => void;
