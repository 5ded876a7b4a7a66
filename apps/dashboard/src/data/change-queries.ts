import type { ChangeKind } from '@parley/contract';
import type { Told } from './change-feed.ts';

/** What shows each kind, by the word of the query's key. */
const shownBy: Readonly<Record<ChangeKind, readonly string[]>> = {
  project: ['project', 'projects', 'usage'],
  members: ['members'],
  keys: ['api-keys', 'signing-keys'],
  // Viewers of a stream are participants of its room.
  rooms: ['rooms', 'room', 'room-connections', 'streams', 'stream'],
  streams: ['streams', 'stream'],
  chat: ['chat-overview', 'conversations', 'conversation', 'chat-sessions', 'users', 'moderation', 'push', 'data-jobs'],
  connections: ['calls', 'call', 'connections', 'connection', 'room-connections', 'metrics', 'usage'],
  errors: ['errors', 'error', 'connection', 'metrics'],
  requests: ['requests', 'request'],
  activity: ['metrics', 'usage'],
  alerts: ['alerts', 'alert'],
  webhooks: ['webhooks', 'webhook'],
  audit: ['audit'],
  nodes: ['fleet'],
};

/** Of `['project', id, word, …]` the word; of the instance's and the person's own the first. */
function wordOf(key: readonly unknown[]): unknown {
  const [first, , word] = key;
  return first === 'project' && word !== undefined ? word : first;
}

/** Roots of what the service tells of; forms and sign-in ask for what does not change. */
const roots: readonly unknown[] = ['project', 'projects', 'usage', 'fleet'];

/** Whether a query shows something of what changed. */
export const isShown = (key: readonly unknown[], changed: Told): boolean =>
  changed === null ? roots.includes(key[0]) : [...changed].some((kind) => shownBy[kind].includes(String(wordOf(key))));
