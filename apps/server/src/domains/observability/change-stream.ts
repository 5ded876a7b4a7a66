import { Readable } from 'node:stream';
import {
  type ChangeKind,
  type ChangeNotice,
  changeKindNames,
  changeKinds,
  type DashboardRole,
  fail,
  roleMay,
} from '@parley/contract';
import type { ProjectSessionCaller, SessionCaller } from '../../core/caller.ts';
import type { Changes } from '../../core/changes.ts';
import type { Clock } from '../../core/clock.ts';
import { Stream } from '../../core/handlers.ts';
import type { Bus } from '../../core/ports.ts';

export interface ChangeStreamDeps {
  changes: Changes;
  bus: Bus;
  clock: Clock;
  /** Rejects when there is no such session any more. */
  authenticateSession: (token: string) => Promise<SessionCaller>;
  /** Null: not in the project. */
  roleIn: (projectId: string, userId: string) => Promise<DashboardRole | null>;
}

const lookEveryMs = 15_000;
/** A dashboard that reads nothing for so long opens another stream and reads everything again. */
const waitingBytesMax = 16_384;
const streamsPerUserMax = 20;
/** Changes that may mean that the person has another role now, or none. */
const decidesAccess: readonly ChangeKind[] = ['members', 'project'];

/** What changes in a project, for its open dashboards. It says what kind of thing, never what of it. */
export function createChangeStream({ changes, bus, clock, authenticateSession, roleIn }: ChangeStreamDeps) {
  /** Of each user, on this process. */
  const open = new Map<string, number>();

  function take(userId: string): () => void {
    const count = open.get(userId) ?? 0;
    if (count >= streamsPerUserMax) fail('SVC_RATE_LIMITED', { retryAfterSeconds: 5 });
    open.set(userId, count + 1);
    return () => {
      const left = (open.get(userId) ?? 1) - 1;
      if (left > 0) open.set(userId, left);
      else open.delete(userId);
    };
  }

  /** Whether the session behind this token may still be in the project, with the same role. */
  async function isStillIn({ projectId, role }: ProjectSessionCaller, token: string | undefined): Promise<boolean> {
    const session = token === undefined ? null : await authenticateSession(token).catch(() => null);
    return session !== null && (await roleIn(projectId, session.userId)) === role;
  }

  async function keepAlive(content: Readable, look: () => Promise<void>, leaving: AbortSignal): Promise<void> {
    while (!leaving.aborted) {
      await clock.sleep(lookEveryMs, leaving);
      await look();
      if (!leaving.aborted) content.push(': still here\n\n');
    }
    content.push(null);
  }

  return async (caller: ProjectSessionCaller, token: string | undefined): Promise<Stream> => {
    const release = take(caller.userId);
    const leaving = new AbortController();
    const content = new Readable({
      read() {},
      destroy(error, done) {
        leaving.abort();
        release();
        stopWatching();
        stopListening();
        done(error);
      },
    });
    // Nobody else may listen yet, or any more: without a listener an error would end the process.
    content.on('error', () => {});
    const look = async (): Promise<void> => {
      if (!leaving.signal.aborted && !(await isStillIn(caller, token))) leaving.abort();
    };
    const tell = (kinds: readonly ChangeKind[]): void => {
      if (kinds.some((kind) => decidesAccess.includes(kind))) look().catch((error) => content.destroy(error));
      const readable = kinds.filter((kind) => mayRead(caller, kind));
      if (readable.length === 0 || leaving.signal.aborted) return;
      if (content.readableLength > waitingBytesMax) content.destroy();
      else content.push(`event: change\ndata: ${JSON.stringify({ kinds: readable } satisfies ChangeNotice)}\n\n`);
    };
    let stopWatching = (): void => {};
    const stopListening = bus.onGap(() => tell(changeKindNames));
    try {
      stopWatching = await changes.watch(caller, tell);
    } catch (error) {
      content.destroy();
      throw error;
    }
    // Who unsubscribed meanwhile could not stop what had not begun.
    if (content.destroyed) stopWatching();
    // Said only now: a client that reads everything once after it misses nothing.
    content.push(': connected\n\n');
    keepAlive(content, look, leaving.signal).catch((error) => content.destroy(error));
    return new Stream(content, () => leaving.abort());
  };
}

const mayRead = ({ role, environment }: ProjectSessionCaller, kind: ChangeKind): boolean =>
  kind === 'nodes' || roleMay(role, changeKinds[kind], environment);
