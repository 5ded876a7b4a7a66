import type { Session, User } from '@parley/contract';
import { type Api, ApiError } from '@parley/server/call';

interface Tokens {
  accessToken: string;
  expiresAt: number;
}

/** `expired`: the session ended on this page; its content stays until the user signs in again. */
export type SessionState =
  | { kind: 'starting' }
  | { kind: 'unreachable'; error: unknown }
  | { kind: 'signedOut' }
  | { kind: 'signedIn'; user: User; tokens: Tokens }
  | { kind: 'expired'; user: User };

export interface SessionStore {
  state(): SessionState;
  subscribe(onChange: () => void): () => void;
  /** Asks the refresh cookie who is here. */
  start(): Promise<void>;
  /** A token that still lives a while; waits for a sign-in when the session has ended. */
  token(): Promise<string>;
  /** The service refused this token: get another, or wait for a sign-in. */
  replace(refused: string): Promise<string>;
  accept(session: Session): void;
  signOut(): Promise<void>;
}

export interface SessionDeps {
  /** Calls without a credential. */
  api: Api;
  now: () => number;
  /** One browser, one refresh at a time: the cookie rotates, and every tab shares it. */
  locks: Pick<LockManager, 'request'>;
  channel: BroadcastChannel;
  hint: SessionHint;
}

/** Whether this browser had a session: without one there is nothing to ask the service for. */
export interface SessionHint {
  get(): boolean;
  set(hasSession: boolean): void;
}

type Message = { kind: 'session'; session: Session; at: number } | { kind: 'signedOut' };

const lockName = 'parley.refresh';
/** Renewed this long before the end, so that no call meets an expired token on its way. */
const marginMs = 60_000;
/** How long what another tab has just said may be on its way. */
const messageMs = 250;

export function createSessionStore({ api, now, locks, channel, hint }: SessionDeps): SessionStore {
  let state: SessionState = { kind: 'starting' };
  let renewing: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listeners = new Set<() => void>();

  function set(next: SessionState): void {
    state = next;
    clearTimeout(timer);
    if (next.kind === 'signedIn' || next.kind === 'signedOut') hint.set(next.kind === 'signedIn');
    if (next.kind === 'signedIn') {
      timer = setTimeout(() => void renew().catch(() => {}), Math.max(1_000, next.tokens.expiresAt - now() - marginMs));
    }
    for (const listener of listeners) listener();
  }

  function take(session: Session, at: number): void {
    const { accessToken, expiresIn, user } = session;
    set({ kind: 'signedIn', user, tokens: { accessToken, expiresAt: at + expiresIn * 1000 } });
  }

  function accept(session: Session): void {
    take(session, now());
    channel.postMessage({ kind: 'session', session, at: now() } satisfies Message);
  }

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'session') return take(data.session, data.at);
    if (state.kind !== 'signedOut') set({ kind: 'signedOut' });
  };

  const tokenNow = (): string | null =>
    state.kind === 'signedIn' && state.tokens.expiresAt - now() > marginMs ? state.tokens.accessToken : null;

  /** One refresh for all who ask, in this tab and in the others: who waited for the lock may find it done. */
  function renew(refused?: string): Promise<void> {
    renewing ??= locks
      .request(lockName, async () => {
        // The tab that had the lock before may have renewed for all; its message can come after its lock.
        if (state.kind === 'signedIn') await nextChange(messageMs);
        const token = tokenNow();
        if (token === null || token === refused) accept(await api.call('refreshSession'));
      })
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
        set(
          state.kind === 'signedIn' || state.kind === 'expired'
            ? { kind: 'expired', user: state.user }
            : { kind: 'signedOut' },
        );
      })
      .finally(() => {
        renewing = null;
      });
    return renewing;
  }

  function subscribe(onChange: () => void): () => void {
    listeners.add(onChange);
    return () => listeners.delete(onChange);
  }

  /** Settles with the next change of state, or when this long has passed without one. */
  function nextChange(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(patience);
        stop();
        resolve();
      };
      const patience = setTimeout(done, withinMs);
      const stop = subscribe(done);
    });
  }

  /** Settles with the next sign-in on this page; rejects when the person leaves instead. */
  function untilSignedIn(): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (state.kind === 'signedIn') resolve(state.tokens.accessToken);
        else if (state.kind === 'signedOut') reject(new Error('signed out'));
        else return;
        stop();
      };
      const stop = subscribe(look);
      look();
    });
  }

  async function token(): Promise<string> {
    if (state.kind === 'signedIn' && tokenNow() === null) await renew();
    return tokenNow() ?? untilSignedIn();
  }

  return {
    state: () => state,
    subscribe,
    token,
    accept,
    async replace(refused) {
      if (state.kind === 'signedIn') await renew(refused);
      return untilSignedIn();
    },
    async start() {
      if (!hint.get()) return set({ kind: 'signedOut' });
      try {
        await renew();
      } catch (error) {
        set({ kind: 'unreachable', error });
      }
    },
    async signOut() {
      await api.call('logout');
      channel.postMessage({ kind: 'signedOut' } satisfies Message);
      set({ kind: 'signedOut' });
    },
  };
}
