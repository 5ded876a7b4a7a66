import {
  type ApiKeyScope,
  type Credential,
  type DashboardRole,
  type Environment,
  type ErrorCode,
  type RouteRow,
  ServiceError,
} from '@parley/contract';

/** Whose data a call is about. Every project query is scoped by it. */
export interface ProjectScope {
  projectId: string;
  environment: Environment;
}

/** A developer's backend: anything of its project and environment that the key's scopes allow, for any user. */
export interface ApiKeyCaller extends ProjectScope {
  kind: 'apiKey';
  /** Of its record; the public id is in the key's text. */
  id: string;
  publicId: string;
  /** Null for a key that may everything. */
  scopes: readonly ApiKeyScope[] | null;
}

/** A key whose secret is right, and which may not be used: its project may know of it. */
export class RefusedKey extends ServiceError {
  readonly caller: ApiKeyCaller;

  constructor(code: ErrorCode, caller: ApiKeyCaller) {
    super(code);
    this.caller = caller;
  }
}

/** One end user in chat; identity and scopes are fixed by the token's signature. */
export interface ChatTokenCaller extends ProjectScope {
  kind: 'chatToken';
  userId: string;
  tokenId: string;
  /** The API key that minted the token, or the signing key; null for one minted before keys were noted. */
  keyId: string | null;
  issuedAt: number;
  scopes: readonly string[];
  /** Conversation ids the token may touch; null for every one the user belongs to. */
  conversations: readonly string[] | null;
  expiresAt: number;
}

/** One participant of one room. */
export interface RtcTokenCaller extends ProjectScope {
  kind: 'rtcToken';
  tokenId: string;
  roomId: string;
  identity: string;
}

/** How well a session has proven who is there. */
export interface SessionProof {
  /** The account has a second factor. */
  hasFactor: boolean;
  /** When the person last proved who they are, by signing in or again. */
  provenAt: string;
  /** When they last did with a second factor. */
  factorAt: string | null;
}

/** A user signed in to the dashboard. */
export interface SessionCaller extends SessionProof {
  kind: 'session';
  userId: string;
  email: string;
  sessionId: string;
  isOperator: boolean;
}

/** What a session must have proven for a call. */
export interface SessionProofs {
  /** Fails when it was not lately: by accounts with a second factor, or `always`. */
  assertProven(caller: SessionCaller, need: 'withFactor' | 'always'): Promise<void>;
  /** False when the project asks for a second factor and the session has none. */
  isAdmitted(projectId: string, caller: SessionCaller): Promise<boolean>;
  /** Fails then. */
  assertAdmitted(projectId: string, caller: SessionCaller): Promise<void>;
}

/** The same inside one project. */
export interface ProjectSessionCaller extends SessionCaller, ProjectScope {
  role: DashboardRole;
}

/** A media node, by the registration secret. */
interface NodeCaller {
  kind: 'sfuSecret';
}

interface AnonymousCaller {
  kind: 'none';
}

export interface Callers {
  apiKey: ApiKeyCaller;
  chatToken: ChatTokenCaller;
  rtcToken: RtcTokenCaller;
  session: SessionCaller;
  sfuSecret: NodeCaller;
  none: AnonymousCaller;
}

export type Caller = Callers[Credential] | ProjectSessionCaller;

/** The caller a row's handler gets: a session on a path with {projectId} is inside that project. */
export type CallerOf<R extends RouteRow> = R['by'][number] extends infer C
  ? C extends 'session'
    ? R['at'] extends `${string}{projectId}${string}`
      ? ProjectSessionCaller
      : SessionCaller
    : C extends Credential
      ? Callers[C]
      : never
  : never;
