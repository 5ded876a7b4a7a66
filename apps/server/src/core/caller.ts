import type { Credential, DashboardRole, Environment, RouteRow } from '@parley/contract';

/** Whose data a call is about. Every project query is scoped by it. */
export interface ProjectScope {
  projectId: string;
  environment: Environment;
}

/** A developer's backend: every scope of its project and environment, for any user. */
export interface ApiKeyCaller extends ProjectScope {
  kind: 'apiKey';
  publicId: string;
}

/** One end user in chat; identity and scopes are fixed by the token's signature. */
export interface ChatTokenCaller extends ProjectScope {
  kind: 'chatToken';
  userId: string;
  tokenId: string;
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

/** A user signed in to the dashboard. */
export interface SessionCaller {
  kind: 'session';
  userId: string;
  email: string;
  sessionId: string;
  isOperator: boolean;
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
