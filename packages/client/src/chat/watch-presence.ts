import type { Conversation } from './conversation-types.ts';
import type { PresenceStatus } from './records.ts';

const NOBODY: ReadonlyMap<string, PresenceStatus> = new Map();

/**
 * Calls back with who is present, this user included: the list as it was when it was asked for, and what came and went
 * since. Read again after a lost connection. The returned function ends it.
 */
export function watchPresence(
  conversation: Conversation,
  onChange: (present: ReadonlyMap<string, PresenceStatus>) => void,
): () => void {
  let known = NOBODY;
  let heard = new Map<string, PresenceStatus>();
  let isCurrent = true;
  const show = (users: Iterable<readonly [string, PresenceStatus]>): void => {
    // The latest of each user counts: who has left is in `users` twice.
    known = new Map([...new Map(users)].filter(([, status]) => status !== 'OFFLINE'));
    if (isCurrent) onChange(known);
  };
  const read = async (): Promise<void> => {
    const since = new Map<string, PresenceStatus>();
    heard = since;
    // A token that may not read it: who comes and goes is heard all the same.
    const listed = await conversation.presence().catch(() => []);
    show([...listed.map(({ userId, status }) => [userId, status] as const), ...since]);
  };
  const stops = [
    conversation.on('presence', (userId, status) => {
      heard.set(userId, status);
      show([...known, [userId, status]]);
    }),
    conversation.on('connectionStateChanged', (state) => state === 'connected' && void read()),
  ];
  void read();
  return () => {
    isCurrent = false;
    for (const stop of stops) stop();
  };
}
